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
pub use view::{EntryState, RegistrationFound, RegistrationQuery, RegistrationView, Standing};

use crate::outcome::Outcome;
use crate::refusal::{Code, Refusal};
use crate::time::Millis;

/// What deciding a verb yields: its fact, or a yes that needs none.
enum Decided {
    Fact(RegistrationFact),
    Outcome(Outcome),
}

impl Registration {
    /// Decides one command and applies what follows. `fence` is that of the listing's last fact;
    /// the n-th new fact has the n-th fence after it.
    pub fn execute<F: From<RegistrationFact>>(
        &mut self,
        command: &RegistrationCommand,
        now: Millis,
        fence: u64,
        facts: &mut Vec<F>,
    ) -> Result<Outcome, Refusal> {
        check(command)?;
        let mut run = Run { registration: self, now, fence, facts, promoted: 0 };
        run.follow_schedule();
        run.expire_touched(command);
        match decide(run.registration, command, now)? {
            Decided::Outcome(outcome) => Ok(outcome),
            Decided::Fact(fact) => {
                run.take(fact);
                Ok(Outcome::Done)
            }
        }
    }

    /// The sweep; see [`crate::Command::ExpireDue`].
    pub fn expire_due<F: From<RegistrationFact>>(
        &mut self,
        limit: u32,
        now: Millis,
        fence: u64,
        facts: &mut Vec<F>,
    ) -> Outcome {
        let before = facts.len();
        let mut run = Run { registration: self, now, fence, facts, promoted: 0 };
        run.follow_schedule();
        run.expire_due(limit);
        if run.facts.len() == before { Outcome::Unchanged } else { Outcome::Done }
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
) -> Result<Decided, Refusal> {
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
            cancel_entry::decide(registration, command, now).map(Decided::Fact)
        }
    }
}

/// One command on its way through: each fact is applied before the next is decided.
struct Run<'a, F> {
    registration: &'a mut Registration,
    now: Millis,
    fence: u64,
    facts: &'a mut Vec<F>,
    /// Promotions in this step so far.
    promoted: u32,
}

impl<F: From<RegistrationFact>> Run<'_, F> {
    /// Applies a fact, then promotes those for whom it made room.
    fn take(&mut self, fact: RegistrationFact) {
        self.take_plain(fact);
        self.promote();
    }

    fn take_plain(&mut self, fact: RegistrationFact) {
        self.fence += 1;
        self.registration.apply(&fact, self.fence, self.now);
        self.facts.push(fact.into());
    }
}
