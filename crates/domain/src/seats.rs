//! The seats of one event: who holds, queues for and owns which place. One file per verb in `seats/`;
//! `execute` runs a command as expiry of what it touches, then the verb's own fact, then offers to those in line.

mod apply;
pub mod best_available;
mod block_seats;
mod change_event;
pub mod command;
mod confirm_hold;
mod drop_seats;
mod expire;
mod extend_hold;
pub mod fact;
mod grow_hold;
pub mod image;
mod invariants;
mod offer;
mod ordering;
mod override_hold;
mod place_hold;
mod places;
mod queue;
mod refund_order;
mod release_hold;
mod state;
mod view;

pub use command::EventCommand;
pub use fact::EventFact;
pub use invariants::check as check_invariants;
pub use state::{AreaState, Seats, Status};
pub use view::{EventFound, EventQuery, OrderState, SeatsView};

use crate::id::{BuyerId, ListingId};
use crate::kind::Kind;
use crate::order::{Goods, GoodsChange};
use crate::outcome::Outcome;
use crate::refusal::{Code, Refusal};
use crate::step_writer::StepWriter;
use crate::time::Millis;
use image::SeatsImage;

/// What deciding a verb yields: its fact, or a yes that needs none.
pub(crate) enum Decision {
    Fact(EventFact),
    Outcome(Outcome),
}

impl Kind for Seats {
    type Command = EventCommand;
    type Fact = EventFact;
    type View = SeatsView;
    type Query = EventQuery;
    type Found = EventFound;
    type Image = SeatsImage;

    fn create(command: &EventCommand, _now: Millis) -> Result<Vec<EventFact>, Refusal> {
        let EventCommand::CreateEvent(create) = command else {
            return Err(Refusal::of(Code::ListingUnknown));
        };
        Seats::create(create)
    }

    fn begin(_id: ListingId, first: &EventFact) -> Option<Seats> {
        let EventFact::EventCreated(details) = first else { return None };
        Some(Seats::new((**details).clone()))
    }

    fn check(command: &EventCommand) -> Result<(), Refusal> {
        check(command)
    }

    fn execute(&mut self, command: &EventCommand, writer: &mut StepWriter<'_>) -> Result<Outcome, Refusal> {
        check(command)?;
        let now = writer.now;
        let mut run = Run { seats: self, now, writer };
        run.follow_schedule();
        run.expire_touched(&expire::touched(run.seats, command, now));
        let mut decided = decide(run.seats, command, now);
        if matches!(&decided, Err(refusal) if refusal.code == Code::NotEnoughSeats)
            && run.expire_for_best(command)
        {
            decided = decide(run.seats, command, now);
        }
        match decided? {
            Decision::Outcome(outcome) => Ok(outcome),
            Decision::Fact(fact) => {
                run.take(fact);
                Ok(Outcome::Done)
            }
        }
    }

    fn sweep(&mut self, limit: u32, writer: &mut StepWriter<'_>) -> Result<Outcome, Refusal> {
        let mut run = Run { seats: self, now: writer.now, writer };
        run.follow_schedule();
        run.expire_due(limit);
        Ok(if run.writer.added().is_empty() { Outcome::Unchanged } else { Outcome::Done })
    }

    fn apply(&mut self, fact: &EventFact, fence: u64, at: Millis) {
        self.apply(fact, fence, at);
    }

    fn next_due(&self) -> Option<Millis> {
        self.next_due()
    }

    /// A hold, a place in a queue, or an order, refunded ones too.
    fn is_in_use(&self) -> bool {
        !self.holds.is_empty() || !self.places.is_empty() || !self.orders.is_empty()
    }

    fn view(&self) -> SeatsView {
        self.view()
    }

    fn ask(&self, query: &EventQuery, now: Millis) -> EventFound {
        self.ask(query, now)
    }

    fn image(&self) -> SeatsImage {
        self.image()
    }

    fn sort(image: &mut SeatsImage) {
        image.sort();
    }

    fn from_image(_id: ListingId, image: SeatsImage) -> Seats {
        Seats::from_image(image)
    }

    fn check_invariants(&self) -> Result<(), String> {
        check_invariants(self)
    }

    fn attempt_by(command: &EventCommand) -> Option<&BuyerId> {
        if let EventCommand::PlaceHold(command) = command { Some(&command.buyer) } else { None }
    }

