//! Takes facts into the state. Facts were checked when they were decided: anything that does not fit is our bug.

use std::hash::BuildHasher;
use std::sync::Arc;

use super::fact::RegistrationFact;
use super::state::{Entry, EntryStep, GivenUp, PaidPlace, Registration};
use crate::ended::End;
use crate::id::{BuyerId, EntryId, HoldId, OrderId};
use crate::money::Minor;
use crate::time::Millis;

impl Registration {
    /// The registration that its first fact begins.
    pub fn begin(fact: &RegistrationFact) -> Option<Registration> {
        if let RegistrationFact::Created(created) = fact {
            return Some(Registration::new(created.details.clone(), created.capacity));
        }
        None
    }

    pub fn apply(&mut self, fact: &RegistrationFact, fence: u64, at: Millis) {
        match fact {
            RegistrationFact::Created(_) => panic!("a registration is created once"),
            RegistrationFact::Changed(details) => self.details = Arc::new((**details).clone()),
            RegistrationFact::StatusChanged { status, .. } => self.status = *status,
            RegistrationFact::CapacityChanged { capacity } => self.capacity = *capacity,
            RegistrationFact::Registered { entry, buyer } => {
                self.insert(*entry, buyer, fence, EntryStep::Confirmed { paid: None });
            }
            RegistrationFact::Reserved { entry, buyer, price_minor, until } => {
                let (until, price_minor) = (*until, *price_minor);
                self.insert(*entry, buyer, fence, EntryStep::Offered { until, price_minor });
            }
            RegistrationFact::Waitlisted { entry, buyer, .. } => {
                self.insert(*entry, buyer, fence, EntryStep::Waiting);
            }
            RegistrationFact::Promoted { entry, .. } => {
                self.step(*entry, EntryStep::Confirmed { paid: None });
            }
            RegistrationFact::Offered { entry, price_minor, until, .. } => {
                let (until, price_minor) = (*until, *price_minor);
                self.step(*entry, EntryStep::Offered { until, price_minor });
            }
            RegistrationFact::OfferLapsed { entry, .. } => self.end(*entry, End::Expired, at),
            RegistrationFact::Confirmed { entry, order } => self.pay(*entry, *order, at),
            RegistrationFact::EntryCancelled { entry, amount_minor, .. } => {
                self.give_up(*entry, *amount_minor);
                self.end(*entry, End::Released, at);
            }
        }
    }

    fn known(&self, id: EntryId) -> u32 {
        self.entry_index(id).expect("a fact names an entry that is known")
    }

    pub(super) fn insert(&mut self, id: EntryId, buyer: &BuyerId, fence: u64, step: EntryStep) {
        let index = self.entries.insert(Entry { id, fence, buyer: buyer.as_str().into(), step });
        let (hasher, entries) = (&self.hasher, &self.entries);
        self.entry_by_id
            .insert_unique(hasher.hash_one(id), index, |known| hasher.hash_one(entries[*known].id));
        self.entry_by_buyer.insert_unique(hasher.hash_one(buyer.as_str()), index, |known| {
            hasher.hash_one(&*entries[*known].buyer)
        });
        self.by_fence.insert(fence, index);
        self.count_in(index);
    }

    /// Puts an entry where its step belongs.
    fn count_in(&mut self, index: u32) {
        let (fence, step) = (self.entries[index].fence, self.entries[index].step);
        match step {
            EntryStep::Waiting => {
                debug_assert!(self.waiting.back().is_none_or(|(last, _)| *last < fence));
                self.waiting.push_back((fence, index));
            }
            EntryStep::Offered { until, .. } => {
                self.offered += 1;
                self.due.insert(until, fence, index);
            }
            EntryStep::Confirmed { paid } => {
                self.confirmed += 1;
                if let Some(paid) = paid {
                    self.entry_by_order.insert(paid.order, index);
                }
            }
        }
    }

    /// Takes an entry from where its step had put it.
    fn count_out(&mut self, index: u32) {
        let (fence, step) = (self.entries[index].fence, self.entries[index].step);
        match step {
            EntryStep::Waiting => {
                let at = self.waiting.partition_point(|(before, _)| *before < fence);
                self.waiting.remove(at);
            }
            EntryStep::Offered { until, .. } => {
                self.offered -= 1;
                self.due.remove(until, fence);
            }
            EntryStep::Confirmed { paid } => {
                self.confirmed -= 1;
                if let Some(paid) = paid {
                    self.entry_by_order.remove(&paid.order);
                }
            }
        }
    }

    pub(super) fn step(&mut self, id: EntryId, step: EntryStep) {
        let index = self.known(id);
        self.count_out(index);
        self.entries[index].step = step;
        self.count_in(index);
    }

    fn pay(&mut self, id: EntryId, order: OrderId, at: Millis) {
        if let EntryStep::Offered { price_minor, .. } = self.entries[self.known(id)].step {
            self.step(id, EntryStep::Confirmed { paid: Some(PaidPlace { order, price_minor, at }) });
        }
    }

    /// What was paid for the place is remembered; of one that cost nothing there is nothing to remember.
    fn give_up(&mut self, id: EntryId, returned_minor: Minor) {
        let entry = &self.entries[self.known(id)];
        let EntryStep::Confirmed { paid: Some(paid) } = entry.step else { return };
        let (fence, buyer) = (entry.fence, entry.buyer.clone());
        self.given_up.insert(paid.order, GivenUp { entry: id, fence, buyer, paid, returned_minor });
    }

    fn end(&mut self, id: EntryId, end: End, at: Millis) {
        let index = self.known(id);
        self.count_out(index);
        let entry = self.entries.remove(index);
        let (by_id, by_buyer) = (self.hasher.hash_one(id), self.hasher.hash_one(&*entry.buyer));
        if let Ok(found) = self.entry_by_id.find_entry(by_id, |known| *known == index) {
            found.remove();
        }
        if let Ok(found) = self.entry_by_buyer.find_entry(by_buyer, |known| *known == index) {
            found.remove();
        }
        self.by_fence.remove(&entry.fence);
        self.ended.remember(HoldId(id.0), end, at);
    }
}
