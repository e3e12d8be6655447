//! Idempotency records: who asked what under which key, and where the facts of the first answer stand.
//! Written in the same step as the facts and rebuilt from them, so no crash leaves one without the other.

use std::collections::VecDeque;
use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};
use onsale_domain::Millis;
use onsale_domain::listing::Key;

/// How long a record of an unsealed verb is kept.
pub const UNSEALED_MS: Millis = 3_600_000;
/// How long a record of a sealed verb is kept.
pub const SEALED_MS: Millis = 24 * 3_600_000;

/// Where the facts of a yes stand. 48 bytes: there may be ten million of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    scope: [u64; 2],
    fingerprint: [u64; 2],
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
            fingerprint: halves(key.fingerprint),
            at_and_listing: (at as u64) << LISTINGS_MAX.trailing_zeros() | u64::from(listing),
            first_and_facts: first << FACTS_BITS | u64::from(facts),
        }
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

    pub fn key(&self) -> Key {
        Key { scope: whole(self.scope), fingerprint: whole(self.fingerprint) }
    }
}

fn halves(number: u128) -> [u64; 2] {
    [(number >> 64) as u64, number as u64]
}

fn whole(halves: [u64; 2]) -> u128 {
    u128::from(halves[0]) << 64 | u128::from(halves[1])
}

/// One shard's records. Two rings in order of age, and a table of their running numbers.
#[derive(Debug)]
pub struct Dedup {
    unsealed: Ring,
    sealed: Ring,
    /// Running numbers; the lowest bit tells the ring.
    table: Box<[HashTable<u32>; TABLES]>,
    len: usize,
    hasher: DefaultHashBuilder,
    bound: usize,
    /// How long the youngest record that had to make room had been kept.
    pub shortest_window_ms: Option<u64>,
}

/// Records in order of age, in chunks: a large ring neither moves nor keeps room for twice as many.
#[derive(Debug, Default)]
struct Ring {
    chunks: VecDeque<Vec<Record>>,
    /// The running number of the first chunk's first cell.
    base: u32,
    /// Cells of the first chunk whose records are forgotten.
    gone: u32,
    len: usize,
    /// Records ever forgotten: the place in history of the first one that is kept.
    forgotten: u64,
}

/// Records in a chunk of a ring; 48 KiB.
const CHUNK: u32 = 1_024;
/// The records' numbers lie in so many tables: when one must grow, all the others' callers do not wait for it.
const TABLES: usize = 64;
/// Running numbers count up to this and start again; no ring is ever as long.
const NUMBERS: u32 = 1 << 31;

impl Ring {
    fn first(&self) -> Option<&Record> {
        self.chunks.front()?.get(self.gone as usize)
    }

    fn first_number(&self) -> u32 {
        (self.base + self.gone) % NUMBERS
    }

    /// The record with this running number.
    fn at(&self, number: u32) -> &Record {
        let cell = (number + NUMBERS - self.base) % NUMBERS;
        &self.chunks[(cell / CHUNK) as usize][(cell % CHUNK) as usize]
    }

    /// Adds the youngest record and returns its running number.
    fn push(&mut self, record: Record) -> u32 {
        let number = ((u64::from(self.first_number()) + self.len as u64) % u64::from(NUMBERS)) as u32;
        self.len += 1;
        match self.chunks.back_mut() {
            Some(last) if last.len() < CHUNK as usize => last.push(record),
            Some(_) => {
                let mut chunk = Vec::with_capacity(CHUNK as usize);
                chunk.push(record);
                self.chunks.push_back(chunk);
            }
            // The first chunk grows as it must: many a shard has few.
            None => self.chunks.push_back(vec![record]),
        }
        number
    }

    fn pop(&mut self) -> Option<Record> {
        let record = *self.first()?;
        self.len -= 1;
        self.forgotten += 1;
        self.gone += 1;
        if self.gone == CHUNK {
            self.chunks.pop_front();
            self.base = (self.base + CHUNK) % NUMBERS;
            self.gone = 0;
        }
        Some(record)
    }

    /// Up to `limit` records from a place in history on, and the place behind them.
    fn page(&self, from: u64, limit: usize) -> (impl Iterator<Item = &Record>, u64) {
        let from = from.max(self.forgotten);
        let skipped = (from - self.forgotten) as usize;
        let count = self.len.saturating_sub(skipped).min(limit);
        let first = self.gone as usize + skipped;
        let cells = first..first + count;
        let record = |cell: usize| &self.chunks[cell / CHUNK as usize][cell % CHUNK as usize];
        (cells.map(record), from + count as u64)
    }
}

