//! The state of a desk: open and lately finished payments, cursors, and the events that came. Only `apply` changes it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use minicbor::{Decode, Encode};

use super::fact::{PaymentStanding, Slip};
use crate::id::{ListingId, PaymentName};
use crate::time::Millis;

/// A payment, or one of its refunds.
pub(super) type Name = (PaymentName, u16);

#[derive(Clone, Debug, Default)]
pub struct Desk {
    pub(super) cursors: BTreeMap<ListingId, u64>,
    pub(super) items: BTreeMap<Name, Item>,
    /// What is not finished, in the order it was taken.
    pub(super) open: BTreeSet<(u64, Name)>,
    /// What is finished, by the time of its last change: forgotten after a week.
    pub(super) done: BTreeSet<(Millis, Name)>,
    pub(super) events: BTreeMap<PaymentName, VecDeque<Event>>,
    /// Every event of the last week, by provider and id, and in the order they came.
    pub(super) seen: BTreeSet<(String, String)>,
    pub(super) inbox: VecDeque<(Millis, String, String)>,
}

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct Item {
    #[n(0)]
    pub listing: ListingId,
    #[n(1)]
    pub slip: Slip,
    /// Its place among what was taken: the fact's fence and its number in it.
    #[n(2)]
    pub place: u64,
    #[n(3)]
    pub standing: PaymentStanding,
    #[n(4)]
    pub reference: Option<String>,
    /// The rank of what its listing has heard.
    #[n(5)]
    pub delivered: Option<u8>,
    /// How often a refund has failed.
    #[n(6)]
    pub failures: u16,
    #[n(7)]
    pub taken_at: Millis,
    #[n(8)]
    pub changed_at: Millis,
    /// Why a refund failed the last time.
    #[n(9)]
    pub failed: Option<String>,
}

/// An event as a payment shows it.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct Event {
    #[n(0)]
    pub at: Millis,
    #[n(1)]
    pub provider: String,
    #[n(2)]
    pub event: String,
    #[n(3)]
    pub kind: String,
    /// Whether it changed how the payment stood.
    #[n(4)]
    pub counted: bool,
}

impl Item {
    pub fn name(&self) -> Name {
        (self.slip.of(self.listing), self.slip.refund)
    }

    /// Whether this standing says more than what is known. Money that moved counts whichever try moved it; anything else
    /// that is told of another try than the present one, by the failures before it, is old news.
    pub fn moves(&self, standing: &PaymentStanding, failures: Option<u16>) -> bool {
        let is_present = failures.is_none_or(|failures| failures == self.failures);
        let is_news = is_present || matches!(standing, PaymentStanding::Done { .. });
        is_news && standing.rank() > self.standing.rank()
    }

    /// The listing must hear of it: a decline or money that moved, and not what it has heard before.
    pub fn is_to_deliver(&self) -> bool {
        let rank = self.standing.rank();
        rank >= PaymentStanding::Failed { reason: String::new() }.rank() && self.delivered != Some(rank)
    }

    pub fn is_open(&self) -> bool {
        self.delivered != Some(self.standing.rank())
    }
}

impl Desk {
    pub(super) fn item(&self, payment: PaymentName, refund: u16) -> Option<&Item> {
        self.items.get(&(payment, refund))
    }

    /// How far a listing's log was read for slips.
    pub fn cursor(&self, listing: &ListingId) -> u64 {
        self.cursors.get(listing).copied().unwrap_or(0)
    }

    pub(super) fn has_seen(&self, provider: &str, event: &str) -> bool {
        self.seen.contains(&(provider.to_owned(), event.to_owned()))
    }
}
