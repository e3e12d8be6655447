//! The state of a registration: one entry per buyer, a line of those who wait, the deadlines of offers.
//! Only `apply` changes it.

use std::collections::{BTreeMap, VecDeque};
use std::hash::BuildHasher;
use std::sync::Arc;

use onsale_compact::deadlines::Deadlines;
use onsale_compact::map::{Hasher, Map, Table};
use onsale_compact::slab::Slab;

use super::details::{RegistrationDetails, RegistrationStatus};
use super::view::EntryStanding;
use crate::ended::{End, EndMemory};
use crate::id::{BuyerId, EntryId, HoldId, OrderId};
use crate::money::Minor;
use crate::time::Millis;

#[derive(Clone, Debug)]
pub struct Registration {
    pub(super) details: Arc<RegistrationDetails>,
    pub(super) status: RegistrationStatus,
    pub(super) capacity: u32,
    /// Places that are confirmed, and those that are kept for somebody.
    pub(super) confirmed: u32,
    pub(super) offered: u32,
    pub(super) entries: Slab<Entry>,
    pub(super) entry_by_id: Table<u32>,
    pub(super) entry_by_buyer: Table<u32>,
    pub(super) entry_by_order: Map<OrderId, u32>,
    /// What orders paid for places that were given up again: they stay orders.
    pub(super) given_up: Map<OrderId, GivenUp>,
    /// All entries, in the order they came.
    pub(super) by_fence: BTreeMap<u64, u32>,
    /// Those who wait, by fence, which is the order they came in: a place in line is found by halving.
    pub(super) waiting: VecDeque<(u64, u32)>,
    pub(super) due: Deadlines<u32>,
    pub(super) ended: EndMemory,
    pub(super) hasher: Hasher,
}

#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub id: EntryId,
    pub fence: u64,
    pub buyer: Box<str>,
    pub step: EntryStep,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EntryStep {
    Waiting,
    Offered { until: Millis, price_minor: Minor },
    Confirmed { paid: Option<PaidPlace> },
}

/// What an order has paid for a place, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PaidPlace {
    pub order: OrderId,
    pub price_minor: Minor,
    pub at: Millis,
}

/// A paid place that is its buyer's no longer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct GivenUp {
    pub entry: EntryId,
    pub fence: u64,
    pub buyer: Box<str>,
    pub paid: PaidPlace,
    /// What of its price goes back.
    pub returned_minor: Minor,
}

impl Entry {
    pub(super) fn buyer(&self) -> BuyerId {
        BuyerId::known(&self.buyer)
    }
}

impl Registration {
    pub(super) fn new(details: RegistrationDetails, capacity: u32) -> Registration {
        Registration {
            details: Arc::new(details),
            status: RegistrationStatus::Scheduled,
            capacity,
            confirmed: 0,
            offered: 0,
            entries: Slab::default(),
            entry_by_id: Table::default(),
            entry_by_buyer: Table::default(),
            entry_by_order: Map::default(),
            given_up: Map::default(),
            by_fence: BTreeMap::new(),
            waiting: VecDeque::new(),
            due: Deadlines::default(),
            ended: EndMemory::default(),
            hasher: Hasher::default(),
        }
    }

    pub fn details(&self) -> &Arc<RegistrationDetails> {
        &self.details
    }

    pub fn status(&self) -> RegistrationStatus {
        self.status
    }

    pub(super) fn taken(&self) -> u32 {
        self.confirmed + self.offered
    }

    pub(super) fn free(&self) -> u32 {
        self.capacity - self.taken()
    }

    pub(super) fn entry_index(&self, id: EntryId) -> Option<u32> {
        self.entry_by_id.find(self.hasher.hash_one(id), |known| self.entries[*known].id == id).copied()
    }

    pub(super) fn entry_of(&self, buyer: &BuyerId) -> Option<u32> {
        let is = |known: &u32| *self.entries[*known].buyer == *buyer.as_str();
        self.entry_by_buyer.find(self.hasher.hash_one(buyer.as_str()), is).copied()
    }

    pub(super) fn ended(&self, id: EntryId, now: Millis) -> Option<End> {
        self.ended.get(HoldId(id.0), now)
    }

    pub(super) fn ahead_of(&self, fence: u64) -> u32 {
        self.waiting.partition_point(|(before, _)| *before < fence) as u32
    }

    pub(super) fn standing(&self, index: u32) -> EntryStanding {
        let entry = &self.entries[index];
        match entry.step {
            EntryStep::Waiting => EntryStanding::Waiting { ahead: self.ahead_of(entry.fence) },
            EntryStep::Offered { until, price_minor } => EntryStanding::Offered { until, price_minor },
            EntryStep::Confirmed { paid } => EntryStanding::Confirmed { order: paid.map(|paid| paid.order) },
        }
    }
}