impl Dedup {
    pub fn new(bound: usize) -> Dedup {
        Dedup {
            unsealed: Ring::default(),
            sealed: Ring::default(),
            table: Box::new([const { HashTable::new() }; TABLES]),
            len: 0,
            hasher: DefaultHashBuilder::default(),
            bound,
            shortest_window_ms: None,
        }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub fn find(&self, scope: u128, now: Millis) -> Option<&Record> {
        let scope = halves(scope);
        let hash = self.hasher.hash_one(scope);
        let number = self.table[part(hash)].find(hash, |number| self.at(*number).scope == scope)?;
        let kept = if number & 1 == 1 { SEALED_MS } else { UNSEALED_MS };
        Some(self.at(*number)).filter(|record| now - record.at() < kept)
    }

    /// Keeps a record; what is too much goes first.
    pub fn insert(&mut self, record: Record, sealed: bool) {
        while self.len >= self.bound {
            let out_of_unsealed = self.unsealed.len > 0;
            let lost = self.forget_first(!out_of_unsealed);
            let kept = (record.at() - lost.at()).max(0) as u64;
            self.shortest_window_ms = Some(self.shortest_window_ms.map_or(kept, |known| known.min(kept)));
        }
        let hash = self.hasher.hash_one(record.scope);
        // The same scope again means its old record has run out: the new one takes over.
        let (unsealed_ring, sealed_ring) = (&self.unsealed, &self.sealed);
        let same = |number: &u32| at(unsealed_ring, sealed_ring, *number).scope == record.scope;
        if let Ok(old) = self.table[part(hash)].find_entry(hash, same) {
            old.remove();
            self.len -= 1;
        }
        let ring = if sealed { &mut self.sealed } else { &mut self.unsealed };
        let number = ring.push(record) << 1 | u32::from(sealed);
        let (hasher, unsealed, sealed) = (&self.hasher, &self.unsealed, &self.sealed);
        let scope_of = |number: &u32| at(unsealed, sealed, *number).scope;
        self.table[part(hash)].insert_unique(hash, number, |number| hasher.hash_one(scope_of(number)));
        self.len += 1;
    }

    /// Whether this very record is here; recovery may meet one twice.
    pub fn has(&self, record: &Record) -> bool {
        let hash = self.hasher.hash_one(record.scope);
        self.table[part(hash)].find(hash, |number| self.at(*number) == record).is_some()
    }

    /// Drops what has been kept long enough by the clock. Not by a record's own time: a listing's may run
    /// ahead of the clock, and would take the fresh records of others with it.
    pub fn forget_old(&mut self, now: Millis) {
        for (sealed, kept) in [(false, UNSEALED_MS), (true, SEALED_MS)] {
            let is_old = |record: Option<&Record>| record.is_some_and(|record| now - record.at() >= kept);
            while is_old(if sealed { self.sealed.first() } else { self.unsealed.first() }) {
                self.forget_first(sealed);
            }
        }
    }

    fn forget_first(&mut self, sealed: bool) -> Record {
        let ring = if sealed { &mut self.sealed } else { &mut self.unsealed };
        let number = ring.first_number() << 1 | u32::from(sealed);
        let record = ring.pop().expect("a ring that is not empty has a first record");
        let scope = record.scope;
        let hash = self.hasher.hash_one(scope);
        if let Ok(entry) = self.table[part(hash)].find_entry(hash, |known| *known == number) {
            entry.remove();
            self.len -= 1;
        }
        record
    }

    /// Up to `limit` records of one ring, oldest first, behind the place where the last page ended.
    pub fn page(&self, sealed: bool, from: u64, limit: usize) -> (impl Iterator<Item = &Record>, u64) {
        if sealed { self.sealed.page(from, limit) } else { self.unsealed.page(from, limit) }
    }

    fn at(&self, number: u32) -> &Record {
        at(&self.unsealed, &self.sealed, number)
    }
}

/// Which table a hash belongs to, by bits that the table itself looks at last.
fn part(hash: u64) -> usize {
    (hash >> 32) as usize % TABLES
}

fn at<'a>(unsealed: &'a Ring, sealed: &'a Ring, number: u32) -> &'a Record {
    if number & 1 == 1 { sealed.at(number >> 1) } else { unsealed.at(number >> 1) }
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
        assert!(dedup.find(1, UNSEALED_MS - 1).is_some());
        assert!(dedup.find(1, UNSEALED_MS).is_none());
        assert!(dedup.find(2, SEALED_MS - 1).is_some());
        assert!(dedup.find(2, SEALED_MS).is_none());
        dedup.forget_old(SEALED_MS - 1);
        assert_eq!(dedup.len(), 1);
        dedup.forget_old(SEALED_MS);
        assert!(dedup.is_empty());
    }

    #[test]
    fn a_listing_ahead_of_the_clock_does_not_cost_others_their_records() {
        let mut dedup = Dedup::new(10);
        dedup.insert(record(1, 1_000), false);
        dedup.insert(record(2, 1_000 + SEALED_MS), false);
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

    #[test]
    fn running_numbers_start_again_and_chunks_come_and_go() {
        let mut dedup = Dedup::new(3_000);
        dedup.unsealed.base = NUMBERS - 2_048;
        for scope in 0..10_000u128 {
            dedup.insert(record(scope, scope as Millis), false);
            let oldest = scope.saturating_sub(2_999);
            assert_eq!(dedup.find(oldest, 0).map(|record| record.first()), Some(oldest as u64));
            assert!(scope < 3_000 || dedup.find(oldest - 1, 0).is_none());
        }
        let (page, next) = dedup.page(false, 0, 1_500);
        assert!(page.map(|record| record.first()).eq(7_000..8_500));
        dedup.insert(record(10_000, 0), false);
        let (page, next) = dedup.page(false, next, 9_999);
        assert!(page.map(|record| record.first()).eq(8_500..10_001));
        assert_eq!(dedup.page(false, next, 10).0.count(), 0);
    }
}
