//! A step from its facts' fields. The first carries what they share in its field `step`: the time and how many they are,
//! `at|n`; if the step was asked for under an idempotency key, a `|` and its scope and fingerprint, 16 bytes each; and if not the
//! buyer made it, a `:` and who did, `at|n:clock`.

use onsale_domain::listing::Key;
use onsale_domain::{By, ListingId, Millis, Step};

use super::fields::{Fields, Malformed};

/// The step whose first fact stands at `(epoch, first)`; `facts` are exactly its facts.
pub fn decode_step(listing: ListingId, epoch: u64, first: u64, facts: &[Fields]) -> Result<Step, Malformed> {
    let Head { at, count, key, by } = head(facts.first().ok_or_else(malformed)?)?;
    if count != facts.len() {
        return Err(malformed());
    }
    let facts = facts.iter().map(super::decode).collect::<Result<Vec<_>, _>>()?;
    Ok(Step { listing, epoch, first, at, key, by, facts })
}

/// Whether a step begins with this fact.
pub fn begins_step(fact: &Fields) -> bool {
    fact.get("step").is_some()
}

/// How many facts the step has that begins with this one.
pub fn length(first: &Fields) -> Result<usize, Malformed> {
    head(first).map(|head| head.count)
}

/// When the step was that begins with this fact.
pub fn at(first: &Fields) -> Result<Millis, Malformed> {
    head(first).map(|head| head.at)
}

fn malformed() -> Malformed {
    Malformed::of("step")
}

/// What the facts of a step share.
struct Head {
    at: Millis,
    count: usize,
    key: Option<Key>,
    by: Option<By>,
}

/// Bytes of a key: its scope and its fingerprint.
const KEY_BYTES: usize = 32;

fn head(first: &Fields) -> Result<Head, Malformed> {
    let bytes = first.bytes("step")?;
    let (at, rest) = number(bytes)?;
    let (count, rest) = number(rest.strip_prefix(b"|").ok_or_else(malformed)?)?;
    let (key, rest) = match rest.strip_prefix(b"|") {
        None => (None, rest),
        Some(behind) => {
            let (key, rest) = behind.split_first_chunk::<KEY_BYTES>().ok_or_else(malformed)?;
            (Some(key_of(key)), rest)
        }
    };
    let by = match rest.strip_prefix(b":") {
        None if rest.is_empty() => None,
        None => return Err(malformed()),
        Some(by) => {
            let by = std::str::from_utf8(by).ok().and_then(By::parse);
            Some(by.ok_or_else(malformed)?)
        }
    };
    Ok(Head { at, count, key, by })
}

/// The number that stands first, and what stands behind it.
fn number<T: std::str::FromStr>(bytes: &[u8]) -> Result<(T, &[u8]), Malformed> {
    let end = bytes.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(bytes.len());
    let (digits, rest) = bytes.split_at(end);
    let number = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok());
    Ok((number.ok_or_else(malformed)?, rest))
}

fn key_of(bytes: &[u8; KEY_BYTES]) -> Key {
    let half = |from| {
        let mut half = [0; KEY_BYTES / 2];
        half.copy_from_slice(&bytes[from..from + KEY_BYTES / 2]);
        u128::from_be_bytes(half)
    };
    Key { scope: half(0), fingerprint: half(KEY_BYTES / 2) }
}
