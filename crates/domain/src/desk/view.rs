//! Questions about payments, and what the worker has to do next.

use super::fact::{PaymentStanding, Slip};
use super::state::{Desk, Item};
use crate::id::{ListingId, PaymentName};
use crate::time::Millis;

/// What anybody may see of a desk without asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeskView {
    /// Payments and refunds that are not finished.
    pub open: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub enum DeskQuery {
    /// A payment with its refunds and its events.
    Payment(PaymentName),
    /// Open work in the order it was taken, after this place.
    Open { after: Option<(u64, PaymentName, u16)>, limit: usize },
    /// How far a listing's log was read.
    Cursor(ListingId),
}

#[derive(Clone, Debug, PartialEq)]
pub enum DeskFound {
    Nothing,
    Payment {
        /// The payment first, then its refunds.
        tasks: Vec<Task>,
        events: Vec<WebhookEvent>,
    },
    Open(Vec<Task>),
    Cursor(u64),
}

/// A payment or a refund as the desk knows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    pub listing: ListingId,
    pub slip: Slip,
    /// Its place among what was taken.
    pub place: u64,
    pub standing: PaymentStanding,
    /// The provider's own name of it.
    pub reference: Option<String>,
    /// Whether its listing must hear of it.
    pub to_deliver: bool,
    /// How often a refund has failed, and why the last time.
    pub failures: u16,
    pub failed: Option<String>,
    pub taken_at: Millis,
    pub changed_at: Millis,
}

impl Task {
    pub fn payment(&self) -> PaymentName {
        self.slip.of(self.listing)
    }
}

/// A webhook event of a payment.
#[derive(Clone, Debug, PartialEq)]
pub struct WebhookEvent {
    pub at: Millis,
    pub provider: String,
    pub event: String,
    pub kind: String,
    /// Whether it changed how the payment stood.
    pub counted: bool,
}

impl Desk {
    pub fn view(&self) -> DeskView {
        DeskView { open: self.open.len() }
    }

    pub fn ask(&self, query: &DeskQuery) -> DeskFound {
        match query {
            DeskQuery::Payment(payment) => {
                let tasks: Vec<_> = self
                    .items
                    .range((*payment, 0)..=(*payment, u16::MAX))
                    .map(|(_, item)| task(item))
                    .collect();
                if tasks.is_empty() {
                    return DeskFound::Nothing;
                }
                let events = self.events.get(payment).into_iter().flatten().map(|event| WebhookEvent {
                    at: event.at,
                    provider: event.provider.clone(),
                    event: event.event.clone(),
                    kind: event.kind.clone(),
                    counted: event.counted,
                });
                DeskFound::Payment { tasks, events: events.collect() }
            }
            DeskQuery::Open { after, limit } => {
                use std::ops::Bound::{Excluded, Unbounded};
                let start =
                    after.map_or(Unbounded, |(place, payment, refund)| Excluded((place, (payment, refund))));
                let open = self.open.range((start, Unbounded)).take(*limit);
                DeskFound::Open(open.map(|(_, name)| task(&self.items[name])).collect())
            }
            DeskQuery::Cursor(listing) => DeskFound::Cursor(self.cursor(listing)),
        }
    }

    /// Counts everything again and says what does not add up.
    pub fn check_invariants(&self) -> Result<(), String> {
        let open = self.items.values().filter(|item| item.is_open());
        let found = open.filter(|item| self.open.contains(&(item.place, item.name()))).count();
        let (open, done, all) = (self.open.len(), self.done.len(), self.items.len());
        if found != open || open + done != all {
            return Err(format!("{open} open and {done} done of {all}, {found} found"));
        }
        match self.seen.len() == self.inbox.len() {
            true => Ok(()),
            false => Err(format!("{} events seen, {} kept", self.seen.len(), self.inbox.len())),
        }
    }
}

fn task(item: &Item) -> Task {
    Task {
        listing: item.listing,
        slip: item.slip.clone(),
        place: item.place,
        standing: item.standing.clone(),
        reference: item.reference.clone(),
        to_deliver: item.is_to_deliver(),
        failures: item.failures,
        failed: item.failed.clone(),
        taken_at: item.taken_at,
        changed_at: item.changed_at,
    }
}
