//! Instants as the outside writes them: RFC 3339 with milliseconds and `Z`. Inside they are milliseconds; this is the
//! one place where either form becomes the other.

use std::borrow::Cow;
use std::fmt;

use onsale_domain::Millis;
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, Schema, SchemaFormat, Type};
use utoipa::{PartialSchema, ToSchema};

/// An instant in a body, a query or a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(pub Millis);

/// `2026-11-18T16:20:53.123Z`.
const WRITTEN_BYTES: usize = 24;
const DAY_MS: Millis = 86_400_000;
/// The last instant that four digits of a year can say.
const LAST: Millis = 253_402_300_799_999;

/// What a caller is told whose time is none.
const RULE: &str = "a time in RFC 3339 with its offset, such as \"2027-03-01T19:30:00Z\" or \
                    \"2027-03-01T20:30:00.500+01:00\"";

impl Time {
    /// Reads RFC 3339 with any offset; fractions below a millisecond are cut off.
    pub fn parse(text: &str) -> Option<Time> {
        let text = text.as_bytes();
        let (fixed, rest) = text.split_at_checked(19).filter(|_| is_rfc_3339(text))?;
        let part = |from: usize, digits: usize| number(&fixed[from..from + digits]);
        let (year, month, day) = (part(0, 4), part(5, 2), part(8, 2));
        let (hour, minute, second) = (part(11, 2), part(14, 2), part(17, 2));
        let offset = rest.iter().position(|byte| !(byte.is_ascii_digit() || *byte == b'.'))?;
        let (fraction, offset) = rest.split_at(offset);
        let offset_minutes = match offset {
            [sign, h1, h2, _, m1, m2] => {
                let (hours, minutes) = (number(&[*h1, *h2]), number(&[*m1, *m2]));
                if hours > 23 || minutes > 59 {
                    return None;
                }
                (hours * 60 + minutes) * if *sign == b'-' { -1 } else { 1 }
            }
            _ => 0,
        };
        // A 60th second is no instant that a clock of ours shows.
        let is_one = (1..=12).contains(&month) && (1..=days_in(year, month)).contains(&day);
        if !is_one || hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        // `.5` is 500 ms; what is below one is cut off.
        let fraction = fraction.iter().skip(1).chain(b"000").take(3);
        let ms = fraction.fold(0, |ms, digit| ms * 10 + Millis::from(digit - b'0'));
        let minutes = (days_since_1970(year, month, day) * 24 + hour) * 60 + minute - offset_minutes;
        Some(Time((minutes * 60 + second) * 1_000 + ms))
    }

    pub fn write(self) -> [u8; WRITTEN_BYTES] {
        let at = self.0.clamp(0, LAST);
        let (year, month, day) = civil(at / DAY_MS);
        let left = (at % DAY_MS) as u32;
        let mut text = *b"0000-00-00T00:00:00.000Z";
        let mut put = |from: usize, digits: usize, number: u32| {
            let mut left = number;
            for place in (from..from + digits).rev() {
                text[place] = b'0' + (left % 10) as u8;
                left /= 10;
            }
        };
        put(0, 4, year);
        put(5, 2, month);
        put(8, 2, day);
        put(11, 2, left / 3_600_000);
        put(14, 2, left / 60_000 % 60);
        put(17, 2, left / 1_000 % 60);
        put(20, 3, left % 1_000);
        text
    }

    pub fn ms(self) -> Millis {
        self.0
    }

    /// Whole seconds from `now` until this; 0 if it has passed.
    pub fn seconds_after(self, now: Millis) -> u64 {
        (self.0.saturating_sub(now) / 1_000).max(0).unsigned_abs()
    }
}

/// Year, month and day of a day since 1970, by the calendar that begins its years in March: leap days come last then.
fn civil(days: Millis) -> (u32, u32, u32) {
    let days = days as u32 + 719_468;
    let era = days / 146_097;
    let of_era = days % 146_097;
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let since_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * since_march + 2) / 5 + 1;
    let month = if since_march < 10 { since_march + 3 } else { since_march - 9 };
    (year_of_era + era * 400 + u32::from(month <= 2), month, day)
}

