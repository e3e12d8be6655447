//! Confirm a hold: held becomes sold, under its order. Who may ask was settled at the edge.

use super::command::ConfirmHold;
use super::fact::EventFact;
use super::state::Seats;
use crate::refusal::{Code, Detail, Refusal};
use crate::time::Millis;

pub(super) fn decide(seats: &Seats, command: &ConfirmHold, now: Millis) -> Result<EventFact, Refusal> {
    super::release_hold::not_cancelled(seats)?;
    super::release_hold::own_hold(seats, &command.key, now)?;
    if seats.order_by_id.contains_key(&command.order) {
        return Err(Refusal { detail: Detail::Order(command.order), ..Refusal::of(Code::IdTaken) });
    }
    Ok(EventFact::HoldConfirmed { hold: command.key.hold, order: command.order })
}
