//! What readers see of a registration, and answers about one buyer's entry.

use std::sync::Arc;

use super::details::{RegistrationDetails, RegistrationStatus};
use super::state::{EntryStep, Registration};
use crate::ended::End;
use crate::id::{BuyerId, EntryId, OrderId};
use crate::money::Minor;
use crate::time::{Millis, is_over};

#[derive(Clone, Debug, PartialEq)]
pub struct RegistrationView {
    pub details: Arc<RegistrationDetails>,
    pub status: RegistrationStatus,
    pub capacity: u32,
    pub confirmed: u32,
    /// Places that are kept for somebody who has not paid yet.
    pub offered: u32,
    pub waiting: u32,
}

#[derive(Clone, Debug, PartialEq)]
pub enum RegistrationQuery {
    Entry(EntryId),
    EntryOf(BuyerId),
    /// The place that an order has paid.
    PaidBy(OrderId),
    /// Entries in the order they came, from behind a fence on.
    Entries {
        after: u64,
        limit: usize,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub enum RegistrationFound {
    Nothing,
    Entry(Box<EntryState>),
    Ended(End),
    Entries(Vec<EntryState>),
    /// A confirmed entry, and what its order paid for it.
    Paid(Box<EntryState>, Minor),
}

#[derive(Clone, Debug, PartialEq)]
pub struct EntryState {
    pub entry: EntryId,
    pub buyer: BuyerId,
    pub fence: u64,
    pub standing: EntryStanding,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryStanding {
    Waiting { ahead: u32 },
    Offered { until: Millis, price_minor: Minor },
    Confirmed { order: Option<OrderId> },
}

impl Registration {
    pub fn view(&self) -> RegistrationView {
        RegistrationView {
            details: self.details.clone(),
            status: self.status,
            capacity: self.capacity,
            confirmed: self.confirmed,
            offered: self.offered,
            waiting: self.waiting.len() as u32,
        }
    }

    /// An offer past its deadline is told as expired, though its fact may still be on its way.
    pub fn ask(&self, query: &RegistrationQuery, now: Millis) -> RegistrationFound {
        let living = |index: u32| match self.entries[index].step {
            EntryStep::Offered { until, .. } if is_over(until, now) => RegistrationFound::Ended(End::Expired),
            EntryStep::Offered { .. } | EntryStep::Waiting | EntryStep::Confirmed { .. } => {
                RegistrationFound::Entry(Box::new(self.entry_state(index)))
            }
        };
        match query {
            RegistrationQuery::Entry(id) => match self.entry_index(*id) {
                Some(index) => living(index),
                None => self.ended(*id, now).map_or(RegistrationFound::Nothing, RegistrationFound::Ended),
            },
            RegistrationQuery::EntryOf(buyer) => {
                self.entry_of(buyer).map_or(RegistrationFound::Nothing, living)
            }
            RegistrationQuery::PaidBy(order) => {
                let index = self.entry_by_order.get(order).copied();
                let paid = index.and_then(|index| match self.entries[index].step {
                    EntryStep::Confirmed { paid } => paid.map(|paid| (index, paid.price_minor)),
                    EntryStep::Offered { .. } | EntryStep::Waiting => None,
                });
                paid.map_or(RegistrationFound::Nothing, |(index, price_minor)| {
                    RegistrationFound::Paid(Box::new(self.entry_state(index)), price_minor)
                })
            }
            RegistrationQuery::Entries { after, limit } => {
                let later = self.by_fence.range(after.saturating_add(1)..).take(*limit);
                RegistrationFound::Entries(later.map(|(_, index)| self.entry_state(*index)).collect())
            }
        }
    }

    pub(super) fn entry_state(&self, index: u32) -> EntryState {
        let entry = &self.entries[index];
        let (id, buyer, fence) = (entry.id, entry.buyer(), entry.fence);
        EntryState { entry: id, buyer, fence, standing: self.standing(index) }
    }
}
