//! Staff takes a hold away or gives it to somebody else: audited, and the fence rises either way.

use super::command::OverrideHold;
use super::fact::{EventFact, NewHolder};
use super::state::Seats;
use crate::field::Field;
use crate::fields::check_reason;
use crate::limits::{HOLD_MS_MAX, HOLD_MS_MIN};
use crate::refusal::Refusal;
use crate::time::Millis;

pub(super) fn check(command: &OverrideHold) -> Result<(), Refusal> {
    let hold_ms = command.to.as_ref().and_then(|(_, hold_ms)| *hold_ms);
    if hold_ms.is_some_and(|ms| !(HOLD_MS_MIN..=HOLD_MS_MAX).contains(&ms)) {
        return Err(Refusal::invalid(Field::HoldMs, "30 to 900 seconds"));
    }
    check_reason(&command.reason)
}

pub(super) fn decide(seats: &Seats, command: &OverrideHold, now: Millis) -> Result<EventFact, Refusal> {
    if command.to.is_some() {
        super::release_hold::not_cancelled(seats)?;
    }
    super::release_hold::living_hold(seats, command.hold, now)?;
    let to = match &command.to {
        None => None,
        Some((buyer, hold_ms)) => {
            let hold_ms = hold_ms.unwrap_or(seats.details.rules.hold_ms);
            Some(NewHolder { buyer: buyer.clone(), until: now + hold_ms })
        }
    };
    Ok(EventFact::HoldOverridden { hold: command.hold, reason: command.reason.clone(), to })
}
