//! The seats of one event: who holds, queues for and owns which place. One file per verb in `seats/`;
//! `execute` runs a command as expiry of what it touches, then the verb's own fact, then offers to those in line.

mod apply;
pub mod best_available;
mod block_seats;
mod change_event;
mod confirm_hold;
mod drop_seats;
mod expire;
mod extend_hold;
pub mod image;
mod invariants;
mod offer;
mod ordering;
mod override_hold;
mod place_hold;
mod queue;
mod refund_order;
mod release_hold;
mod state;
mod view;

pub use invariants::check as check_invariants;
pub(crate) use ordering::{confirm, expire_as_for};
pub use state::{AreaState, Seats, Status};
pub use view::{Found, OrderState, Query, SeatsView};

use crate::command::Command;
use crate::fact::Fact;
use crate::listing::{Body, Listing};
use crate::outcome::Outcome;
use crate::refusal::{Code, Refusal};
use crate::time::Millis;

/// What deciding a verb yields: its fact, or a yes that needs none.
pub(crate) enum Decided {
    Fact(Fact),
    Outcome(Outcome),
}

/// Decides one command for an event and applies what follows.
pub(crate) fn execute(
    listing: &mut Listing,
    command: &Command,
    now: Millis,
    facts: &mut Vec<Fact>,
) -> Result<Outcome, Refusal> {
    check(command)?;
    let before = facts.len();
    let mut run = Run { listing, now, facts };
    run.follow_schedule();
    if let Command::ExpireDue { limit } = command {
        run.expire_due(*limit);
        return Ok(if run.facts.len() == before { Outcome::Unchanged } else { Outcome::Done });
    }
    run.expire_touched(command);
    let mut decided = decide(run.seats(), command, now);
    if matches!(&decided, Err(refusal) if refusal.code == Code::NotEnoughSeats)
        && run.expire_for_best(command)
    {
        decided = decide(run.seats(), command, now);
    }
    match decided? {
        Decided::Outcome(outcome) => Ok(outcome),
        Decided::Fact(fact) => {
            run.take(fact);
            Ok(Outcome::Done)
        }
    }
}

/// Refuses what no state of the seats could make sense of: such a command records nothing at all.
pub fn check(command: &Command) -> Result<(), Refusal> {
    match command {
        Command::PlaceHold(command) => place_hold::check(command),
        Command::ExtendHold(command) => extend_hold::check(command),
        Command::DropSeats(command) => drop_seats::check(command),
        Command::OverrideHold(command) => override_hold::check(command),
        Command::RefundOrder(command) => refund_order::check(command),
        Command::BlockSeats(command) => block_seats::check_block(command),
        Command::UnblockSeats(command) => block_seats::check(&command.seats, &command.areas),
        Command::AdoptChart(command) => command.layout.check(),
        Command::CreateVenue(_)
        | Command::PublishLayout(_)
        | Command::CreateEvent(_)
        | Command::ChangeEvent(_)
        | Command::ChangeStatus(_)
        | Command::ReleaseHold(_)
        | Command::ConfirmHold(_)
        | Command::JoinQueue(_)
        | Command::LeaveQueue(_)
        | Command::ExpireDue { .. }
        | Command::Sale(_)
        | Command::Series(_)
        | Command::Registration(_)
        | Command::Auction(_)
        | Command::Order(_)
        | Command::Desk(_) => Ok(()),
    }
}

/// Decides without changing anything; `apply` is the only way the seats change.
fn decide(seats: &Seats, command: &Command, now: Millis) -> Result<Decided, Refusal> {
    let fact = match command {
        Command::PlaceHold(command) => return place_hold::decide(seats, command, now),
        Command::JoinQueue(command) => return queue::join(seats, command, now),
        Command::ChangeEvent(command) => return change_event::decide(seats, command),
        Command::ChangeStatus(status) => return change_event::status(seats, *status, now),
        Command::AdoptChart(command) => change_event::adopt_chart(seats, command)?,
        Command::ExtendHold(command) => extend_hold::decide(seats, command, now)?,
        Command::DropSeats(command) => drop_seats::decide(seats, command, now)?,
        Command::ReleaseHold(key) => release_hold::decide(seats, key, now)?,
        Command::ConfirmHold(command) => confirm_hold::decide(seats, command, now)?,
        Command::OverrideHold(command) => override_hold::decide(seats, command, now)?,
        Command::RefundOrder(command) => refund_order::decide(seats, command)?,
        Command::BlockSeats(command) => return block_seats::block(seats, command),
        Command::UnblockSeats(command) => return block_seats::unblock(seats, command),
        Command::LeaveQueue(command) => queue::leave(seats, command)?,
        Command::CreateVenue(_)
        | Command::PublishLayout(_)
        | Command::CreateEvent(_)
        | Command::ExpireDue { .. }
        | Command::Sale(_)
        | Command::Series(_)
        | Command::Registration(_)
        | Command::Auction(_)
        | Command::Order(_)
        | Command::Desk(_) => return Err(Refusal::of(Code::WrongKind)),
    };
    Ok(Decided::Fact(fact))
}

/// One command on its way through: each fact is applied before the next is decided.
pub(crate) struct Run<'a> {
    listing: &'a mut Listing,
    now: Millis,
    facts: &'a mut Vec<Fact>,
}

impl Run<'_> {
    fn seats(&self) -> &Seats {
        match &self.listing.body {
            Body::Event(seats) => seats,
            Body::Nothing
            | Body::Venue(_)
            | Body::Sale(_)
            | Body::Series(_)
            | Body::Registration(_)
            | Body::Auction(_)
            | Body::Desk(_) => {
                unreachable!("only an event's commands get here")
            }
        }
    }

    /// Applies a fact, then serves the queues of the seats that it set free, by seat index.
    fn take(&mut self, fact: Fact) {
        let freed = self.seats().freed_by(&fact);
        self.listing.apply(&fact, self.now);
        self.facts.push(fact);
        for seat in freed {
            self.serve_queue(seat);
        }
    }

    /// Applies a fact that frees nothing.
    fn take_plain(&mut self, fact: Fact) {
        self.listing.apply(&fact, self.now);
        self.facts.push(fact);
    }
}
