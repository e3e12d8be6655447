//! Idempotency keys as the log knows them: a scope (who asks, on which route, under which key) and a fingerprint (all
//! that was asked for), both hashed here. The caller's own key and the body never reach the engine.

use std::borrow::Cow;
use std::sync::Arc;

use axum::http::Method;
use onsale_access::answers;
use onsale_domain::id::LISTING_NUMBERS;
use onsale_domain::listing::Key;
use onsale_domain::{BuyerId, ListingId, ListingKind, Tenant};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::http::wire::listing_text;

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

/// A caller's key and the route it was sent to.
#[derive(Clone, Debug)]
pub struct RouteKey {
    text: String,
    /// Under which name the caller's keys are remembered; it outlives the rotation of a credential.
    family: Arc<str>,
    method: Method,
    /// As it was sent; the same place may be spelled with or without percent signs.
    path: String,
}

impl RouteKey {
    pub fn new(text: String, family: Arc<str>, method: &Method, path: &str) -> RouteKey {
        RouteKey { text, family, method: method.clone(), path: path.to_owned() }
    }

    /// The key of a command. `decoded` is everything the caller asked for, in a form that does not depend on spelling;
    /// which verb it turns into counts for nothing, so that two bodies of one route never are two requests.
    pub fn of(&self, listing: &ListingId, buyer: Option<&BuyerId>, decoded: &impl Serialize) -> Key {
        let buyer = buyer.map(BuyerId::as_str);
        Key {
            // The path names the listing, except where the body does: records are kept by listing.
            scope: self.scope(listing.tenant, &listing_text(listing)),
            fingerprint: fingerprint(&(buyer, decoded)),
        }
    }

    /// The same for what no listing is: answers of keys, tenants and people are kept by their own room.
    pub fn in_access(&self, tenant: Tenant, decoded: &impl Serialize) -> answers::Request {
        let fingerprint = hashed(|bytes| {
            let written = serde_json::to_writer(bytes, decoded);
            debug_assert!(written.is_ok());
        });
        answers::Request { scope: hashed(|bytes| self.write_scope(bytes, tenant, "")), fingerprint }
    }

    /// The number of a listing that is created under this key: the same key names the same listing for ever.
    pub fn listing_number(&self, tenant: Tenant, kind: ListingKind) -> u64 {
        self.scope(tenant, kind.prefix()) as u64 % LISTING_NUMBERS
    }

    /// The same for what concerns no listing. `asked` is what was asked for without passwords and tokens: it is stored as a
    /// hash that is made quickly.
    pub fn request(&self, tenant: Tenant, asked: &impl Serialize) -> answers::Request {
        let mut scope = Vec::with_capacity(HASHED_BYTES);
        self.write_scope(&mut scope, tenant, "");
        let asked = serde_json::to_vec(asked).unwrap_or_default();
        answers::Request { scope: Sha256::digest(scope).into(), fingerprint: Sha256::digest(asked).into() }
    }

    fn scope(&self, tenant: Tenant, listing: &str) -> u128 {
        first_128(|bytes| self.write_scope(bytes, tenant, listing))
    }

    fn write_scope(&self, bytes: &mut Vec<u8>, tenant: Tenant, listing: &str) {
        write_part(bytes, &tenant.number().to_be_bytes());
        for part in [&*self.family, listing, &self.text, self.method.as_str()] {
            write_part(bytes, part.as_bytes());
        }
        for word in self.path.split('/') {
            write_part(bytes, &percent_decoded(word));
        }
    }
}

/// The number of the listing that its merchant calls so.
pub fn named_number(tenant: Tenant, kind: ListingKind, external_id: &str) -> u64 {
    let hash = first_128(|bytes| {
        write_part(bytes, &tenant.number().to_be_bytes());
        for part in ["external_id", kind.prefix(), external_id] {
            write_part(bytes, part.as_bytes());
        }
    });
    hash as u64 % LISTING_NUMBERS
}

fn write_part(bytes: &mut Vec<u8>, part: &[u8]) {
    bytes.extend_from_slice(&(part.len() as u64).to_be_bytes());
    bytes.extend_from_slice(part);
}

