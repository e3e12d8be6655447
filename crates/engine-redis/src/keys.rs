//! The names of a listing's keys: a fixed set, all with the listing's id as hash tag, so that one script finds
//! them in one slot. Their order is the order of KEYS in every script; `docs/redis-keys.md` says what they hold.

use onsale_domain::{ListingId, ListingKind};

/// How many keys a listing has; the idempotency key comes behind them.
pub const KEYS: usize = 12;

/// The part of a name before the hash tag, by its place in KEYS (from 1 on).
const NAMES: [&str; KEYS] = [
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

/// The place of the stream of facts among the keys.
const FACTS: usize = 9;
const META: usize = 0;
const HEAD: usize = 1;
const DUE: usize = 6;
const MARKER: usize = 10;

/// All keys of one listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keys {
    all: [String; KEYS],
    idem: String,
}

impl Keys {
    /// `prefix` comes before every name, so that several houses can share a server; it may be empty.
    pub fn new(prefix: &str, listing: &ListingId) -> Keys {
        let name = |name: &'static str| match listing.kind {
            // No listing of the other kinds is kept here yet.
            ListingKind::Event
            | ListingKind::Sale
            | ListingKind::Series
            | ListingKind::Registration
            | ListingKind::Auction
            | ListingKind::Desk => name,
            // A venue has four of them: its head in the place of locks, its layouts in that of orders.
            ListingKind::Venue => match name {
                "event:meta" => "venue:meta",
                "seat:locks" => "venue:head",
                "event:orders" => "venue:layouts",
                "event:facts" => "venue:facts",
                _ => name,
            },
        };
        Keys {
            all: NAMES.map(|known| format!("{prefix}{}:{{{listing}}}", name(known))),
            idem: format!("{prefix}idem:v1:{{{listing}}}:"),
        }
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

    /// The few that a plain hold needs.
    pub fn of_plain_hold(prefix: &str, listing: &ListingId, scope: u128) -> Vec<String> {
        let [locks, due, facts] = [NAMES[HEAD], NAMES[DUE], NAMES[FACTS]];
        vec![
            format!("{prefix}{locks}:{{{listing}}}"),
            format!("{prefix}{due}:{{{listing}}}"),
            format!("{prefix}{facts}:{{{listing}}}"),
            format!("{prefix}idem:v1:{{{listing}}}:{scope:032x}"),
        ]
    }

    /// Where the answer under an idempotency key, or under an operation id of our own, is remembered.
    pub fn idem(&self, scope: u128) -> String {
        format!("{}{scope:032x}", self.idem)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use onsale_domain::{ListingKind, Tenant};

    #[test]
    fn every_key_carries_the_listing_as_its_hash_tag() {
        let listing = ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Event, number: 7 };
        let keys = Keys::new("house-1:", &listing);
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
