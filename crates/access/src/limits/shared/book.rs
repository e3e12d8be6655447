//! The slices that one server holds: what it may still give of each bucket, what it has given in advance, what it will ask for next.
//! Pure: numbers and times come in, requests for the store go out.

use hashbrown::HashMap;

use super::{Bucket, Slice, SliceRequest};
use crate::limits::gcra::{Level, Micros, Rate};
use crate::limits::table::Charge;

/// Buckets that are known at the same time, some 200 bytes each. Who finds no room is counted by this server alone.
const ENTRIES_MAX: usize = 65_536;
/// A slice, and what is given before the store was ever asked, is an eighth of a burst: small against the limit, and asked for
/// eight times at most while a burst is spent.
const SLICES: u32 = 8;
/// Buckets in one round: some 30 ms of the store's time. The others are of the next.
const ROUND_MAX: usize = 8_192;
/// Tokens that nobody came for are lost, not given back: a lost one is there again with time, one given back twice would be one too
/// many.
const ON_HAND_US: Micros = 1_000_000;

#[derive(Debug, Default)]
pub(super) struct Book {
    entries: HashMap<u64, Entry>,
    /// Names of entries that the store must hear of.
    due: Vec<u64>,
    /// How often the store was asked.
    rounds: u64,
}

#[derive(Debug)]
struct Entry {
    bucket: Bucket,
    /// Charged in the store already.
    on_hand: u32,
    /// What may be given although the store knows nothing of it yet.
    credit: u32,
    /// Given on credit, not charged yet.
    spent: u32,
    /// Asked for since the last round.
    demand: u32,
    /// What the store had when it was last asked.
    remaining: u32,
    /// The store has none before that.
    next_at: Micros,
    /// Full again in the store: from then on this entry says nothing.
    full_at: Micros,
    used_at: Micros,
    is_due: bool,
}

/// What becomes of an attempt, as far as this server knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    Passed,
    Limited,
    /// Known when the store has answered that round.
    Lacking {
        round: u64,
    },
    /// No room to remember one more.
    Crowded,
}

/// One request of a round, and whose it is.
#[derive(Debug)]
pub(super) struct Asked {
    pub name: u64,
    pub request: SliceRequest,
}

/// The most that a server holds of a bucket, and the most that it gives in advance.
pub(super) fn slice_max(rate: Rate) -> u32 {
    (rate.burst() / SLICES).max(1)
}

impl Book {
    /// A token of each bucket, or of none.
    pub(super) fn take_all(
        &mut self,
        charges: &[Charge],
        bucket: impl Fn(&Charge) -> Bucket,
        levels: &mut [Level],
        now: Micros,
    ) -> Found {
        for charge in charges {
            if !self.entries.contains_key(&charge.name) {
                if self.entries.len() >= ENTRIES_MAX {
                    return Found::Crowded;
                }
                self.entries.insert(charge.name, Entry::new(bucket(charge), now));
            }
        }
        let (mut is_limited, mut is_lacking) = (false, false);
        for (charge, level) in charges.iter().zip(levels.iter_mut()) {
            let Some(entry) = self.entries.get_mut(&charge.name) else { continue };
            entry.lose_what_is_old(now);
            if entry.on_hand + entry.credit == 0 {
                is_limited |= now < entry.next_at;
                is_lacking |= now >= entry.next_at;
            }
            *level = entry.level(now);
        }
        if is_limited {
            return Found::Limited;
        }
        for (charge, level) in charges.iter().zip(levels.iter_mut()) {
            let Some(entry) = self.entries.get_mut(&charge.name) else { continue };
            if is_lacking && entry.on_hand + entry.credit > 0 {
                continue;
            }
            entry.demand += 1;
            if !is_lacking {
                entry.give(now);
                *level = entry.level(now);
            }
            if !entry.is_due && (is_lacking || entry.has_news()) {
                entry.is_due = true;
                self.due.push(charge.name);
            }
        }
        if is_lacking { Found::Lacking { round: self.rounds + 1 } } else { Found::Passed }
    }

