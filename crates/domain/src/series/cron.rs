//! A cron line of five fields, on a calendar without time zones: is a local time in it, and which is the next.

use crate::time::Millis;

const MINUTE_MS: Millis = 60_000;
const DAY_MS: Millis = 86_400_000;
/// A 29 February can be eight years away; a line that has nothing until then has nothing at all.
const DAYS_AHEAD: Millis = 8 * 366 + 1;

/// One bit for every value that a field allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cron {
    minutes: u64,
    hours: u64,
    days: u64,
    months: u64,
    weekdays: u64,
    /// Both kinds of days are restricted: then either is enough, as cron has always had it.
    either_day: bool,
}

impl Cron {
    pub(super) fn parse(line: &str) -> Result<Cron, String> {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let [minute, hour, day, month, weekday] = fields[..] else {
            return Err("five fields: minute, hour, day of the month, month, day of the week".into());
        };
        let weekdays = field("the day of the week", weekday, 0, 7)?;
        Ok(Cron {
            minutes: field("the minute", minute, 0, 59)?,
            hours: field("the hour", hour, 0, 23)?,
            days: field("the day of the month", day, 1, 31)?,
            months: field("the month", month, 1, 12)?,
            // Sunday is 0 and 7.
            weekdays: weekdays | weekdays >> 7 & 1,
            either_day: !day.starts_with('*') && !weekday.starts_with('*'),
        })
    }

    /// Whether a local time, in milliseconds since 1970 as if it were UTC, is in the line.
    pub(super) fn has(&self, local: Millis) -> bool {
        let minute = local.rem_euclid(DAY_MS) / MINUTE_MS;
        local.rem_euclid(MINUTE_MS) == 0
            && self.has_day(local.div_euclid(DAY_MS))
            && bit(self.hours, minute / 60)
            && bit(self.minutes, minute % 60)
    }

    /// The first local time in the line after this one.
    pub(super) fn next(&self, after: Millis) -> Option<Millis> {
        let first = after.div_euclid(MINUTE_MS) + 1;
        let today = first.div_euclid(1_440);
        for day in (today..today + DAYS_AHEAD).filter(|day| self.has_day(*day)) {
            let from = if day == today { first.rem_euclid(1_440) } else { 0 };
            let fits = |minute: &Millis| bit(self.hours, minute / 60) && bit(self.minutes, minute % 60);
            if let Some(minute) = (from..1_440).find(fits) {
                return Some((day * 1_440 + minute) * MINUTE_MS);
            }
        }
        None
    }

    fn has_day(&self, day: Millis) -> bool {
        let (month, of_month) = month_and_day(day);
        // 1 January 1970 was a Thursday.
        let weekday = bit(self.weekdays, (day + 4).rem_euclid(7));
        let of_month = bit(self.days, of_month);
        bit(self.months, month) && if self.either_day { of_month || weekday } else { of_month && weekday }
    }
}

fn bit(bits: u64, n: Millis) -> bool {
    bits >> n & 1 == 1
}

/// Reads `*`, `5`, `1-5`, each with `/step`, and lists of them.
fn field(name: &str, text: &str, min: u32, max: u32) -> Result<u64, String> {
    let wrong = || format!("{name} is `*`, a number from {min} to {max}, a range, a step or a list of these");
    let number = |text: &str| {
        let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let number = text.parse().ok().filter(|number| plain && (min..=max).contains(number));
        number.ok_or_else(wrong)
    };
    let mut bits = 0;
    for part in text.split(',') {
        let (range, step) = match part.split_once('/') {
            None => (part, None),
            Some((range, step)) => (range, Some(step.parse::<u32>().map_err(|_| wrong())?)),
        };
        let (from, to) = match range.split_once('-') {
            _ if range == "*" => (min, max),
            Some((from, to)) => (number(from)?, number(to)?),
            None if step.is_some() => (number(range)?, max),
            None => (number(range)?, number(range)?),
        };
        let step = step.unwrap_or(1);
        if from > to || !(1..=max).contains(&step) {
            return Err(wrong());
        }
        (from..=to).step_by(step as usize).for_each(|n| bits |= 1 << n);
    }
    Ok(bits)
}

/// Month and day of the month of a day since 1970, by the calendar of Gregory: years are counted from March,
/// so that the leap day is the last.
fn month_and_day(day: Millis) -> (Millis, Millis) {
    let since_march_0 = day + 719_468;
    let in_era = since_march_0.rem_euclid(146_097);
    let year = (in_era - in_era / 1_460 + in_era / 36_524 - in_era / 146_096) / 365;
    let in_year = in_era - (365 * year + year / 4 - year / 100);
    let month = (5 * in_year + 2) / 153;
    let of_month = in_year - (153 * month + 2) / 5 + 1;
    (if month < 10 { month + 3 } else { month - 9 }, of_month)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-16 was a Monday.
    const MONDAY: Millis = 1_794_787_200_000;

    #[test]
    fn the_next_time_is_the_first_that_fits() {
        let at = |days: Millis, hour: Millis, minute: Millis| {
            MONDAY + days * DAY_MS + (hour * 60 + minute) * MINUTE_MS
        };
        for (line, from, next) in [
            ("0 * * * *", at(0, 0, 0), at(0, 1, 0)),
            ("0 * * * *", at(0, 0, 0) - 1, at(0, 0, 0)),
            ("30 9 * * 1-5", at(4, 9, 30), at(7, 9, 30)),
            ("*/20 8-9 * * *", at(0, 9, 40), at(1, 8, 0)),
            ("5/25 0 * * *", at(0, 0, 30), at(0, 0, 55)),
            ("0 12 * * 7", at(0, 0, 0), at(6, 12, 0)),
            ("0 12 * * 0", at(0, 0, 0), at(6, 12, 0)),
            ("0 0 1 12 *", at(0, 0, 0), at(15, 0, 0)),
            // Either day is enough if both are named: the 20th is a Friday.
            ("0 0 20 * 3", at(0, 0, 0), at(2, 0, 0)),
            ("0 0 20 * 3", at(2, 0, 0), at(4, 0, 0)),
            // The next 29 February is in 2028.
            ("0 0 29 2 *", at(0, 0, 0), 1_835_395_200_000),
        ] {
            let cron = Cron::parse(line).unwrap();
            assert_eq!(cron.next(from), Some(next), "{line} after {from}");
            assert!(cron.has(next) && !cron.has(next + 1) && !cron.has(next + 60_001), "{line}");
        }
        assert_eq!(Cron::parse("0 0 31 2 *").unwrap().next(MONDAY), None);
    }

    #[test]
    fn a_line_that_is_none_is_refused() {
        for line in [
            "",
            "* * * *",
            "* * * * * *",
            "60 * * * *",
            "* 24 * * *",
            "* * 0 * *",
            "* * * 13 *",
            "* * * * 8",
            "5-1 * * * *",
            "*/0 * * * *",
            "*/99 * * * *",
            "a * * * *",
            "+5 * * * *",
            "1,,2 * * * *",
            "-1 * * * *",
        ] {
            assert!(Cron::parse(line).is_err(), "{line:?}");
        }
    }

    #[test]
    fn months_and_days_are_those_of_the_calendar() {
        for (day, expected) in [(0, (1, 1)), (58, (2, 28)), (59, (3, 1)), (789, (2, 29)), (11_016, (2, 29))] {
            assert_eq!(month_and_day(day), expected, "day {day}");
        }
    }
}
