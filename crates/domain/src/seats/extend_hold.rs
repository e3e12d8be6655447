//! Extend a hold: later by an extension, never past its cap, at most as often as the event allows.

use super::command::ExtendHold;
use super::fact::{EventFact, HoldAfter};
use super::state::Seats;
use crate::event::SaleRules;
use crate::field::Field;
use crate::limits::HOLD_MS_MAX;
use crate::refusal::{Code, Refusal};
use crate::time::Millis;

pub(super) fn check(command: &ExtendHold) -> Result<(), Refusal> {
    if command.extension_ms.is_some_and(|ms| !(1_000..=HOLD_MS_MAX).contains(&ms)) {
        return Err(Refusal::invalid(Field::ExtensionMs, "1 to 900 seconds"));
    }
    Ok(())
}

pub(super) fn decide(seats: &Seats, command: &ExtendHold, now: Millis) -> Result<EventFact, Refusal> {
    super::release_hold::not_cancelled(seats)?;
    let index = super::release_hold::own_hold(seats, &command.key, now)?;
    let hold = &seats.holds[index];
    let rules = &seats.details.rules;
    if hold.extensions >= rules.extensions_max {
        return Err(Refusal::limit(
            Code::ExtensionsUsed,
            u32::from(rules.extensions_max),
            u32::from(hold.extensions),
        ));
    }
    let length = Millis::from(hold.length_ms);
    let extension = command.extension_ms.or(rules.extension_ms).unwrap_or(length);
    let until = (hold.until + extension).min(hold.placed_at() + SaleRules::cap_ms(length));
    if until <= hold.until {
        return Err(Refusal::of(Code::ExtensionCap));
    }
    let after = HoldAfter { until, extensions: hold.extensions + 1, ..seats.hold_after(index) };
    Ok(EventFact::HoldExtended { hold: hold.id, until, after: Box::new(after) })
}
