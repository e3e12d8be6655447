//! The desk: one listing per tenant that remembers what was asked of payment providers, what they said, and every webhook.
//! It decides nothing about orders: slips come from listings, and what came of them goes back there as commands.

mod apply;
pub mod command;
mod decide;
pub mod fact;
pub mod image;
mod part;
mod state;
mod view;

pub use command::DeskCommand;
pub use fact::{DeskFact, Slip, Standing, Webhook};
pub use state::Desk;
pub use view::{DeskFound, DeskQuery, DeskView, Received, Task};

use crate::fact::Fact;
use crate::id::{ListingId, ListingKind, Tenant};
use crate::limits::REFERENCE_CHARS_MAX;
use crate::outcome::Outcome;
use crate::refusal::Refusal;
use crate::time::Millis;

/// A tenant's one desk.
pub fn desk_of(tenant: Tenant) -> ListingId {
    ListingId { tenant, kind: ListingKind::Desk, number: 0 }
}

/// Names that a provider gives are opaque, short and printable.
pub(crate) fn check_reference(text: &str) -> Result<(), Refusal> {
    let fits = text.chars().count() <= REFERENCE_CHARS_MAX && !text.chars().any(char::is_control);
    fits.then_some(())
        .ok_or_else(|| Refusal::invalid("reference", "at most 255 characters without control characters"))
}

impl Desk {
    /// Decides one command and applies what follows. `fence` is that of the listing's last fact.
    pub(crate) fn execute(
        &mut self,
        command: &DeskCommand,
        now: Millis,
        fence: u64,
        facts: &mut Vec<Fact>,
    ) -> Result<Outcome, Refusal> {
        match decide::decide(self, command)? {
            None => Ok(Outcome::Unchanged),
            Some(fact) => {
                self.apply(&fact, fence + 1, now);
                facts.push(Fact::Desk(fact));
                Ok(Outcome::Done)
            }
        }
    }
}
