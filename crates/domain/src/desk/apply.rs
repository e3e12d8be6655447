//! Takes facts into the desk. Facts were checked when they were decided: anything that does not fit is our bug.

use super::fact::{DeskFact, PaymentStanding, Slip, Webhook};
use super::state::{Desk, Event, Item, Name};
use crate::id::ListingId;
use crate::limits::{DESK_KEPT_MS, EVENTS_PER_PAYMENT_MAX};
use crate::time::Millis;

impl Desk {
    pub(crate) fn apply(&mut self, fact: &DeskFact, fence: u64, at: Millis) {
        match fact {
            DeskFact::Opened => panic!("a desk is opened once"),
            DeskFact::WorkTaken { listing, through, slips } => {
                self.cursors.insert(*listing, *through);
                slips.iter().for_each(|slip| self.take(*listing, slip, fence, at));
            }
            DeskFact::Answered { payment, refund, reference, standing } => {
                self.move_to((*payment, *refund), reference.as_ref(), standing, at);
            }
            DeskFact::WebhookReceived(webhook) => self.receive(webhook, at),
            DeskFact::Delivered { payment, refund } => self.change((*payment, *refund), at, |item| {
                item.delivered = Some(item.standing.rank());
            }),
        }
        // Last: what this very fact is about is not old.
        self.forget(at);
    }

    fn take(&mut self, listing: ListingId, slip: &Slip, fence: u64, at: Millis) {
        self.insert(Item {
            listing,
            slip: slip.clone(),
            place: fence,
            standing: PaymentStanding::Asked,
            reference: None,
            delivered: None,
            failures: 0,
            taken_at: at,
            changed_at: at,
            failed: None,
        });
    }

    pub(super) fn insert(&mut self, item: Item) {
        self.file(&item);
        self.items.insert(item.name(), item);
    }

    /// Puts an item where it is found: among the open ones, or among those that will be forgotten.
    fn file(&mut self, item: &Item) {
        let _ = match item.is_open() {
            true => self.open.insert((item.place, item.name())),
            false => self.done.insert((item.changed_at, item.name())),
        };
    }

    fn change(&mut self, name: Name, at: Millis, change: impl FnOnce(&mut Item)) {
        let mut item = self.items.remove(&name).expect("a fact names a slip that was taken");
        self.open.remove(&(item.place, name));
        self.done.remove(&(item.changed_at, name));
        change(&mut item);
        item.changed_at = at;
        self.insert(item);
    }

    /// A refund that failed is asked for once more, under another key; a payment that failed is declined.
    fn move_to(&mut self, name: Name, reference: Option<&String>, standing: &PaymentStanding, at: Millis) {
        self.change(name, at, |item| {
            if let Some(reference) = reference {
                item.reference = Some(reference.clone());
            }
            item.standing = standing.clone();
            if let PaymentStanding::Failed { reason } = standing
                && item.slip.refund > 0
            {
                item.failures = item.failures.saturating_add(1);
                item.failed = Some(reason.clone());
                item.standing = PaymentStanding::Asked;
            }
        });
    }

    fn receive(&mut self, webhook: &Webhook, at: Millis) {
        self.see(at, &webhook.provider, &webhook.event);
        let Some(payment) = webhook.payment else { return };
        let Some(item) = self.item(payment, webhook.refund) else { return };
        let moves = webhook.standing.as_ref().filter(|standing| item.moves(standing, webhook.failures));
        if let Some(standing) = moves {
            self.move_to((payment, webhook.refund), webhook.reference.as_ref(), standing, at);
        }
        let events = self.events.entry(payment).or_default();
        if events.len() == EVENTS_PER_PAYMENT_MAX {
            events.pop_front();
        }
        let (provider, event, kind) = (webhook.provider.clone(), webhook.event.clone(), webhook.kind.clone());
        events.push_back(Event { at, provider, event, kind, counted: moves.is_some() });
    }

    pub(super) fn see(&mut self, at: Millis, provider: &str, event: &str) {
        self.seen.insert((provider.to_owned(), event.to_owned()));
        self.inbox.push_back((at, provider.to_owned(), event.to_owned()));
    }

    /// The time of a fact decides what is forgotten, so that every copy of the desk forgets the same.
    fn forget(&mut self, now: Millis) {
        while let Some((at, provider, event)) =
            self.inbox.pop_front_if(|(at, _, _)| *at + DESK_KEPT_MS <= now)
        {
            debug_assert!(at <= now);
            self.seen.remove(&(provider, event));
        }
        while let Some((at, name)) = self.done.first().copied()
            && at + DESK_KEPT_MS <= now
        {
            self.done.remove(&(at, name));
            self.items.remove(&name);
            if self.items.range((name.0, 0)..=(name.0, u16::MAX)).next().is_none() {
                self.events.remove(&name.0);
            }
        }
    }
}
