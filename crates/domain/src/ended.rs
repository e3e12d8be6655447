//! What is remembered of holds and queue places that are over: for an hour, so that their owner hears why.

use std::collections::VecDeque;
use std::hash::BuildHasher;

use minicbor::{Decode, Encode};

use crate::id::HoldId;
use crate::limits::{ENDED_MAX, ENDED_MS};
use crate::map::{Hasher, Table};
use crate::time::Millis;

/// Why a hold or a queue place is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub enum End {
    #[n(0)]
    Expired,
    #[n(1)]
    Released,
    #[n(2)]
    Overridden,
    #[n(3)]
    Confirmed,
    /// A queue place whose seat was sold, blocked, or whose event closed.
    #[n(4)]
    Dissolved,
    /// A queue place lost because its buyer was at the limit when the seat came free.
    #[n(5)]
    OverLimit,
}

/// A bounded memory of the ended, forgotten in the order they ended.
#[derive(Clone, Debug, Default)]
pub struct Ended {
    in_order: VecDeque<Past>,
    /// How many were ever forgotten: the running number of the first that is kept.
    forgotten: u32,
    /// Running numbers by id, in several tables: one that must be put in order again keeps nobody waiting for long.
    by_id: [Table<u32>; TABLES],
    hasher: Hasher,
}

const TABLES: usize = 16;

#[derive(Clone, Copy, Debug)]
struct Past {
    at: Millis,
    id: HoldId,
    end: End,
}

impl Ended {
    pub fn remember(&mut self, id: HoldId, end: End, at: Millis) {
        while let Some(oldest) = self.in_order.front() {
            if at - oldest.at < ENDED_MS && self.in_order.len() < ENDED_MAX {
                break;
            }
            self.forget_oldest();
        }
        let number = self.forgotten.wrapping_add(self.in_order.len() as u32);
        self.in_order.push_back(Past { at, id, end });
        let hash = self.hasher.hash_one(id);
        let (in_order, forgotten, hasher) = (&self.in_order, self.forgotten, &self.hasher);
        let rehash = |number: &u32| hasher.hash_one(in_order[number.wrapping_sub(forgotten) as usize].id);
        self.by_id[table(hash)].insert_unique(hash, number, rehash);
    }

    fn forget_oldest(&mut self) {
        let Some(oldest) = self.in_order.front() else { return };
        let (hash, number) = (self.hasher.hash_one(oldest.id), self.forgotten);
        if let Ok(entry) = self.by_id[table(hash)].find_entry(hash, |known| *known == number) {
            entry.remove();
        }
        self.in_order.pop_front();
        self.forgotten = self.forgotten.wrapping_add(1);
    }

    pub fn get(&self, id: HoldId, now: Millis) -> Option<End> {
        if self.in_order.is_empty() {
            return None;
        }
        let past = |number: &u32| &self.in_order[number.wrapping_sub(self.forgotten) as usize];
        let hash = self.hasher.hash_one(id);
        let number = self.by_id[table(hash)].find(hash, |number| past(number).id == id)?;
        Some(past(number)).filter(|past| now - past.at < ENDED_MS).map(|past| past.end)
    }

    /// Oldest first, for a snapshot.
    pub fn iter(&self) -> impl Iterator<Item = (Millis, HoldId, End)> {
        self.in_order.iter().map(|past| (past.at, past.id, past.end))
    }
}

fn table(hash: u64) -> usize {
    (hash >> 32) as usize % TABLES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_remembered_an_hour_and_the_oldest_go_first_in_a_flood() {
        let mut ended = Ended::default();
        let many = ENDED_MAX as u128 + 1_000;
        for number in 0..many {
            ended.remember(HoldId(number), End::Released, 5);
        }
        assert_eq!(ended.get(HoldId(999), 5), None);
        assert_eq!(ended.get(HoldId(1_000), 5), Some(End::Released));
        assert_eq!(ended.get(HoldId(many - 1), ENDED_MS + 4), Some(End::Released));
        assert_eq!(ended.get(HoldId(many - 1), ENDED_MS + 5), None);
        ended.remember(HoldId(many), End::Expired, ENDED_MS + 5);
        assert_eq!(ended.iter().count(), 1);
    }
}