/// The other way round.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month > 2 { year } else { year - 1 };
    let since_march = if month > 2 { month - 3 } else { month + 9 };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let of_year = (153 * since_march + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + of_year - 719_468
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Digits as a number.
fn number(digits: &[u8]) -> i64 {
    digits.iter().fold(0, |number, digit| number * 10 + i64::from(digit - b'0'))
}

/// `dddd-dd-ddTdd:dd:dd`, a fraction or none, `Z` or `±dd:dd`.
fn is_rfc_3339(text: &[u8]) -> bool {
    let Some((fixed, rest)) = text.split_at_checked(19) else { return false };
    let shaped = fixed.iter().zip(b"dddd-dd-ddTdd:dd:dd").all(|(byte, wanted)| match wanted {
        b'd' => byte.is_ascii_digit(),
        _ => byte.eq_ignore_ascii_case(wanted),
    });
    let fraction = match rest.split_first() {
        Some((b'.', digits)) => 1 + digits.iter().take_while(|byte| byte.is_ascii_digit()).count(),
        _ => 0,
    };
    let offset = match &rest[fraction..] {
        [zulu] => zulu.eq_ignore_ascii_case(&b'Z'),
        [b'+' | b'-', hour @ .., b':', m, n] if hour.len() == 2 => {
            hour.iter().chain([m, n]).all(u8::is_ascii_digit)
        }
        _ => false,
    };
    shaped && offset && (fraction == 0 || (2..=10).contains(&fraction))
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::str::from_utf8(&self.write()).unwrap_or_default())
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(std::str::from_utf8(&self.write()).unwrap_or_default())
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Time, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl Visitor<'_> for Reader {
    type Value = Time;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(RULE)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Time, E> {
        Time::parse(text).ok_or_else(|| E::custom(format_args!("must be {RULE}")))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Time, E> {
        Err(E::custom(format_args!("a number is not taken as a time; write {}", meant(number))))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Time, E> {
        self.visit_i64(i64::try_from(number).unwrap_or(i64::MAX))
    }

    fn visit_f64<E: de::Error>(self, _: f64) -> Result<Time, E> {
        Err(E::custom(format_args!("a number is not taken as a time; write {RULE}")))
    }
}

/// What whoever sends a number most likely means, as it should be written.
fn meant(number: i64) -> Cow<'static, str> {
    /// September 2001 in milliseconds; the same number of seconds is the year 33658.
    const MS_FROM: i64 = 1_000_000_000_000;
    match number {
        MS_FROM..=LAST => format!("\"{}\"", Time(number)).into(),
        1..MS_FROM if number <= LAST / 1_000 => format!("\"{}\"", Time(number * 1_000)).into(),
        _ => RULE.into(),
    }
}

impl PartialSchema for Time {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
            .description(Some(
                "An instant in RFC 3339. Answers have milliseconds and `Z`; requests may have any offset.",
            ))
            .examples(["2027-03-01T19:30:00.000Z"])
            .into()
    }
}

