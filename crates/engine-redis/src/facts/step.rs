//! A step from its facts' fields. The first carries what they share: the time, how many they are and, if the step
//! was asked for under an idempotency key, its scope and fingerprint.

use onsale_domain::listing::Key;
use onsale_domain::{ListingId, Step};

use super::fields::{Fields, Malformed};

/// The step whose first fact stands at `(epoch, first)`; `facts` are exactly its facts.
pub fn decode_step(listing: ListingId, epoch: u64, first: u64, facts: &[Fields]) -> Result<Step, Malformed> {
    let head = facts.first().ok_or_else(|| Malformed::of("n"))?;
    if head.number::<usize>("n")? != facts.len() {
        return Err(Malformed::of("n"));
    }
    let facts = facts.iter().map(super::decode).collect::<Result<Vec<_>, _>>()?;
    let (at, key) = (head.number("at")?, key(head)?);
    Ok(Step { listing, epoch, first, at, key, facts })
}

fn key(head: &Fields) -> Result<Option<Key>, Malformed> {
    if head.get("scope").is_none() {
        return Ok(None);
    }
    let hex = |name| u128::from_str_radix(head.text(name)?, 16).map_err(|_| Malformed::of(name));
    Ok(Some(Key { scope: hex("scope")?, fingerprint: hex("fingerprint")? }))
}
