//! Signatures of webhooks: `t=<seconds>,v1=<hex>[,v1=…]` over `<t>.<raw body>`, HMAC-SHA256. Compared in constant time;
//! 300 seconds of tolerance both ways; any of several `v1` may match, because keys are rolled.

use hmac::{Hmac, KeyInit, Mac};
use onsale_domain::Millis;
use sha2::Sha256;
use subtle::{Choice, ConstantTimeEq};
use thiserror::Error;

/// How far the signer's clock and ours may be apart.
const TOLERANCE_MS: Millis = 300_000;

/// Why a webhook is not believed.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum BadSignature {
    #[error("there is no signature of the form t=<seconds>,v1=<hex>")]
    Missing,
    #[error("the signature is wrong: another secret, or another body")]
    Wrong,
    #[error("the signature is more than 300 seconds old")]
    Old,
    #[error("the signature is more than 300 seconds ahead of our clock")]
    Ahead,
}

/// Only of a right signature is told that it comes too late or too early.
pub fn check(header: Option<&str>, body: &[u8], secret: &[u8], now: Millis) -> Result<(), BadSignature> {
    let mut time = None;
    let mut given = Vec::new();
    for part in header.unwrap_or_default().split(',') {
        match part.trim().split_once('=') {
            Some(("t", seconds)) if time.is_none() => time = seconds.parse::<i64>().ok(),
            Some(("v1", hex)) => given.push(hex),
            Some(_) | None => {}
        }
    }
    let time = time.filter(|seconds| (0..=1 << 40).contains(seconds) && !given.is_empty());
    let seconds = time.ok_or(BadSignature::Missing)?;
    let right = sign(seconds, body, secret);
    let matches = given.iter().map(|hex| right.as_bytes().ct_eq(hex.as_bytes()));
    if !bool::from(matches.fold(Choice::from(0), |any, one| any | one)) {
        return Err(BadSignature::Wrong);
    }
    match now - seconds * 1_000 {
        late if late > TOLERANCE_MS => Err(BadSignature::Old),
        late if late < -TOLERANCE_MS => Err(BadSignature::Ahead),
        _ => Ok(()),
    }
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
    fn a_known_vector_is_right_and_every_change_is_told() {
        let known = format!("t=1700000000,v1={KNOWN}");
        assert_eq!(header(1_700_000_000, BODY, SECRET), known);
        let zeros = "0".repeat(64);
        let (upper, cut) = (KNOWN.to_uppercase(), &KNOWN[..63]);
        let table = [
            ("as it is", known.clone(), 0, Ok(())),
            ("any v1 may match", format!("t=1700000000, v1={zeros}, v1={KNOWN},v0=x"), 0, Ok(())),
            ("at the very edge of late", known.clone(), 300_000, Ok(())),
            ("at the very edge of early", known.clone(), -300_000, Ok(())),
            ("late", known.clone(), 300_001, Err(BadSignature::Old)),
            ("a day late", known.clone(), 86_400_000, Err(BadSignature::Old)),
            ("early", known.clone(), -300_001, Err(BadSignature::Ahead)),
            ("an hour early", known.clone(), -3_600_000, Err(BadSignature::Ahead)),
            ("another time than the signed", format!("t=1700000001,v1={KNOWN}"), 0, Err(BadSignature::Wrong)),
            ("old and wrong", format!("t=1600000000,v1={KNOWN}"), 0, Err(BadSignature::Wrong)),
            ("capitals", format!("t=1700000000,v1={upper}"), 0, Err(BadSignature::Wrong)),
            ("cut", format!("t=1700000000,v1={cut}"), 0, Err(BadSignature::Wrong)),
            ("empty", "t=1700000000,v1=".to_owned(), 0, Err(BadSignature::Wrong)),
            ("only another scheme", format!("t=1700000000,v0={KNOWN}"), 0, Err(BadSignature::Missing)),
            ("a huge time", format!("t=9223372036854775807,v1={KNOWN}"), 0, Err(BadSignature::Missing)),
            ("a negative time", format!("t=-1,v1={KNOWN}"), 0, Err(BadSignature::Missing)),
            ("no time", format!("v1={KNOWN}"), 0, Err(BadSignature::Missing)),
            ("no signature", "t=1700000000".to_owned(), 0, Err(BadSignature::Missing)),
            ("nothing", String::new(), 0, Err(BadSignature::Missing)),
            ("no header's form", "v1".to_owned(), 0, Err(BadSignature::Missing)),
        ];
        for (name, header, late, expected) in table {
            assert_eq!(check(Some(&header), BODY, SECRET, 1_700_000_000_000 + late), expected, "{name}");
        }
        let now = 1_700_000_000_000;
        assert_eq!(check(None, BODY, SECRET, now), Err(BadSignature::Missing));
        assert_eq!(check(Some(&known), br#"{"id":"evt_2"}"#, SECRET, now), Err(BadSignature::Wrong));
        assert_eq!(check(Some(&known), BODY, b"another", now), Err(BadSignature::Wrong));
    }
}
