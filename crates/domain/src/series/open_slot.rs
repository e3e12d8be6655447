//! Open a slot, once, whoever asks; slots that nobody opened in time are recorded as skipped.

use super::command::OpenSlot;
use super::details::sale_of;
use super::fact::{SeriesFact, SkipCause};
use super::schedule::{Schedule, Slot};
use super::state::{Series, SeriesStatus};
use crate::field::Field;
use crate::limits::{SLOT_EARLY_MS, SLOTS_SKIPPED_MAX};
use crate::refusal::{Code, Refusal};
use crate::time::{Millis, is_over};

pub(super) fn check_open(schedule: &Schedule, command: &OpenSlot) -> Result<(), Refusal> {
    schedule.check_slot(Field::Slot.into(), command.slot)?;
    check(schedule, &command.skipped)
}

pub(super) fn check_skip(schedule: &Schedule, slots: &[Slot]) -> Result<(), Refusal> {
    check(schedule, slots)?;
    if slots.is_empty() { Err(Refusal::invalid(Field::Skipped, "at least one slot")) } else { Ok(()) }
}

fn check(schedule: &Schedule, slots: &[Slot]) -> Result<(), Refusal> {
    if slots.len() > SLOTS_SKIPPED_MAX {
        return Err(Refusal::invalid(Field::Skipped, "at most 64 slots at once"));
    }
    for (n, slot) in slots.iter().enumerate() {
        schedule.check_slot(Field::SkippedSlot.at(&[n]), *slot)?;
        if n > 0 && !is_after(*slot, slots[n - 1]) {
            return Err(Refusal::invalid(Field::SkippedSlot.at(&[n]), "later than the one before"));
        }
    }
    Ok(())
}

/// Later, by the clock of the world and by the clock on the wall: a local time that comes twice is one slot.
fn is_after(slot: Slot, before: Slot) -> bool {
    slot.at > before.at && slot.local() > before.local()
}

/// No facts: the slot was opened before, which is what was asked for.
pub(super) fn decide(series: &Series, command: &OpenSlot, now: Millis) -> Result<Vec<SeriesFact>, Refusal> {
    check_open(&series.details.schedule, command)?;
    let known = series.slots.iter().rev().find(|known| known.slot.at == command.slot.at);
    if known.is_some_and(|known| known.ends_at.is_some()) {
        return Ok(Vec::new());
    }
    match series.status {
        SeriesStatus::Running => {}
        SeriesStatus::Paused => return Err(Refusal::of(Code::SeriesPaused)),
        SeriesStatus::Ended => return Err(Refusal::of(Code::SeriesEnded)),
    }
    if command.skipped.last().is_some_and(|last| !is_after(command.slot, *last)) {
        return Err(Refusal::invalid(Field::Slot, "later than those that were skipped"));
    }
    in_order(series, command.skipped.first().copied().unwrap_or(command.slot))?;
    if now < command.slot.at - SLOT_EARLY_MS {
        return Err(Refusal::of(Code::SlotEarly));
    }
    if is_over(command.slot.at + series.details.template.length_ms, now) {
        return Err(Refusal::of(Code::SlotPast));
    }
    let mut facts = skipped(series, &command.skipped);
    let sale = sale_of(series.id, command.slot.at);
    facts.push(SeriesFact::SlotOpened { slot: command.slot, sale });
    Ok(facts)
}

pub(super) fn skip(series: &Series, slots: &[Slot], now: Millis) -> Result<Vec<SeriesFact>, Refusal> {
    check_skip(&series.details.schedule, slots)?;
    let (Some(first), Some(last)) = (slots.first(), slots.last()) else { return Ok(Vec::new()) };
    if series.status == SeriesStatus::Ended {
        return Err(Refusal::of(Code::SeriesEnded));
    }
    in_order(series, *first)?;
    // What has not begun can still be opened.
    if now < last.at {
        return Err(Refusal::of(Code::SlotEarly));
    }
    Ok(skipped(series, slots))
}

/// Slots only ever follow each other.
fn in_order(series: &Series, first: Slot) -> Result<(), Refusal> {
    let in_order = series.last().is_none_or(|last| is_after(first, last)) && first.at >= series.details.from;
    if in_order { Ok(()) } else { Err(Refusal::of(Code::SlotPast)) }
}

fn skipped(series: &Series, slots: &[Slot]) -> Vec<SeriesFact> {
    let why = |slot: &Slot| match series.pause {
        Some((from, until)) if slot.at >= from && until.is_none_or(|until| slot.at < until) => {
            SkipCause::Paused
        }
        Some(_) | None => SkipCause::Down,
    };
    slots.iter().map(|slot| SeriesFact::SlotSkipped { slot: *slot, why: why(slot) }).collect()
}