    /// What the store is asked now, and the number of this round.
    pub(super) fn collect(&mut self) -> (u64, Vec<Asked>) {
        self.rounds += 1;
        let mut asked = Vec::with_capacity(self.due.len());
        for name in self.due.drain(..self.due.len().min(ROUND_MAX)) {
            let Some(entry) = self.entries.get_mut(&name) else { continue };
            entry.is_due = false;
            let demand = std::mem::take(&mut entry.demand);
            // As many again as came, for those who come until the next round.
            let wanted = demand.saturating_mul(2).min(slice_max(entry.bucket.rate));
            let request = SliceRequest {
                bucket: entry.bucket.clone(),
                spent: std::mem::take(&mut entry.spent),
                wanted: wanted.saturating_sub(entry.on_hand),
            };
            if request.spent + request.wanted > 0 {
                asked.push(Asked { name, request });
            }
        }
        (self.rounds, asked)
    }

    pub(super) fn take_in(&mut self, asked: &Asked, slice: Slice, now: Micros) {
        let Some(entry) = self.entries.get_mut(&asked.name) else { return };
        entry.on_hand += slice.granted;
        entry.credit = 0;
        entry.remaining = slice.level.remaining;
        entry.used_at = now;
        entry.full_at = now + slice.level.full_in_us;
        entry.next_at = now + slice.level.next_in_us;
    }

    /// The store did not answer. It may have charged what was spent: charging it again is the safe side.
    pub(super) fn put_back(&mut self, asked: &Asked) {
        let Some(entry) = self.entries.get_mut(&asked.name) else { return };
        entry.spent += asked.request.spent;
        if entry.spent > 0 && !entry.is_due {
            entry.is_due = true;
            self.due.push(asked.name);
        }
    }

    /// Forgets buckets that are full again.
    pub(super) fn sweep(&mut self, now: Micros) {
        self.entries.retain(|_, entry| entry.is_due || entry.spent > 0 || now < entry.full_at);
    }
}

impl Entry {
    fn new(bucket: Bucket, now: Micros) -> Entry {
        let credit = slice_max(bucket.rate);
        Entry {
            on_hand: 0,
            credit,
            spent: 0,
            demand: 0,
            remaining: bucket.rate.burst() - credit,
            next_at: 0,
            // Until the store says more: it may be as empty as it can be.
            full_at: now + bucket.rate.horizon_us,
            used_at: now,
            is_due: false,
            bucket,
        }
    }

    fn lose_what_is_old(&mut self, now: Micros) {
        if now.saturating_sub(self.used_at) > ON_HAND_US {
            self.on_hand = 0;
        }
    }

    fn give(&mut self, now: Micros) {
        self.used_at = now;
        if self.on_hand > 0 {
            self.on_hand -= 1;
        } else {
            self.credit -= 1;
            self.spent += 1;
        }
    }

    /// Whether the store would be asked for anything.
    fn has_news(&self) -> bool {
        self.spent > 0 || self.demand.saturating_mul(2).min(slice_max(self.bucket.rate)) > self.on_hand
    }

    fn level(&self, now: Micros) -> Level {
        let here = self.on_hand + self.credit;
        let next_in_us = if here > 0 { 0 } else { self.next_at.saturating_sub(now) };
        let full_in_us = self.full_at.saturating_sub(now);
        Level { remaining: here + self.remaining, next_in_us, full_in_us }
    }
}

#[cfg(test)]
mod tests {
    use onsale_domain::Tenant;

    use super::*;

    const SECOND: Micros = 1_000_000;

    fn charge(name: u64, burst: u32) -> Charge {
        Charge { name, rate: Rate::new(600, 60 * SECOND, burst), policy: 0 }
    }

    fn take(book: &mut Book, charges: &[Charge], now: Micros) -> Found {
        let bucket = |charge: &Charge| Bucket {
            tenant: Tenant::DEFAULT,
            name: "bid_user_60:ann".into(),
            rate: charge.rate,
        };
        let mut levels = [Level::default(); 6];
        book.take_all(charges, bucket, &mut levels[..charges.len()], now)
    }

