//! Time zones as the rules of series want them, from the database inside the binary: every server of one version
//! reads the same.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};
use onsale_domain::Millis;
use onsale_domain::series::schedule::{Schedule, Slot, Zone};

#[derive(Clone, Debug)]
pub struct Clocks(TimeZone);

impl Clocks {
    /// The zone of this name, if the database has it.
    pub fn named(name: &str) -> Option<Clocks> {
        TimeZone::get(name).ok().map(Clocks)
    }

    /// The clocks that a schedule is read on.
    pub fn of(schedule: &Schedule) -> Option<Clocks> {
        match schedule {
            Schedule::Hourly => Some(Clocks(TimeZone::UTC)),
            Schedule::Cron { zone, .. } => Clocks::named(zone),
        }
    }
}

impl Zone for Clocks {
    fn offset_s(&self, at: Millis) -> i32 {
        Timestamp::from_millisecond(at).map_or(0, |at| self.0.to_offset(at).seconds())
    }

    fn at(&self, local: Millis) -> Option<Slot> {
        // What a clock on the wall shows is counted as if it were UTC.
        let shown: DateTime = Offset::UTC.to_datetime(Timestamp::from_millisecond(local).ok()?);
        let offset = match self.0.to_ambiguous_timestamp(shown).offset() {
            AmbiguousOffset::Unambiguous { offset } => offset,
            AmbiguousOffset::Gap { .. } => return None,
            AmbiguousOffset::Fold { before, .. } => before,
        };
        let offset_s = offset.seconds();
        Some(Slot { at: local - Millis::from(offset_s) * 1_000, offset_s })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(text: &str) -> Millis {
        text.parse::<Timestamp>().expect("a time").as_millisecond()
    }

    #[test]
    fn a_missing_hour_never_is_and_a_repeated_one_is_the_first() {
        let berlin = Clocks::named("Europe/Berlin").expect("a zone");
        for (shown, at, offset_s) in [
            ("2026-07-01T18:00:00Z", Some("2026-07-01T16:00:00Z"), 7_200),
            ("2026-12-01T18:00:00Z", Some("2026-12-01T17:00:00Z"), 3_600),
            ("2026-03-29T02:30:00Z", None, 0),
            ("2026-10-25T02:30:00Z", Some("2026-10-25T00:30:00Z"), 7_200),
        ] {
            let expected = at.map(|at| Slot { at: ms(at), offset_s });
            assert_eq!(berlin.at(ms(shown)), expected, "{shown}");
        }
        assert_eq!(berlin.offset_s(ms("2026-10-25T00:59:59Z")), 7_200);
        assert_eq!(berlin.offset_s(ms("2026-10-25T01:00:00Z")), 3_600);
        let kathmandu = Clocks::named("Asia/Kathmandu").expect("a zone");
        assert_eq!(kathmandu.offset_s(0), 19_800);
        assert!(Clocks::named("Europe/Nowhere").is_none());
    }
}
