//! The names of a listing's keys: a fixed set, all with the listing's id as hash tag, so that one script finds
//! them in one slot. Their order is the order of KEYS in every script; `docs/redis-keys.md` says what they hold.

use onsale_domain::id::write_base32;
use onsale_domain::{ListingId, ListingKind};

use crate::kinds;

/// How many keys a listing has; the idempotency key comes behind them.
pub const KEYS: usize = 12;

/// The part of a name before the hash tag, by its place in KEYS (from 1 on).
const EVENT: [&str; KEYS] = [
    "event:meta",
    "seat:locks",
    "seat:queue",
    "event:holds",
    "event:orders",
    "event:open_orders",
    "event:due",
    "event:ended",
    "seat:chart",
    "event:facts",
    "event:marker",
    "event:due_chunks",
];

/// A kind's own names stand with the kind; what it has no use for it never writes.
fn name(kind: ListingKind, place: usize) -> &'static str {
    kinds::own_keys(kind).iter().find(|(known, _)| *known == place).map_or(EVENT[place], |(_, name)| name)
}

/// As the command TYPE tells them, by their place in KEYS.
fn types(kind: ListingKind) -> [&'static str; KEYS] {
    let mut all = [
        "hash", "hash", "hash", "hash", "hash", "zset", "zset", "zset", "string", "stream", "string", "hash",
    ];
    kinds::sorted(kind).iter().for_each(|place| all[*place] = "zset");
    all
}

/// The place of the stream of facts among the keys.
pub(crate) const FACTS: usize = 9;
pub(crate) const META: usize = 0;
pub(crate) const HEAD: usize = 1;
pub(crate) const QUEUE: usize = 2;
pub(crate) const HOLDS: usize = 3;
pub(crate) const ORDERS: usize = 4;
pub(crate) const OPEN: usize = 5;
pub(crate) const DUE: usize = 6;
pub(crate) const ENDED: usize = 7;
pub(crate) const MARKER: usize = 10;
/// The idempotency key, behind those of the listing.
pub(crate) const IDEM: usize = KEYS;

/// All keys of one listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keys {
    all: [String; KEYS],
    idem: String,
}

impl Keys {
    /// `prefix` comes before every name, so that several houses can share a server; the configuration demands one.
    pub fn new(prefix: &str, listing: &ListingId) -> Keys {
        let key = |place| format!("{prefix}{}:{{{listing}}}", name(listing.kind, place));
        Keys { all: std::array::from_fn(key), idem: format!("{prefix}idem:v1:{{{listing}}}:") }
    }

    pub fn all(&self) -> &[String; KEYS] {
        &self.all
    }

    pub fn meta(&self) -> &str {
        &self.all[META]
    }

    /// The hash whose field `head` is the listing's position and status in one line.
    pub fn head(&self) -> &str {
        &self.all[HEAD]
    }

    pub fn facts(&self) -> &str {
        &self.all[FACTS]
    }

    /// Its TTL ends at the listing's next deadline: a notification of its end is a wake-up, never the truth.
    pub fn marker(&self) -> &str {
        &self.all[MARKER]
    }

    /// The keys as a script takes them, with the one of the command behind.
    pub fn with_idem(&self, scope: Option<u128>) -> Vec<String> {
        // Without a key the script looks at none; a name in the same slot keeps the order.
        let idem = scope.map_or_else(|| self.meta().to_owned(), |scope| self.idem(scope));
        self.all.iter().cloned().chain([idem]).collect()
    }

    /// The few that the short script of its kind needs.
    pub fn of_plain(prefix: &str, listing: &ListingId, scope: u128) -> Vec<String> {
        let key = |place: &usize| match *place {
            IDEM => format!("{prefix}idem:v1:{{{listing}}}:{}", key_text(scope)),
            place => format!("{prefix}{}:{{{listing}}}", name(listing.kind, place)),
        };
        kinds::plain_keys(listing.kind).iter().map(key).collect()
    }

    /// The listing whose key at this place, its meta or its marker, a key is.
    fn listing_of(key: &str, place: usize) -> Option<ListingId> {
        let (named, tag) = key.split_once(":{")?;
        let listing = ListingId::parse(tag.strip_suffix('}')?)?;
        (name(listing.kind, place) == named).then_some(listing)
    }

    /// The listing whose meta this is; the prefix is taken off.
    pub fn of_meta(key: &str) -> Option<ListingId> {
        Keys::listing_of(key, META)
    }

    pub fn of_marker(key: &str) -> Option<ListingId> {
        Keys::listing_of(key, MARKER)
    }

    /// What a scan for the metas of all listings matches, and some keys of others: `of_meta` tells them apart.
    pub fn meta_pattern(prefix: &str) -> String {
        // A prefix is text, not a pattern.
        let escaped: String = prefix.chars().flat_map(|one| ['\\', one]).collect();
        format!("{escaped}*:meta:{{*}}")
    }

    /// A sorted set of all listings' ids, by when they were put there. A hint: what it does not have is found by a scan.
    pub fn index(prefix: &str) -> String {
        format!("{prefix}listings")
    }

    /// Each key with the type that it has, if it is there.
    pub fn typed(&self, kind: ListingKind) -> impl Iterator<Item = (&String, &'static str)> {
        self.all.iter().zip(types(kind))
    }

    /// What is there only if a listing is, or was: its meta, its head, then the others. The rest is nothing by itself.
    pub fn of_listing(&self, kind: ListingKind) -> impl Iterator<Item = &String> {
        let loose = kinds::loose(kind);
        self.all.iter().enumerate().filter(|(place, _)| !loose.contains(place)).map(|(_, key)| key)
    }

    /// Where the answer under an idempotency key, or under an operation id of our own, is remembered.
    pub fn idem(&self, scope: u128) -> String {
        format!("{}{}", self.idem, key_text(scope))
    }
}

/// The scope of a key as text: 26 characters, six fewer than in base 16.
pub(crate) fn key_text(number: u128) -> String {
    String::from_utf8_lossy(&write_base32(number)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use onsale_domain::{ListingKind, Tenant};

    #[test]
    fn a_listing_is_found_by_its_meta_and_its_marker() {
        for kind in ListingKind::ALL {
            let listing = ListingId { tenant: Tenant::DEFAULT, kind, number: 7 };
            let keys = Keys::new("", &listing);
            assert_eq!(Keys::of_meta(keys.meta()), Some(listing));
            assert_eq!(Keys::of_marker(keys.marker()), Some(listing));
            assert_eq!((Keys::of_meta(keys.head()), Keys::of_marker(keys.meta())), (None, None));
        }
    }

    #[test]
    fn every_key_carries_the_listing_as_its_hash_tag() {
        for kind in ListingKind::ALL {
            carries_its_tag(&ListingId { tenant: Tenant::DEFAULT, kind, number: 7 });
        }
    }

    fn carries_its_tag(listing: &ListingId) {
        let keys = Keys::new("house-1:", listing);
        let tag = format!("{{{listing}}}");
        let idem = keys.idem(5);
        let mut seen = std::collections::BTreeSet::new();
        for key in keys.all().iter().chain([&idem]) {
            assert!(key.starts_with("house-1:") && key.contains(&tag), "{key}");
            assert_eq!(key.matches('{').count(), 1, "{key}");
            assert!(seen.insert(key.clone()), "{key} twice");
        }
    }
}