    fn slice(granted: u32, remaining: u32, next_in_us: Micros) -> Slice {
        Slice { granted, level: Level { remaining, next_in_us, full_in_us: 10 * SECOND } }
    }

    /// What it asks for: spent and wanted.
    fn asks(asked: &[Asked]) -> Vec<(u32, u32)> {
        asked.iter().map(|asked| (asked.request.spent, asked.request.wanted)).collect()
    }

    #[test]
    fn it_gives_an_eighth_of_a_burst_in_advance_and_then_waits_for_the_store() {
        let (mut book, one) = (Book::default(), [charge(1, 16)]);
        assert_eq!(take(&mut book, &one, 0), Found::Passed);
        assert_eq!(take(&mut book, &one, 0), Found::Passed);
        assert_eq!(take(&mut book, &one, 0), Found::Lacking { round: 1 });
        let (round, asked) = book.collect();
        assert_eq!((round, asks(&asked)), (1, vec![(2, 2)]));
        book.take_in(&asked[0], slice(2, 12, 0), 0);
        assert_eq!(take(&mut book, &one, 0), Found::Passed);
        assert_eq!(take(&mut book, &one, 0), Found::Passed);
        assert_eq!(take(&mut book, &one, 0), Found::Lacking { round: 2 });
    }

    #[test]
    fn where_the_store_has_none_it_is_not_asked_before_there_is_one() {
        let (mut book, one) = (Book::default(), [charge(1, 8)]);
        assert_eq!(take(&mut book, &one, 0), Found::Passed);
        let (_, asked) = book.collect();
        book.take_in(&asked[0], slice(0, 0, SECOND), 0);
        assert_eq!(take(&mut book, &one, SECOND - 1), Found::Limited);
        assert_eq!(asks(&book.collect().1), []);
        assert_eq!(take(&mut book, &one, SECOND), Found::Lacking { round: 3 });
        assert_eq!(asks(&book.collect().1), [(0, 1)]);
    }

    #[test]
    fn one_bucket_that_lacks_keeps_the_others_whole() {
        let (mut book, both) = (Book::default(), [charge(1, 80), charge(2, 8)]);
        assert_eq!(take(&mut book, &both, 0), Found::Passed);
        assert_eq!(take(&mut book, &both, 0), Found::Lacking { round: 1 });
        assert_eq!(asks(&book.collect().1), [(1, 2), (1, 1)]);
    }

    #[test]
    fn what_nobody_came_for_is_lost_and_a_full_bucket_is_forgotten() {
        let (mut book, one) = (Book::default(), [charge(1, 80)]);
        assert_eq!(take(&mut book, &one, 0), Found::Passed);
        let (_, asked) = book.collect();
        book.take_in(&asked[0], slice(2, 70, 0), 0);
        assert_eq!(take(&mut book, &one, 2 * SECOND), Found::Lacking { round: 2 });
        book.collect();
        book.sweep(10 * SECOND - 1);
        assert_eq!(book.entries.len(), 1);
        book.sweep(10 * SECOND);
        assert_eq!(book.entries.len(), 0);
    }

    #[test]
    fn what_was_given_is_charged_again_when_the_store_did_not_answer() {
        let (mut book, one) = (Book::default(), [charge(1, 80)]);
        assert_eq!(take(&mut book, &one, 0), Found::Passed);
        let (_, asked) = book.collect();
        book.put_back(&asked[0]);
        book.sweep(1_000 * SECOND);
        assert_eq!(asks(&book.collect().1), [(1, 0)]);
    }

    #[test]
    fn a_full_book_turns_strangers_away_and_keeps_those_it_knows() {
        let mut book = Book::default();
        for name in 0..ENTRIES_MAX as u64 {
            assert_eq!(take(&mut book, &[charge(name, 80)], 0), Found::Passed);
        }
        assert_eq!(take(&mut book, &[charge(u64::MAX, 80)], 0), Found::Crowded);
        assert_eq!(take(&mut book, &[charge(5, 80)], 0), Found::Passed);
        assert_eq!(book.collect().1.len(), ROUND_MAX);
        assert_eq!(book.due.len(), ENTRIES_MAX - ROUND_MAX);
    }
}
