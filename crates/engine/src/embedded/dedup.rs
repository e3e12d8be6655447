//! Idempotency records: who asked what under which key, and where the facts of the first answer stand.
//! Written in the same step as the facts and rebuilt from them, so no crash leaves one without the other.

use std::hash::BuildHasher;

use hashbrown::DefaultHashBuilder;
use onsale_compact::recall::{self, Recall};
use onsale_domain::Millis;
use onsale_domain::limits::{KEY_MS, SEALED_KEY_MS};
use onsale_domain::listing::Key;

/// Where the facts of a yes stand. 40 bytes: there may be ten million of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    scope: [u64; 2],
    /// Half of the fingerprint: it only tells one caller's own requests apart.
    fingerprint: u64,
    /// 43 bits of time, until the year 2248, and 21 bits of listing.
    at_and_listing: u64,
    /// The first fact's offset, below 2^40 as fences demand, and 24 bits for how many there are.
    first_and_facts: u64,
}

/// How many listings a shard can tell apart in its records.
pub const LISTINGS_MAX: u32 = 1 << 21;
const FACTS_BITS: u32 = 24;

impl Record {
    pub fn new(key: Key, at: Millis, listing: u32, first: u64, facts: u32) -> Record {
        assert!(
            listing < LISTINGS_MAX && first < 1 << 40 && facts < 1 << FACTS_BITS,
            "a record's fields fit"
        );
        Record {
            scope: halves(key.scope),
            fingerprint: key.fingerprint as u64,
            at_and_listing: (at as u64) << LISTINGS_MAX.trailing_zeros() | u64::from(listing),
            first_and_facts: first << FACTS_BITS | u64::from(facts),
        }
    }

    /// Whether this very command was answered under the key.
    pub fn is_of(&self, key: Key) -> bool {
        self.scope == halves(key.scope) && self.fingerprint == key.fingerprint as u64
    }

    /// When the yes was given.
    pub fn at(&self) -> Millis {
        (self.at_and_listing >> LISTINGS_MAX.trailing_zeros()) as Millis
    }

    /// The listing's index in its shard.
    pub fn listing(&self) -> u32 {
        (self.at_and_listing & u64::from(LISTINGS_MAX - 1)) as u32
    }

    /// The offset of the first fact.
    pub fn first(&self) -> u64 {
        self.first_and_facts >> FACTS_BITS
    }

    pub fn facts(&self) -> u32 {
        (self.first_and_facts & ((1 << FACTS_BITS) - 1)) as u32
    }

    pub fn scope(&self) -> (u64, u64) {
        self.scope.into()
    }

    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }
}

fn halves(number: u128) -> [u64; 2] {
    [(number >> 64) as u64, number as u64]
}

/// One shard's records.
#[derive(Debug)]
pub struct Dedup {
    unsealed: Recall<Record>,
    sealed: Recall<Record>,
    hasher: DefaultHashBuilder,
    bound: usize,
    /// How long the youngest record that had to make room had been kept.
    pub shortest_window_ms: Option<u64>,
}

impl Dedup {
    pub fn new(bound: usize) -> Dedup {
        Dedup {
            unsealed: Recall::default(),
            sealed: Recall::default(),
            hasher: DefaultHashBuilder::default(),
            bound: bound.min(recall::LEN_MAX),
            shortest_window_ms: None,
        }
    }

