//! A step from its facts' fields. The first carries what they share in its field `step`: the time, how many they are
//! and, if the step was asked for under an idempotency key, its scope and fingerprint: `at|n` or
//! `at|n|scope|fingerprint`; behind that, who made it if it was not the buyer: `at|n|||clock`.

use onsale_domain::id::read_base32;
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
    fact.text("step").is_ok()
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

fn head(first: &Fields) -> Result<Head, Malformed> {
    let mut parts = first.text("step")?.split('|');
    let at = parts.next().and_then(|at| at.parse().ok()).ok_or_else(malformed)?;
    let count = parts.next().and_then(|count| count.parse().ok()).ok_or_else(malformed)?;
    let number = |text| read_base32(text).ok_or_else(malformed);
    let key = match (parts.next(), parts.next()) {
        (None, _) | (Some(""), Some("")) => None,
        (Some(scope), Some(fingerprint)) => {
            Some(Key { scope: number(scope)?, fingerprint: number(fingerprint)? })
        }
        (Some(_), None) => return Err(malformed()),
    };
    let by = match parts.next() {
        None => None,
        Some(by) => Some(By::parse(by).ok_or_else(malformed)?),
    };
    Ok(Head { at, count, key, by })
}