impl ToSchema for Time {}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    #[test]
    fn an_instant_is_written_with_milliseconds_and_z_and_reads_back() {
        for (ms, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399_999, "2000-02-28T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_794_990_053_123, "2026-11-18T08:20:53.123Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (7_258_118_400_000, "2200-01-01T00:00:00.000Z"),
        ] {
            assert_eq!(Time(ms).to_string(), text);
            assert_eq!(Time::parse(text), Some(Time(ms)));
        }
        assert_eq!(Time(i64::MAX).to_string(), "9999-12-31T23:59:59.999Z", "as late as four digits can say");
    }

    #[test]
    fn what_is_written_is_what_the_library_writes() {
        for day in 0..90_000 {
            let at = day * DAY_MS + day * 7_919 % DAY_MS;
            let known = Timestamp::from_millisecond(at).map(|at| format!("{at:.3}"));
            let written = Time(at).to_string();
            assert_eq!(Ok(&written), known.as_ref().map_err(|error| error.to_string()));
            assert_eq!(Time::parse(&written), Some(Time(at)));
        }
    }

    #[test]
    fn any_offset_is_read_and_nothing_without_one() {
        let at = Time::parse("2027-03-01T19:30:00Z");
        assert!(at.is_some());
        for same in [
            "2027-03-01T20:30:00+01:00",
            "2027-03-01t19:30:00z",
            "2027-03-01T14:00:00-05:30",
            "2027-03-01T19:30:00.0Z",
            "2027-03-01T19:30:00.000999999Z",
        ] {
            assert_eq!(Time::parse(same), at, "{same}");
        }
        for none in [
            "",
            "2027-03-01",
            "2027-03-01T19:30:00",
            "2027-03-01 19:30:00Z",
            "2027-03-01T19:30Z",
            "2027-03-01T24:00:00Z",
            "2027-02-29T00:00:00Z",
            "2026-12-31T23:59:60Z",
            "2027-03-01T19:30:00.Z",
            "2027-03-01T19:30:00.0000000000Z",
            "2027-03-01T19:30:00+1:00",
            "2027-03-01T19:30:00+0100",
            "2027-03-01T19:30:00+99:00",
            "2027-03-01T19:30:00+24:00",
            "2027-03-01T19:30:00+01:60",
            "2027-00-01T00:00:00Z",
            "2027-13-01T00:00:00Z",
            "2027-04-31T00:00:00Z",
            "2027-03-00T00:00:00Z",
            "2100-02-29T00:00:00Z",
            "2027-03-01T00:60:00Z",
            "2027-03-01T19:30:00Z[Europe/Berlin]",
            "+2027-03-01T19:30:00Z",
            "1893456000000",
        ] {
            assert_eq!(Time::parse(none), None, "{none}");
        }
    }

    #[test]
    fn every_year_of_four_digits_is_read() {
        for (text, ms) in [
            ("0000-01-01T00:00:00Z", -62_167_219_200_000),
            ("0000-02-29T00:00:00Z", -62_162_121_600_000),
            ("1969-12-31T23:59:59.999Z", -1),
            ("1970-01-01T00:30:00+01:00", -1_800_000),
            ("2262-04-11T23:47:16.855Z", 9_223_372_036_855),
            ("9999-12-31T23:59:59.999Z", LAST),
            ("9999-12-31T23:59:59-23:59", LAST - 999 + 86_340_000),
        ] {
            assert_eq!(Time::parse(text), Some(Time(ms)), "{text}");
        }
    }

    #[test]
    fn a_number_is_refused_with_the_form_it_should_have() {
        let why = |json: &str| serde_json::from_str::<Time>(json).map_err(|error| error.to_string());
        assert!(why("1893456000000").is_err_and(|why| why.contains("write \"2030-01-01T00:00:00.000Z\"")));
        assert!(why("1893456000").is_err_and(|why| why.contains("write \"2030-01-01T00:00:00.000Z\"")));
        assert!(why("-1").is_err_and(|why| why.contains("RFC 3339")));
        assert!(why("1.5").is_err_and(|why| why.contains("RFC 3339")));
        assert!(why("18446744073709551615").is_err_and(|why| why.contains("RFC 3339")));
        assert!(why("\"tomorrow\"").is_err_and(|why| why.contains("RFC 3339")));
        assert!(why("null").is_err_and(|why| why.contains("RFC 3339")));
    }

    #[test]
    fn what_is_left_is_whole_seconds_and_never_negative() {
        assert_eq!(Time(10_999).seconds_after(1_000), 9);
        assert_eq!(Time(1_000).seconds_after(1_000), 0);
        assert_eq!(Time(0).seconds_after(i64::MAX), 0);
    }
}
