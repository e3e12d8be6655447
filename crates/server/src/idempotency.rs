//! Idempotency keys as the log knows them: a scope and a fingerprint, both hashed here. The caller's own key and the
//! body never reach the engine.

use onsale_domain::listing::Key;
use onsale_domain::{BuyerId, ListingId, ListingKind, Tenant};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::http::wire::listing_text;

/// The one API key's name in a scope; it does not change when the key itself is replaced.
const PRINCIPAL: &str = "key:house";

/// Room for what a hold, a checkout or a bid is hashed from.
const HASHED_BYTES: usize = 256;

/// Longest key we take, as in the draft of the HTTP working group.
pub const KEY_CHARS_MAX: usize = 255;

/// Reads an `Idempotency-Key` header, quoted or bare: 1–255 printable characters.
pub fn parse(text: &str) -> Option<String> {
    let inner = match text.strip_prefix('"') {
        Some(rest) => rest.strip_suffix('"')?,
        None => text,
    };
    let fits = (1..=KEY_CHARS_MAX).contains(&inner.chars().count()) && !inner.chars().any(char::is_control);
    fits.then(|| inner.to_owned())
}

/// The key of a command: `decoded` is everything the caller asked for, in a form that does not depend on spelling.
pub fn key(
    caller_key: &str,
    buyer: Option<&BuyerId>,
    listing: &ListingId,
    verb: &str,
    decoded: &impl Serialize,
) -> Key {
    let scope = scope(listing.tenant, &listing_text(listing), buyer, verb, caller_key);
    Key { scope, fingerprint: fingerprint(decoded) }
}

/// The id of a listing that is created under a key: the same key names the same listing for ever.
pub fn listing_number(tenant: Tenant, kind: ListingKind, verb: &str, caller_key: &str) -> u128 {
    scope(tenant, kind.prefix(), None, verb, caller_key)
}

fn scope(tenant: Tenant, listing: &str, buyer: Option<&BuyerId>, verb: &str, caller_key: &str) -> u128 {
    let buyer = buyer.map_or("", BuyerId::as_str);
    let parts = [tenant.as_str(), PRINCIPAL, buyer, listing, verb, caller_key];
    first_128(|bytes| {
        for part in parts {
            bytes.extend_from_slice(&(part.len() as u64).to_be_bytes());
            bytes.extend_from_slice(part.as_bytes());
        }
    })
}

/// The decoded request, hashed as the JSON of its parsed form: fields in one order, defaults filled in.
fn fingerprint(decoded: &impl Serialize) -> u128 {
    first_128(|bytes| {
        // Memory takes every byte, and our request types have nothing that JSON cannot say.
        let written = serde_json::to_writer(bytes, decoded);
        debug_assert!(written.is_ok());
    })
}

/// Half of the hash of what `write` puts down: written first and hashed whole, which is quicker than word by word.
fn first_128(write: impl FnOnce(&mut Vec<u8>)) -> u128 {
    let mut bytes = Vec::with_capacity(HASHED_BYTES);
    write(&mut bytes);
    let mut first = [0; 16];
    first.copy_from_slice(&Sha256::digest(&bytes)[..16]);
    u128::from_be_bytes(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_quoted_or_bare_and_bounded() {
        assert_eq!(parse("abc").as_deref(), Some("abc"));
        assert_eq!(parse("\"abc\"").as_deref(), Some("abc"));
        assert_eq!(parse(&"k".repeat(255)).map(|key| key.len()), Some(255));
        for bad in ["", "\"\"", "\"abc", &"k".repeat(256)] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }

    /// Journals hold these numbers: whoever changes them makes old keys unknown.
    #[test]
    fn keys_are_hashed_today_as_they_were_yesterday() {
        let listing = ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Event, number: 1 };
        let key = key("k", BuyerId::parse("ann").as_ref(), &listing, "place_hold", &("body", [1]));
        assert_eq!(key.scope, 0x938a18ea4a76302ac314d8f6e804b540);
        assert_eq!(key.fingerprint, 0x7dc7a907bd2b365a0b1757430ba4a58f);
    }

    #[test]
    fn every_part_of_the_scope_counts() {
        let listing = |number| ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Event, number };
        let ann = BuyerId::parse("ann");
        let base = key("k", ann.as_ref(), &listing(1), "place_hold", &"body");
        let others = [
            key("l", ann.as_ref(), &listing(1), "place_hold", &"body"),
            key("k", None, &listing(1), "place_hold", &"body"),
            key("k", ann.as_ref(), &listing(2), "place_hold", &"body"),
            key("k", ann.as_ref(), &listing(1), "extend_hold", &"body"),
        ];
        for other in others {
            assert_ne!(other.scope, base.scope);
            assert_eq!(other.fingerprint, base.fingerprint);
        }
        assert_ne!(key("k", ann.as_ref(), &listing(1), "place_hold", &"else").fingerprint, base.fingerprint);
    }
}