    pub fn len(&self) -> usize {
        self.unsealed.len() + self.sealed.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn find(&self, scope: u128, now: Millis) -> Option<&Record> {
        let scope = halves(scope);
        let hash = self.hasher.hash_one(scope);
        let young = |record: &&Record, kept: Millis| now - record.at() < kept;
        let is = |record: &Record| record.scope == scope;
        let unsealed = self.unsealed.find(hash, is).filter(|record| young(record, KEY_MS));
        unsealed.or_else(|| self.sealed.find(hash, is).filter(|record| young(record, SEALED_KEY_MS)))
    }

    /// What [`find`](Dedup::find) will look at; see [`Recall::far`].
    pub fn far(&self, scope: u128) -> [Option<&u32>; 2] {
        let hash = self.hasher.hash_one(halves(scope));
        [self.unsealed.far(hash), self.sealed.far(hash)]
    }

    /// Keeps a record; what is too much goes first. The same scope again means its old record has run out: the new
    /// one takes over.
    pub fn insert(&mut self, record: Record, sealed: bool) {
        while self.len() >= self.bound {
            let Some(lost) = self.forget_first(self.unsealed.is_empty()) else { break };
            let kept = (record.at() - lost.at()).max(0) as u64;
            self.shortest_window_ms = Some(self.shortest_window_ms.map_or(kept, |known| known.min(kept)));
        }
        let hash = self.hasher.hash_one(record.scope);
        let records = if sealed { &mut self.sealed } else { &mut self.unsealed };
        records.remember(hash, record, |known| known.scope == record.scope);
    }

    /// Whether this very record is here; recovery may meet one twice.
    pub fn has(&self, record: &Record) -> bool {
        let hash = self.hasher.hash_one(record.scope);
        [&self.unsealed, &self.sealed]
            .iter()
            .any(|records| records.find(hash, |known| known == record).is_some())
    }

    /// Drops what has been kept long enough by the clock. Not by a record's own time: a listing's may run
    /// ahead of the clock, and would take the fresh records of others with it.
    pub fn forget_old(&mut self, now: Millis) {
        for (sealed, kept) in [(false, KEY_MS), (true, SEALED_KEY_MS)] {
            let is_old = |record: Option<&Record>| record.is_some_and(|record| now - record.at() >= kept);
            while is_old(if sealed { self.sealed.oldest() } else { self.unsealed.oldest() }) {
                self.forget_first(sealed);
            }
        }
    }

    fn forget_first(&mut self, sealed: bool) -> Option<Record> {
        let records = if sealed { &mut self.sealed } else { &mut self.unsealed };
        let hasher = &self.hasher;
        records.forget_oldest(|record| hasher.hash_one(record.scope))
    }

    /// Up to `limit` records of one kind, oldest first, behind the place where the last page ended.
    pub fn page(&self, sealed: bool, from: u64, limit: usize) -> (impl Iterator<Item = &Record>, u64) {
        if sealed { self.sealed.page(from, limit) } else { self.unsealed.page(from, limit) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(scope: u128, at: Millis) -> Record {
        Record::new(Key { scope, fingerprint: scope ^ 1 }, at, 0, scope as u64, 1)
    }

    #[test]
    fn a_record_is_kept_an_hour_and_a_sealed_one_a_day() {
        let mut dedup = Dedup::new(10);
        dedup.insert(record(1, 0), false);
        dedup.insert(record(2, 0), true);
        assert!(dedup.find(1, KEY_MS - 1).is_some());
        assert!(dedup.find(1, KEY_MS).is_none());
        assert!(dedup.find(2, SEALED_KEY_MS - 1).is_some());
        assert!(dedup.find(2, SEALED_KEY_MS).is_none());
        dedup.forget_old(SEALED_KEY_MS - 1);
        assert_eq!(dedup.len(), 1);
        dedup.forget_old(SEALED_KEY_MS);
        assert!(dedup.is_empty());
    }

    #[test]
    fn a_listing_ahead_of_the_clock_does_not_cost_others_their_records() {
        let mut dedup = Dedup::new(10);
        dedup.insert(record(1, 1_000), false);
        dedup.insert(record(2, 1_000 + SEALED_KEY_MS), false);
        dedup.forget_old(2_000);
        assert!(dedup.find(1, 2_000).is_some());
    }

    #[test]
    fn at_the_bound_the_oldest_unsealed_go_first() {
        let mut dedup = Dedup::new(3);
        dedup.insert(record(1, 0), true);
        dedup.insert(record(2, 1), false);
        dedup.insert(record(3, 2), false);
        dedup.insert(record(4, 10), false);
        assert!(dedup.find(2, 10).is_none());
        assert!(dedup.find(1, 10).is_some() && dedup.find(3, 10).is_some() && dedup.find(4, 10).is_some());
        assert_eq!(dedup.shortest_window_ms, Some(9));
        for scope in 5..50 {
            dedup.insert(record(scope, 20), true);
        }
        assert_eq!(dedup.len(), 3);
    }
}
