//! A registration's state as bytes, for snapshots, and back. Only what cannot be counted again is written.

use minicbor::{Decode, Encode};

use super::details::{RegistrationDetails, RegistrationStatus};
use super::state::{EntryStep, GivenUp, PaidPlace, Registration};
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
    #[n(5)]
    pub given_up: Vec<GivenUpImage>,
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
    #[n(7)]
    pub paid_at: Option<Millis>,
}

/// What an order paid for a place that was given up.
#[derive(Clone, Debug, Encode, Decode)]
pub struct GivenUpImage {
    #[n(0)]
    pub order: OrderId,
    #[n(1)]
    pub entry: EntryId,
    #[n(2)]
    pub fence: u64,
    #[n(3)]
    pub buyer: BuyerId,
    #[n(4)]
    pub price_minor: Minor,
    #[n(5)]
    pub paid_at: Millis,
    #[n(6)]
    pub returned_minor: Minor,
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
        self.given_up.sort_by_key(|given| given.order);
    }
}

impl Registration {
    pub fn image(&self) -> RegistrationImage {
        let entry = |index: &u32| {
            let entry = &self.entries[*index];
            let (id, buyer, fence) = (entry.id, entry.buyer(), entry.fence);
            let waiting = entry.step == EntryStep::Waiting;
            let (until, price_minor, order, paid_at) = (None, None, None, None);
            let image = EntryImage { id, buyer, fence, until, price_minor, order, waiting, paid_at };
            match entry.step {
                EntryStep::Waiting | EntryStep::Confirmed { paid: None } => image,
                EntryStep::Offered { until, price_minor } => {
                    EntryImage { until: Some(until), price_minor: Some(price_minor), ..image }
                }
                EntryStep::Confirmed { paid: Some(paid) } => EntryImage {
                    price_minor: Some(paid.price_minor),
                    order: Some(paid.order),
                    paid_at: Some(paid.at),
                    ..image
                },
            }
        };
        let given_up = self.given_up.values().map(|given| GivenUpImage {
            order: given.paid.order,
            entry: given.entry,
            fence: given.fence,
            buyer: BuyerId::known(&given.buyer),
            price_minor: given.paid.price_minor,
            paid_at: given.paid.at,
            returned_minor: given.returned_minor,
        });
        RegistrationImage {
            details: (*self.details).clone(),
            status: self.status,
            capacity: self.capacity,
            entries: self.by_fence.values().map(entry).collect(),
            ended: self.ended.iter().map(|(at, id, end)| EndedEntry { at, id: EntryId(id.0), end }).collect(),
            given_up: given_up.collect(),
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
                None => {
                    let at = entry.paid_at.unwrap_or_default();
                    EntryStep::Confirmed {
                        paid: entry.order.map(|order| PaidPlace { order, price_minor, at }),
                    }
                }
            };
            registration.insert(entry.id, &entry.buyer, entry.fence, step);
        }
        for EndedEntry { at, id, end } in image.ended {
            registration.ended.remember(HoldId(id.0), end, at);
        }
        for given in image.given_up {
            let paid = PaidPlace { order: given.order, price_minor: given.price_minor, at: given.paid_at };
            let (buyer, returned_minor) = (given.buyer.as_str().into(), given.returned_minor);
            let given_up = GivenUp { entry: given.entry, fence: given.fence, buyer, paid, returned_minor };
            registration.given_up.insert(given.order, given_up);
        }
        registration
    }
}
