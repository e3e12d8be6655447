//! Confirm a hold: held becomes sold, under its order. Asked again under the same order it is answered the same.

use super::Decision;
use super::command::ConfirmHold;
use super::fact::EventFact;
use super::state::Seats;
use crate::ended::End;
use crate::outcome::Outcome;
use crate::refusal::{Code, Detail, Refusal};
use crate::time::Millis;

pub(super) fn decide(seats: &Seats, command: &ConfirmHold, now: Millis) -> Result<Decision, Refusal> {
    if let Some(index) = confirmed_before(seats, command, now) {
        return Ok(Decision::Outcome(Outcome::AlreadyConfirmed(Box::new(seats.order_state(index)))));
    }
    super::release_hold::not_cancelled(seats)?;
    let index = super::release_hold::own_hold(seats, &command.key, now)?;
    if !command.settled && seats.holds[index].total_minor() > 0 {
        return Err(Refusal::of(Code::PaymentRequired));
    }
    if seats.order_by_id.contains_key(&command.order) {
        return Err(Refusal { detail: Detail::Order(command.order), ..Refusal::of(Code::IdTaken) });
    }
    Ok(Decision::Fact(EventFact::HoldConfirmed { hold: command.key.hold, order: command.order }))
}

/// The order that has bought this hold, if it is the one that is named, and the hold is remembered.
fn confirmed_before(seats: &Seats, command: &ConfirmHold, now: Millis) -> Option<u32> {
    let key = &command.key;
    if seats.hold_index(key.hold).is_some() || seats.ended.get(key.hold, now) != Some(End::Confirmed) {
        return None;
    }
    let index = *seats.order_by_id.get(&command.order)?;
    let order = &seats.orders[index];
    (order.hold == key.hold && *seats.buyers[order.buyer].name == *key.buyer.as_str()).then_some(index)
}
