//! A registration's state as bytes, for snapshots, and back. Only what cannot be counted again is written.

use minicbor::{Decode, Encode};

use super::details::{RegistrationDetails, RegistrationStatus};
use super::state::{EntryStep, Registration};
use crate::ended::End;
use crate::id::{BuyerId, EntryId, HoldId, OrderId};
use crate::money::Minor;
use crate::time::Millis;

#[derive(Clone, Debug, Encode, Decode)]
pub struct RegistrationImage {
    #[n(0)]
    pub details: RegistrationDetails,
    #[n(1)]
    pub status: RegistrationStatus,
    #[n(2)]
    pub capacity: u32,
    /// In the order they came, which is the order of the line.
    #[n(3)]
    pub entries: Vec<EntryImage>,
    #[n(4)]
    pub ended: Vec<EndedEntry>,
}

#[derive(Clone, Debug, Encode, Decode)]
pub struct EntryImage {
    #[n(0)]
    pub id: EntryId,
    #[n(1)]
    pub buyer: BuyerId,
    #[n(2)]
    pub fence: u64,
    /// Of a place that is kept for its buyer.
    #[n(3)]
    pub until: Option<Millis>,
    /// Of a place that was or is to be paid.
    #[n(4)]
    pub price_minor: Option<Minor>,
    #[n(5)]
    pub order: Option<OrderId>,
    #[n(6)]
    pub waiting: bool,
}

#[derive(Clone, Debug, Encode, Decode)]
pub struct EndedEntry {
    #[n(0)]
    pub at: Millis,
    #[n(1)]
    pub id: EntryId,
    #[n(2)]
    pub end: End,
}

impl RegistrationImage {
    /// Puts what has no order of its own into one. Of a place that late money took back, and that ended again, only the
    /// last end is told.
    pub fn sort(&mut self) {
        self.ended.sort_by_key(|ended| (ended.id, ended.at));
        self.ended.dedup_by(|later, kept| {
            let is_same = later.id == kept.id;
            if is_same {
                std::mem::swap(later, kept);
            }
            is_same
        });
        self.ended.sort_by_key(|ended| (ended.at, ended.id));
    }
}

impl Registration {
    pub fn image(&self) -> RegistrationImage {
        let entry = |index: &u32| {
            let entry = &self.entries[*index];
            let (until, price_minor, order) = match entry.step {
                EntryStep::Waiting | EntryStep::Confirmed { paid: None } => (None, None, None),
                EntryStep::Offered { until, price_minor } => (Some(until), Some(price_minor), None),
                EntryStep::Confirmed { paid: Some((order, price)) } => (None, Some(price), Some(order)),
            };
            let waiting = entry.step == EntryStep::Waiting;
            let (id, buyer, fence) = (entry.id, entry.buyer(), entry.fence);
            EntryImage { id, buyer, fence, until, price_minor, order, waiting }
        };
        RegistrationImage {
            details: (*self.details).clone(),
            status: self.status,
            capacity: self.capacity,
            entries: self.by_fence.values().map(entry).collect(),
            ended: self.ended.iter().map(|(at, id, end)| EndedEntry { at, id: EntryId(id.0), end }).collect(),
        }
    }

    pub fn from_image(image: RegistrationImage) -> Registration {
        let mut registration = Registration::new(image.details, image.capacity);
        registration.status = image.status;
        for entry in image.entries {
            let price_minor = entry.price_minor.unwrap_or_default();
            let step = match entry.until {
                _ if entry.waiting => EntryStep::Waiting,
                Some(until) => EntryStep::Offered { until, price_minor },
                None => EntryStep::Confirmed { paid: entry.order.map(|order| (order, price_minor)) },
            };
            registration.insert(entry.id, &entry.buyer, entry.fence, step);
        }
        for EndedEntry { at, id, end } in image.ended {
            registration.ended.remember(HoldId(id.0), end, at);
        }
        registration
    }
}
