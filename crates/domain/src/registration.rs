//! A registration: stock with a limit of one and a waiting list. One file per verb in `registration/`;
//! a place that comes free goes to the first in line in the same step.

mod apply;
mod cancel_entry;
mod change_registration;
pub mod command;
mod confirm_entry;
pub mod details;
pub mod fact;
pub mod image;
mod invariants;
mod ordering;
mod promote;
mod register;
mod state;
mod view;

pub use command::RegistrationCommand;
pub use fact::RegistrationFact;
pub use invariants::check as check_invariants;
pub use state::Registration;
pub use view::{EntryStanding, EntryState, RegistrationFound, RegistrationQuery, RegistrationView};

use crate::id::{BuyerId, ListingId};
use crate::kind::Kind;
use crate::order::{Goods, GoodsChange};
use crate::outcome::Outcome;
use crate::refusal::{Code, Refusal};
use crate::step_writer::StepWriter;
use crate::time::Millis;
use image::RegistrationImage;

/// What deciding a verb yields: its fact, or a yes that needs none.
enum Decision {
    Fact(RegistrationFact),
    Outcome(Outcome),
}

impl Kind for Registration {
    type Command = RegistrationCommand;
    type Fact = RegistrationFact;
    type View = RegistrationView;
    type Query = RegistrationQuery;
    type Found = RegistrationFound;
    type Image = RegistrationImage;

    fn create(command: &RegistrationCommand, now: Millis) -> Result<Vec<RegistrationFact>, Refusal> {
        let RegistrationCommand::Create(create) = command else {
            return Err(Refusal::of(Code::ListingUnknown));
        };
        Registration::create(create, now)
    }

    fn begin(_id: ListingId, first: &RegistrationFact) -> Option<Registration> {
        Registration::begin(first)
    }

    fn check(command: &RegistrationCommand) -> Result<(), Refusal> {
        check(command)
    }

    fn execute(
        &mut self,
        command: &RegistrationCommand,
        writer: &mut StepWriter<'_>,
    ) -> Result<Outcome, Refusal> {
        check(command)?;
        let now = writer.now;
        let mut run = Run::new(self, writer);
        run.follow_schedule();
        run.expire_touched(&promote::touched(command));
        match decide(run.registration, command, now)? {
            Decision::Outcome(outcome) => Ok(outcome),
            Decision::Fact(fact) => {
                run.take(fact);
                Ok(Outcome::Done)
            }
        }
    }

    fn sweep(&mut self, limit: u32, writer: &mut StepWriter<'_>) -> Result<Outcome, Refusal> {
        let mut run = Run::new(self, writer);
        run.follow_schedule();
        run.expire_due(limit);
        Ok(if run.writer.added().is_empty() { Outcome::Unchanged } else { Outcome::Done })
    }

    fn apply(&mut self, fact: &RegistrationFact, fence: u64, at: Millis) {
        self.apply(fact, fence, at);
    }

    fn next_due(&self) -> Option<Millis> {
        self.next_due()
    }

    /// Somebody has a place, or waits for one.
    fn is_in_use(&self) -> bool {
        !self.entries.is_empty() || !self.given_up.is_empty()
    }

    fn view(&self) -> RegistrationView {
        self.view()
    }

    fn ask(&self, query: &RegistrationQuery, now: Millis) -> RegistrationFound {
        self.ask(query, now)
    }

    fn image(&self) -> RegistrationImage {
        self.image()
    }

    fn sort(image: &mut RegistrationImage) {
        image.sort();
    }

    fn from_image(_id: ListingId, image: RegistrationImage) -> Registration {
        Registration::from_image(image)
    }

    fn check_invariants(&self) -> Result<(), String> {
        check_invariants(self)
    }

    fn attempt_by(command: &RegistrationCommand) -> Option<&BuyerId> {
        if let RegistrationCommand::Register(command) = command {
            Some(&command.buyer)
        } else if let RegistrationCommand::Confirm(command) = command {
            Some(&command.buyer)
        } else {
            None
        }
    }

    fn goods(&self) -> Option<&dyn Goods> {
        Some(self)
    }

    fn goods_mut(&mut self) -> Option<&mut dyn Goods> {
        Some(self)
    }

    fn each_buyer(&self, name: &mut dyn FnMut(&str)) {
        self.entries.values().for_each(|entry| name(&entry.buyer));
    }

    fn asks_about(query: &RegistrationQuery) -> Option<&BuyerId> {
        match query {
            RegistrationQuery::EntryOf(buyer) => Some(buyer),
            RegistrationQuery::Entry(_)
            | RegistrationQuery::PaidBy(_)
            | RegistrationQuery::Entries { .. } => None,
        }
    }

    fn goods_change(fact: &RegistrationFact) -> Option<GoodsChange> {
        ordering::goods_change(fact)
    }
}

/// Refuses what no state could make sense of: such a command records nothing at all.
pub fn check(command: &RegistrationCommand) -> Result<(), Refusal> {
    match command {
        RegistrationCommand::ChangeCapacity { capacity } => details::check_capacity(*capacity),
        RegistrationCommand::Create(_)
        | RegistrationCommand::Change(_)
        | RegistrationCommand::Close
        | RegistrationCommand::Cancel
        | RegistrationCommand::Register(_)
        | RegistrationCommand::Confirm(_)
        | RegistrationCommand::CancelEntry(_) => Ok(()),
    }
}

/// Decides without changing anything; `apply` is the only way a registration changes.
fn decide(
    registration: &Registration,
    command: &RegistrationCommand,
    now: Millis,
) -> Result<Decision, Refusal> {
    match command {
        RegistrationCommand::Create(_) => Err(Refusal::of(Code::ListingExists)),
        RegistrationCommand::Change(command) => change_registration::decide(registration, command, now),
        RegistrationCommand::ChangeCapacity { capacity } => {
            change_registration::capacity(registration, *capacity)
        }
        RegistrationCommand::Close => change_registration::close(registration),
        RegistrationCommand::Cancel => change_registration::cancel(registration),
        RegistrationCommand::Register(command) => register::decide(registration, command, now),
        RegistrationCommand::Confirm(command) => confirm_entry::decide(registration, command, now),
        RegistrationCommand::CancelEntry(command) => {
            cancel_entry::decide(registration, command, now).map(Decision::Fact)
        }
    }
}

/// One command on its way through: each fact is applied before the next is decided.
struct Run<'a, 'b> {
    registration: &'a mut Registration,
    now: Millis,
    writer: &'a mut StepWriter<'b>,
    /// Promotions in this step so far.
    promoted: u32,
}

impl<'a, 'b> Run<'a, 'b> {
    fn new(registration: &'a mut Registration, writer: &'a mut StepWriter<'b>) -> Run<'a, 'b> {
        Run { registration, now: writer.now, writer, promoted: 0 }
    }

    /// Applies a fact, then promotes those for whom it made room.
    fn take(&mut self, fact: RegistrationFact) {
        self.take_plain(fact);
        self.promote();
    }

    fn take_plain(&mut self, fact: RegistrationFact) {
        self.registration.apply(&fact, self.writer.next_fence(), self.now);
        self.writer.push(fact);
    }
}