/// A word of a path as the router hands it to its route.
fn percent_decoded(word: &str) -> Cow<'_, [u8]> {
    let bytes = word.as_bytes();
    if !bytes.contains(&b'%') {
        return Cow::Borrowed(bytes);
    }
    let digit = |at: usize| char::from(*bytes.get(at)?).to_digit(16);
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        match (bytes[at], digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                decoded.push((high * 16 + low) as u8);
                at += 3;
            }
            (byte, _, _) => {
                decoded.push(byte);
                at += 1;
            }
        }
    }
    Cow::Owned(decoded)
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
    let mut first = [0; 16];
    first.copy_from_slice(&hashed(write)[..16]);
    u128::from_be_bytes(first)
}

fn hashed(write: impl FnOnce(&mut Vec<u8>)) -> [u8; 32] {
    let mut bytes = Vec::with_capacity(HASHED_BYTES);
    write(&mut bytes);
    Sha256::digest(&bytes).into()
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

    const HOLDS: &str = "/v1/events/evt_0000000000000001/holds";

    fn listing(number: u64) -> ListingId {
        ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Event, number }
    }

    fn route(text: &str, method: Method, path: &str) -> RouteKey {
        RouteKey::new(text.to_owned(), "key:house".into(), &method, path)
    }

    /// Journals hold these numbers: whoever changes them makes old keys unknown.
    #[test]
    fn keys_are_hashed_today_as_they_were_yesterday() {
        let ann = BuyerId::parse("ann");
        let key = route("k", Method::POST, HOLDS).of(&listing(1), ann.as_ref(), &("body", [1]));
        assert_eq!(key.scope, 198_271_817_093_040_789_643_763_198_390_819_381_998);
        assert_eq!(key.fingerprint, 6_478_678_850_479_406_840_059_986_904_546_002_202);
    }

    /// Listings were given these numbers: whoever changes them gives a name a second time.
    #[test]
    fn a_name_is_the_same_number_today_as_yesterday_and_another_for_each_kind() {
        let number = |kind, name| named_number(Tenant::DEFAULT, kind, name);
        let known = number(ListingKind::Event, "shop-7");
        assert_eq!(known, 574_894_277_725_795_688);
        assert_ne!(known, number(ListingKind::Sale, "shop-7"));
        assert_ne!(known, number(ListingKind::Event, "shop-8"));
    }

    #[test]
    fn every_part_of_the_scope_counts() {
        let ann = BuyerId::parse("ann");
        let key = |route: RouteKey, number| route.of(&listing(number), ann.as_ref(), &"body");
        let base = key(route("k", Method::POST, HOLDS), 1);
        let others = [
            key(route("l", Method::POST, HOLDS), 1),
            key(route("k", Method::POST, HOLDS), 2),
            key(route("k", Method::PATCH, HOLDS), 1),
            key(route("k", Method::POST, &format!("{HOLDS}/x")), 1),
            key(route("k", Method::POST, &HOLDS.replacen("/holds", "%2Fholds", 1)), 1),
        ];
        for other in others {
            assert_ne!(other.scope, base.scope);
            assert_eq!(other.fingerprint, base.fingerprint);
        }
        let spelled = key(route("k", Method::POST, &HOLDS.replacen("evt", "%65vt", 1)), 1);
        assert_eq!(spelled, base);
    }

    #[test]
    fn another_body_or_buyer_is_another_request_of_the_same_scope() {
        let (ann, bob) = (BuyerId::parse("ann"), BuyerId::parse("bob"));
        let route = route("k", Method::POST, HOLDS);
        let base = route.of(&listing(1), ann.as_ref(), &"body");
        let others = [
            route.of(&listing(1), ann.as_ref(), &"else"),
            route.of(&listing(1), bob.as_ref(), &"body"),
            route.of(&listing(1), None, &"body"),
        ];
        for other in others {
            assert_eq!(other.scope, base.scope);
            assert_ne!(other.fingerprint, base.fingerprint);
        }
    }
}
