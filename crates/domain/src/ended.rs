//! What is remembered of holds and queue places that are over: for an hour, so that their owner hears why.

use std::hash::BuildHasher;

use minicbor::{Decode, Encode};
use onsale_compact::map::Hasher;
use onsale_compact::recall::Recall;

use crate::id::HoldId;
use crate::limits::{ENDED_MAX, ENDED_MS};
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

impl End {
    /// By their numbers.
    pub const ALL: [End; 6] =
        [End::Expired, End::Released, End::Overridden, End::Confirmed, End::Dissolved, End::OverLimit];

    /// Times are multiplied by this where a time and an end stand in one number.
    pub const STEP: i64 = 1 << END_BITS;

    pub fn as_str(self) -> &'static str {
        ["expired", "released", "overridden", "confirmed", "dissolved", "over_limit"][self as usize]
    }
}

/// A bounded memory of the ended, forgotten in the order they ended.
#[derive(Clone, Debug, Default)]
pub struct EndMemory {
    past: Recall<Past>,
    hasher: Hasher,
}

/// 16 bytes: a busy event remembers a hundred thousand.
#[derive(Clone, Copy, Debug)]
struct Past {
    id: HoldId,
    /// The time of the end, and its kind in the lowest bits.
    at_and_end: i64,
}

const END_BITS: u32 = 3;

impl Past {
    fn new(id: HoldId, end: End, at: Millis) -> Past {
        Past { id, at_and_end: at << END_BITS | end as i64 }
    }

    fn at(&self) -> Millis {
        self.at_and_end >> END_BITS
    }

    fn end(&self) -> End {
        End::ALL[(self.at_and_end & ((1 << END_BITS) - 1)) as usize]
    }
}

impl EndMemory {
    pub fn remember(&mut self, id: HoldId, end: End, at: Millis) {
        while let Some(oldest) = self.past.oldest() {
            if at - oldest.at() < ENDED_MS && self.past.len() < ENDED_MAX {
                break;
            }
            let hasher = &self.hasher;
            self.past.forget_oldest(|past| hasher.hash_one(past.id));
        }
        let past = Past::new(id, end, at);
        self.past.remember(self.hasher.hash_one(past.id), past, |known| known.id == past.id);
    }

    pub fn get(&self, id: HoldId, now: Millis) -> Option<End> {
        let past = self.past.find(self.hasher.hash_one(id), |past| past.id == id)?;
        (now - past.at() < ENDED_MS).then(|| past.end())
    }

    /// What [`get`](EndMemory::get) will look at; see [`Recall::far`].
    pub fn far(&self, id: HoldId) -> Option<&u32> {
        self.past.far(self.hasher.hash_one(id))
    }

    /// What [`remember`](EndMemory::remember) will look at, when so many others were remembered before: the place of the new
    /// one, and of the one that has to go if there is no more room.
    pub fn far_of_end(&self, id: HoldId, before: usize) -> [Option<&u32>; 2] {
        let full = self.past.len() + before >= ENDED_MAX;
        let going = self.past.oldest_after(before).filter(|_| full);
        [self.far(id), going.and_then(|past| self.past.far(self.hasher.hash_one(past.id)))]
    }

    /// Oldest first, for a snapshot.
    pub fn iter(&self) -> impl Iterator<Item = (Millis, HoldId, End)> {
        self.past.iter().map(|past| (past.at(), past.id, past.end()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_remembered_an_hour_and_the_oldest_go_first_in_a_flood() {
        let mut ended = EndMemory::default();
        let many = ENDED_MAX as u64 + 1_000;
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