    fn far(&self, command: &EventCommand, before: usize) -> [Option<&u32>; 2] {
        self.far(command, before)
    }

    fn goods(&self) -> Option<&dyn Goods> {
        Some(self)
    }

    fn goods_mut(&mut self) -> Option<&mut dyn Goods> {
        Some(self)
    }

    fn each_buyer(&self, name: &mut dyn FnMut(&str)) {
        self.buyers.values().for_each(|buyer| name(&buyer.name));
    }

    fn asks_about(query: &EventQuery) -> Option<&BuyerId> {
        match query {
            EventQuery::HoldsOf(buyer) | EventQuery::Place { buyer, .. } => Some(buyer),
            EventQuery::Hold(_) | EventQuery::Order(_) => None,
        }
    }

    fn goods_change(fact: &EventFact) -> Option<GoodsChange> {
        ordering::goods_change(fact)
    }
}

/// Refuses what no state of the seats could make sense of: such a command records nothing at all.
pub fn check(command: &EventCommand) -> Result<(), Refusal> {
    match command {
        EventCommand::PlaceHold(command) => place_hold::check(command),
        EventCommand::ExtendHold(command) => extend_hold::check(command),
        EventCommand::GrowHold(command) => grow_hold::check(command),
        EventCommand::DropSeats(command) => drop_seats::check(command),
        EventCommand::OverrideHold(command) => override_hold::check(command),
        EventCommand::RefundOrder(command) => refund_order::check(command),
        EventCommand::BlockSeats(command) => block_seats::check_block(command),
        EventCommand::UnblockSeats(command) => block_seats::check(&command.seats, &command.areas),
        EventCommand::AdoptChart(command) => command.layout.check(),
        EventCommand::CreateEvent(_)
        | EventCommand::ChangeEvent(_)
        | EventCommand::ChangeStatus(_)
        | EventCommand::ReleaseHold(_)
        | EventCommand::ConfirmHold(_)
        | EventCommand::JoinQueue(_)
        | EventCommand::LeaveQueue(_) => Ok(()),
    }
}

/// Decides without changing anything; `apply` is the only way the seats change.
fn decide(seats: &Seats, command: &EventCommand, now: Millis) -> Result<Decision, Refusal> {
    let fact = match command {
        EventCommand::PlaceHold(command) => return place_hold::decide(seats, command, now),
        EventCommand::GrowHold(command) => return grow_hold::decide(seats, command, now),
        EventCommand::ConfirmHold(command) => return confirm_hold::decide(seats, command, now),
        EventCommand::JoinQueue(command) => return queue::join(seats, command, now),
        EventCommand::ChangeEvent(command) => return change_event::decide(seats, command),
        EventCommand::ChangeStatus(status) => return change_event::status(seats, *status, now),
        EventCommand::AdoptChart(command) => change_event::adopt_chart(seats, command)?,
        EventCommand::ExtendHold(command) => extend_hold::decide(seats, command, now)?,
        EventCommand::DropSeats(command) => drop_seats::decide(seats, command, now)?,
        EventCommand::ReleaseHold(key) => release_hold::decide(seats, key, now)?,
        EventCommand::OverrideHold(command) => override_hold::decide(seats, command, now)?,
        EventCommand::RefundOrder(command) => refund_order::decide(seats, command)?,
        EventCommand::BlockSeats(command) => return block_seats::block(seats, command),
        EventCommand::UnblockSeats(command) => return block_seats::unblock(seats, command),
        EventCommand::LeaveQueue(command) => queue::leave(seats, command)?,
        EventCommand::CreateEvent(_) => return Err(Refusal::of(Code::ListingExists)),
    };
    Ok(Decision::Fact(fact))
}

/// One command on its way through: each fact is applied before the next is decided.
pub(crate) struct Run<'a, 'b> {
    seats: &'a mut Seats,
    now: Millis,
    writer: &'a mut StepWriter<'b>,
}

impl Run<'_, '_> {
    /// Applies a fact, then serves the queues of the seats that it set free, by seat index.
    fn take(&mut self, fact: EventFact) {
        let freed = self.seats.freed_by(&fact);
        self.take_plain(fact);
        for seat in freed {
            self.serve_queue(seat);
        }
    }

    /// Applies a fact that frees nothing.
    fn take_plain(&mut self, fact: EventFact) {
        self.seats.apply(&fact, self.writer.next_fence(), self.now);
        self.writer.push(fact);
    }
}
