//! What is remembered of holds and queue places that are over: for an hour, so that their owner hears why.

use std::collections::VecDeque;

use minicbor::{Decode, Encode};

use crate::id::HoldId;
use crate::limits::{ENDED_MAX, ENDED_MS};
use crate::map::Map;
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
    by_id: Map<HoldId, (End, Millis)>,
    in_order: VecDeque<(Millis, HoldId)>,
}

impl Ended {
    pub fn remember(&mut self, id: HoldId, end: End, at: Millis) {
        while let Some(&(since, oldest)) = self.in_order.front() {
            if at - since < ENDED_MS && self.in_order.len() < ENDED_MAX {
                break;
            }
            self.in_order.pop_front();
            self.by_id.remove(&oldest);
        }
        self.by_id.insert(id, (end, at));
        self.in_order.push_back((at, id));
    }

    pub fn get(&self, id: HoldId, now: Millis) -> Option<End> {
        self.by_id.get(&id).filter(|(_, at)| now - at < ENDED_MS).map(|(end, _)| *end)
    }

    /// Oldest first, for a snapshot.
    pub fn iter(&self) -> impl Iterator<Item = (Millis, HoldId, End)> {
        self.in_order.iter().filter_map(|(at, id)| Some((*at, *id, self.by_id.get(id)?.0)))
    }
}
