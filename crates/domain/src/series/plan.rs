//! What a server should ask of a series now. Changes nothing and decides nothing: two servers may plan the same.

use super::command::{OpenSlot, SeriesCommand};
use super::schedule::{Slot, Zone};
use super::state::{Series, SeriesStatus};
use crate::limits::{SLOT_EARLY_MS, SLOTS_SKIPPED_MAX};
use crate::time::{Millis, is_over};

/// What to do, and when to look again.
#[derive(Clone, Debug, PartialEq)]
pub enum Plan {
    Ask(SeriesCommand),
    /// Nothing before this instant.
    WaitUntil(Millis),
    /// Nothing, unless somebody changes the series.
    Rest,
}

impl Series {
    pub fn plan(&self, now: Millis, zone: &impl Zone) -> Plan {
        if self.status != SeriesStatus::Running {
            return Plan::Rest;
        }
        let mut slots = self.slots_from(zone);
        // Two more than one command may skip: with so many, the first are surely past.
        let mut known: Vec<Slot> = Vec::new();
        let next = loop {
            match slots.next() {
                Some(slot) if now >= slot.at - SLOT_EARLY_MS => known.push(slot),
                next => break next,
            }
            if known.len() == SLOTS_SKIPPED_MAX + 2 {
                return Plan::Ask(SeriesCommand::SkipSlots(known[..SLOTS_SKIPPED_MAX].to_vec()));
            }
        };
        let is_current = |n: usize| {
            let begun_later = known.get(n + 1).is_some_and(|later| is_over(later.at, now));
            !begun_later && !is_over(known[n].at + self.details.template.length_ms, now)
        };
        match (0..known.len()).find(|n| is_current(*n)) {
            Some(n) => {
                let (slot, skipped) = (known[n], known[..n].to_vec());
                Plan::Ask(SeriesCommand::OpenSlot(OpenSlot { slot, skipped }))
            }
            None if !known.is_empty() => Plan::Ask(SeriesCommand::SkipSlots(known)),
            None => next.map_or(Plan::Rest, |next| Plan::WaitUntil(next.at - SLOT_EARLY_MS)),
        }
    }

    /// All slots after the last one that something became of.
    fn slots_from(&self, zone: &impl Zone) -> impl Iterator<Item = Slot> {
        let from = self.details.from;
        let before_first = from + Millis::from(zone.offset_s(from)) * 1_000 - 1;
        let mut local = self.last().map_or(before_first, Slot::local);
        std::iter::from_fn(move || {
            loop {
                local = self.details.schedule.next_local(local)?;
                // A local time that the zone left out is no slot.
                if let Some(slot) = zone.at(local)
                    && slot.at >= from
                {
                    return Some(slot);
                }
            }
        })
    }
}
