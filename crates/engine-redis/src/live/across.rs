//! Names of keys that follow from facts, most of them across listings: `derive` writes them and they never decide.
//! Losing all of them costs a scan at the next start and a slower sweep.

use onsale_domain::{BuyerId, ListingId, Tenant};

use crate::keys::Keys;
use crate::link::slot;

/// Wake-ups go over so many channels, which a Cluster spreads over its masters.
const CHANNELS: u16 = 16;

/// Names under one prefix.
#[derive(Clone, Debug)]
pub(crate) struct Across {
    prefix: String,
}

impl Across {
    pub(crate) fn new(prefix: &str) -> Across {
        Across { prefix: prefix.to_owned() }
    }

    /// A sorted set of all listings' ids, by when they were put there.
    pub(crate) fn listings(&self) -> String {
        Keys::index(&self.prefix)
    }

    /// A sorted set of listings by their next deadline.
    pub(crate) fn due(&self) -> String {
        format!("{}due", self.prefix)
    }

    /// A sorted set of the events in which a buyer holds something, by the last deadline. What could move a slot or
    /// forge a key in a buyer's name is escaped.
    pub(crate) fn user_locks(&self, tenant: Tenant, buyer: &BuyerId) -> String {
        self.of_buyer("user:locks", tenant, buyer)
    }

    /// When a buyer last bought something, in milliseconds.
    pub(crate) fn last_purchase(&self, tenant: Tenant, buyer: &BuyerId) -> String {
        self.of_buyer("user:last_purchase", tenant, buyer)
    }

    fn of_buyer(&self, name: &str, tenant: Tenant, buyer: &BuyerId) -> String {
        let mut key = format!("{}{name}:{}:", self.prefix, tenant);
        for byte in buyer.as_str().bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' | b'.' | b'@' => {
                    key.push(char::from(byte))
                }
                other => key.push_str(&format!("%{other:02x}")),
            }
        }
        key
    }

    /// The sale that is on now.
    pub(crate) fn active_sale(&self, tenant: Tenant) -> String {
        format!("{}active_sale_id:{}", self.prefix, tenant)
    }

    /// A sorted set of the auctions that are not over, by their end.
    pub(crate) fn active_auctions(&self, tenant: Tenant) -> String {
        format!("{}auctions:active:{}", self.prefix, tenant)
    }

    /// A set of the auctions in which a bid of this buyer stands.
    pub(crate) fn active_bids(&self, tenant: Tenant, buyer: &BuyerId) -> String {
        self.of_buyer("user:active_bids", tenant, buyer)
    }

    /// Counts of one event, a hash.
    pub(crate) fn stats(&self, listing: &ListingId) -> String {
        format!("{}event:stats:{{{listing}}}", self.prefix)
    }

    /// The last refused attempts of a listing, a list, and how many there were by code, a hash.
    pub(crate) fn attempts(&self, listing: &ListingId) -> String {
        format!("{}attempts:{{{listing}}}", self.prefix)
    }

    pub(crate) fn attempt_counts(&self, listing: &ListingId) -> String {
        format!("{}attempts:counts:{{{listing}}}", self.prefix)
    }

    /// The lease of the server that writes what follows from facts.
    pub(crate) fn writer(&self) -> String {
        format!("{}derived:writer", self.prefix)
    }

    /// Where a listing's wake-ups are published.
    pub(crate) fn channel(&self, listing: &ListingId) -> String {
        self.numbered(slot::slot(listing.to_string().as_bytes()) % CHANNELS)
    }

    pub(crate) fn channels(&self) -> impl Iterator<Item = String> + use<'_> {
        (0..CHANNELS).map(|number| self.numbered(number))
    }

    fn numbered(&self, number: u16) -> String {
        format!("{}wake:{{{number}}}", self.prefix)
    }

    /// The listing whose marker a key is.
    pub(crate) fn of_marker(&self, key: &str) -> Option<ListingId> {
        Keys::of_marker(key.strip_prefix(&self.prefix)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use onsale_domain::ListingKind;

    #[test]
    fn a_buyers_name_moves_no_slot_and_forges_no_key() {
        let across = Across::new("house:");
        let key = |name: &str| across.user_locks(Tenant::DEFAULT, &BuyerId::parse(name).expect("a buyer"));
        assert!(key("ann@example.org").ends_with(":ann@example.org"));
        for hostile in ["{a}", "a:b", "a b", "a%7b", "é"] {
            let key = key(hostile);
            assert!(!key.contains(['{', '}', ' ', '\n']), "{key}");
            assert_eq!(key.matches(':').count(), 4, "{key}");
        }
        assert_ne!(key("a%7b"), key("a{"));
    }

    #[test]
    fn a_listing_is_found_in_its_keys() {
        let across = Across::new("house:");
        for kind in ListingKind::ALL {
            let listing = ListingId { tenant: Tenant::DEFAULT, kind, number: 7 };
            let keys = Keys::new("house:", &listing);
            assert_eq!(across.of_marker(keys.marker()), Some(listing));
            assert_eq!(Across::new("other:").of_marker(keys.marker()), None);
        }
    }
}
