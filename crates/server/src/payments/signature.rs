//! Signatures of webhooks: `t=<seconds>,v1=<hex>[,v1=…]` over `<t>.<raw body>`, HMAC-SHA256. Compared in constant time;
//! 300 seconds of tolerance both ways; any of several `v1` may match, because keys are rolled.

use hmac::{Hmac, KeyInit, Mac};
use onsale_domain::Millis;
use sha2::Sha256;
use subtle::{Choice, ConstantTimeEq};

/// How far the signer's clock and ours may be apart.
const TOLERANCE_MS: Millis = 300_000;

pub fn is_right(header: &str, body: &[u8], secret: &[u8], now: Millis) -> bool {
    let mut time = None;
    let mut given = Vec::new();
    for part in header.split(',') {
        match part.trim().split_once('=') {
            Some(("t", seconds)) if time.is_none() => time = seconds.parse::<i64>().ok(),
            Some(("v1", hex)) => given.push(hex),
            Some(_) | None => {}
        }
    }
    let Some(seconds) = time.filter(|seconds| (0..=1 << 40).contains(seconds)) else { return false };
    if (now - seconds * 1_000).abs() > TOLERANCE_MS {
        return false;
    }
    let right = sign(seconds, body, secret);
    let matches = given.iter().map(|hex| right.as_bytes().ct_eq(hex.as_bytes()));
    matches.fold(Choice::from(0), |any, one| any | one).into()
}

/// The whole header for a body signed at this second.
pub fn header(seconds: i64, body: &[u8], secret: &[u8]) -> String {
    format!("t={seconds},v1={}", sign(seconds, body, secret))
}

fn sign(seconds: i64, body: &[u8], secret: &[u8]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret)
        .unwrap_or_else(|_| unreachable!("HMAC takes a key of any length"));
    mac.update(seconds.to_string().as_bytes());
    mac.update(b".");
    mac.update(body);
    mac.finalize().into_bytes().iter().fold(String::with_capacity(64), |mut hex, byte| {
        use std::fmt::Write as _;
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &[u8] = b"whsec_test_secret";
    const BODY: &[u8] = br#"{"id":"evt_1"}"#;

    /// Computed apart: `printf '1700000000.{"id":"evt_1"}' | openssl dgst -sha256 -hmac whsec_test_secret`.
    const KNOWN: &str = "248a374f50f943a28b0f6ab50faf9a7e7e29b710fa26df9fb1618b9bf8ea9c9a";

    #[test]
    fn a_known_vector_is_right_and_every_change_is_wrong() {
        let now = 1_700_000_000_000;
        let good = format!("t=1700000000,v1={KNOWN}");
        assert!(is_right(&good, BODY, SECRET, now));
        assert_eq!(header(1_700_000_000, BODY, SECRET), good);
        let rolled = format!("t=1700000000, v1={}, v1={KNOWN},v0=x", "0".repeat(64));
        assert!(is_right(&rolled, BODY, SECRET, now), "any v1 may match");
        for late in [-300_000, 300_000] {
            assert!(is_right(&good, BODY, SECRET, now + late), "{late}");
        }
        for late in [-300_001, 300_001, -3_600_000, 86_400_000] {
            assert!(!is_right(&good, BODY, SECRET, now + late), "{late}");
        }
        assert!(!is_right(&good, br#"{"id":"evt_2"}"#, SECRET, now));
        assert!(!is_right(&good, BODY, b"another", now));
        let later = format!("t=1700000001,v1={KNOWN}");
        let upper = format!("t=1700000000,v1={}", KNOWN.to_uppercase());
        let cut = format!("t=1700000000,v1={}", &KNOWN[..63]);
        let huge = format!("t=9223372036854775807,v1={KNOWN}");
        let negative = format!("t=-1,v1={KNOWN}");
        let no_time = format!("v1={KNOWN}");
        for wrong in ["", "t=1700000000", "t=,v1=", "v1", &later, &upper, &cut, &huge, &negative, &no_time] {
            assert!(!is_right(wrong, BODY, SECRET, now), "{wrong}");
        }
    }
}
