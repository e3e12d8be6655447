//! When a series opens a sale: every full hour of UTC, or a cron line read in a time zone. Pure: the zone's rules come
//! from outside as instants with their offset from UTC; here is only decided whether such a local time is on schedule.

use minicbor::{Decode, Encode};

use super::cron::Cron;
use crate::field::{Field, FieldPath};
use crate::refusal::Refusal;
use crate::time::Millis;

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub enum Schedule {
    /// At every full hour, UTC.
    #[n(0)]
    Hourly,
    #[n(1)]
    Cron {
        /// Minute, hour, day of the month, month, day of the week.
        #[n(0)]
        line: String,
        /// The zone's name, as the time zone database has it.
        #[n(1)]
        zone: String,
    },
}

/// The beginning of a sale: an instant, and how far the clocks of the series' zone are ahead of UTC then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Slot {
    #[n(0)]
    pub at: Millis,
    #[n(1)]
    pub offset_s: i32,
}

impl Slot {
    /// What a clock on the wall shows, as if it were UTC.
    pub fn local(self) -> Millis {
        self.at + Millis::from(self.offset_s) * 1_000
    }
}

/// The rules of a time zone. The server's comes from the time zone database; the domain knows only UTC.
pub trait Zone {
    /// How far clocks are ahead of UTC at an instant.
    fn offset_s(&self, at: Millis) -> i32;
    /// When a clock on the wall shows this: never, if the hour was left out; the first time, if it comes twice.
    fn at(&self, local: Millis) -> Option<Slot>;
}

#[derive(Clone, Copy, Debug)]
pub struct Utc;

impl Zone for Utc {
    fn offset_s(&self, _: Millis) -> i32 {
        0
    }

    fn at(&self, local: Millis) -> Option<Slot> {
        Some(Slot { at: local, offset_s: 0 })
    }
}

/// No zone is or was further from UTC.
const OFFSET_S_MAX: i32 = 26 * 3_600;
const ZONE_CHARS_MAX: usize = 64;

impl Schedule {
    /// Whether there is a zone of that name is the edge's question.
    pub fn check(&self) -> Result<(), Refusal> {
        if let Schedule::Cron { zone, .. } = self
            && (!(1..=ZONE_CHARS_MAX).contains(&zone.len()) || !zone.is_ascii())
        {
            return Err(Refusal::invalid(Field::ScheduleZone, "the name of a time zone"));
        }
        self.cron().map(|_| ())
    }

    fn cron(&self) -> Result<Cron, Refusal> {
        let line = match self {
            Schedule::Hourly => "0 * * * *",
            Schedule::Cron { line, .. } => line.as_str(),
        };
        Cron::parse(line).map_err(|why| Refusal::invalid(Field::ScheduleLine, why))
    }

    /// Refuses an instant that is not on schedule. Asks nothing but the schedule, which never changes.
    pub fn check_slot(&self, field: FieldPath, slot: Slot) -> Result<(), Refusal> {
        let zone_fits = match self {
            Schedule::Hourly => slot.offset_s == 0,
            Schedule::Cron { .. } => slot.offset_s.abs() <= OFFSET_S_MAX,
        };
        match zone_fits && self.cron()?.has(slot.local()) {
            true => Ok(()),
            false => Err(Refusal::invalid(field, "not on schedule")),
        }
    }

    /// The next local time on schedule after one, if there is any within the next years.
    pub fn next_local(&self, after: Millis) -> Option<Millis> {
        self.cron().ok()?.next(after)
    }
}
