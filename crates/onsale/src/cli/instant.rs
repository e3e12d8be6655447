//! Instants in what a server answers: RFC 3339 outside, milliseconds inside. Read with the library alone, so that
//! whoever checks a server does not read with the server's own hand.

use jiff::Timestamp;
use serde_json::Value;

/// The milliseconds since 1970 that a field tells.
pub(crate) fn ms(value: &Value) -> Option<i64> {
    value.as_str()?.parse::<Timestamp>().ok().map(Timestamp::as_millisecond)
}

/// An instant as requests write it.
pub(crate) fn text(ms: i64) -> String {
    Timestamp::from_millisecond(ms).map(|at| format!("{at:.3}")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_instant_reads_back_and_a_number_is_none() {
        assert_eq!(text(1_763_000_000_123), "2025-11-13T02:13:20.123Z");
        assert_eq!(ms(&json!("2025-11-13T02:13:20.123Z")), Some(1_763_000_000_123));
        assert_eq!(ms(&json!(1_763_000_000_123_i64)), None);
    }
}
