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
pub use fact::{DeskFact, PaymentStanding, Slip, Webhook};
pub use state::Desk;
pub use view::{DeskFound, DeskQuery, DeskView, Task, WebhookEvent};

use crate::field::Field;
use crate::id::{ListingId, ListingKind, Tenant};
use crate::kind::Kind;
use crate::limits::REFERENCE_CHARS_MAX;
use crate::outcome::Outcome;
use crate::refusal::{Code, Refusal};
use crate::step_writer::StepWriter;
use crate::time::Millis;
use image::DeskImage;

/// A tenant's one desk.
pub const fn desk_of(tenant: Tenant) -> ListingId {
    ListingId { tenant, kind: ListingKind::Desk, number: 0 }
}

/// Names that a provider gives are opaque, short and printable.
pub(crate) fn check_reference(text: &str) -> Result<(), Refusal> {
    let fits = text.chars().count() <= REFERENCE_CHARS_MAX && !text.chars().any(char::is_control);
    fits.then_some(()).ok_or_else(|| {
        Refusal::invalid(Field::Reference, "at most 255 characters without control characters")
    })
}

impl Kind for Desk {
    type Command = DeskCommand;
    type Fact = DeskFact;
    type View = DeskView;
    type Query = DeskQuery;
    type Found = DeskFound;
    type Image = DeskImage;

    fn create(command: &DeskCommand, _now: Millis) -> Result<Vec<DeskFact>, Refusal> {
        let DeskCommand::Open = command else { return Err(Refusal::of(Code::ListingUnknown)) };
        Ok(vec![DeskFact::Opened])
    }

    fn begin(_id: ListingId, first: &DeskFact) -> Option<Desk> {
        matches!(first, DeskFact::Opened).then(Desk::default)
    }

    fn execute(&mut self, command: &DeskCommand, writer: &mut StepWriter<'_>) -> Result<Outcome, Refusal> {
        match decide::decide(self, command)? {
            None => Ok(Outcome::Unchanged),
            Some(fact) => {
                self.apply(&fact, writer.next_fence(), writer.now);
                writer.push(fact);
                Ok(Outcome::Done)
            }
        }
    }

    fn apply(&mut self, fact: &DeskFact, fence: u64, at: Millis) {
        self.apply(fact, fence, at);
    }

    /// Payments are never forgotten by hand.
    fn is_in_use(&self) -> bool {
        true
    }

    fn view(&self) -> DeskView {
        self.view()
    }

    fn ask(&self, query: &DeskQuery, _now: Millis) -> DeskFound {
        self.ask(query)
    }

    fn image(&self) -> DeskImage {
        self.image()
    }

    fn sort(image: &mut DeskImage) {
        image.sort();
    }

    fn from_image(_id: ListingId, image: DeskImage) -> Desk {
        Desk::from_image(image)
    }

    fn check_invariants(&self) -> Result<(), String> {
        self.check_invariants()
    }
}
