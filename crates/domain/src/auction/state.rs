//! The state of an auction. Only `apply` changes it. A bid costs the same after ten thousand others.

use std::sync::Arc;

use minicbor::{Decode, Encode};

use super::bids::Bids;
use super::details::{AuctionDetails, AuctionTerms, BuyNowPolicy};
use super::fact::{Award, Closing};
use super::limits::KEEP_CLOSED_MS;
use super::people::People;
use super::proxy::Lead;
use crate::id::BuyerId;
use crate::money::Minor;
use crate::time::{Millis, is_over};

#[derive(Clone, Debug)]
pub struct Auction {
    pub(super) details: Arc<AuctionDetails>,
    pub(super) phase: Phase,
    /// The end as soft close has moved it.
    pub(super) ends_at: Millis,
    /// How often the end has moved.
    pub(super) extensions: u32,
    pub(super) lead: Lead,
    /// The leader's name, so that a view need not put it together.
    pub(super) leader: Option<BuyerId>,
    pub(super) bids: Bids,
    pub(super) people: People,
    pub(super) bidders: u32,
    pub(super) watchers: u32,
    pub(super) banned: u32,
}

#[derive(Clone, Debug)]
pub(super) enum Phase {
    /// Scheduled before its start, open until its end: the clock alone tells.
    Live,
    Closed(Arc<AuctionEnd>),
    Cancelled {
        at: Millis,
    },
}

/// How it ended and who was given the chance to pay, the winner first.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct AuctionEnd {
    #[n(0)]
    pub at: Millis,
    #[n(1)]
    pub how: Closing,
    #[n(2)]
    pub awards: Vec<AwardLine>,
    /// When the last award was given, passed on or settled.
    #[n(3)]
    pub last_at: Millis,
}

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct AwardLine {
    #[n(0)]
    pub award: Award,
    #[n(1)]
    pub state: AwardState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub enum AwardState {
    #[n(0)]
    Pending,
    #[n(1)]
    Settled,
    #[n(2)]
    Unpaid,
    #[n(3)]
    Declined,
    /// It was paid, and all of that went back.
    #[n(4)]
    Refunded,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuctionStatus {
    Scheduled,
    Open,
    Closed,
    Cancelled,
}

impl AuctionStatus {
    pub fn as_str(self) -> &'static str {
        match self {
            AuctionStatus::Scheduled => "scheduled",
            AuctionStatus::Open => "open",
            AuctionStatus::Closed => "closed",
            AuctionStatus::Cancelled => "cancelled",
        }
    }
}

impl AuctionEnd {
    /// The award that waits to be paid; it is always the last one.
    pub fn pending(&self) -> Option<&Award> {
        self.awards.last().filter(|line| line.state == AwardState::Pending).map(|line| &line.award)
    }
}

impl Auction {
    pub(crate) fn new(details: AuctionDetails) -> Auction {
        Auction {
            ends_at: details.ends_at,
            bids: Bids::new(details.starts_at),
            details: Arc::new(details),
            phase: Phase::Live,
            extensions: 0,
            lead: Lead::default(),
            leader: None,
            people: People::default(),
            bidders: 0,
            watchers: 0,
            banned: 0,
        }
    }

    pub fn details(&self) -> &Arc<AuctionDetails> {
        &self.details
    }

    pub(super) fn terms(&self) -> &AuctionTerms {
        &self.details.terms
    }

    /// What it is at `now`, whether or not a fact has said so yet.
    pub fn status_at(&self, now: Millis) -> AuctionStatus {
        match &self.phase {
            Phase::Closed(_) => AuctionStatus::Closed,
            Phase::Cancelled { .. } => AuctionStatus::Cancelled,
            Phase::Live => status_by_clock(&self.details, self.ends_at, now),
        }
    }

    /// The price of buying at once, while that is on offer.
    pub fn buy_now_on_offer(&self) -> Option<Minor> {
        let Phase::Live = self.phase else { return None };
        let terms = self.details.terms.buy_now?;
        let on_offer = match (terms.policy, self.details.terms.reserve_minor) {
            (BuyNowPolicy::Always, _) => true,
            (BuyNowPolicy::UntilReserveMet, Some(_)) => !self.lead.is_reserve_met(self.terms()),
            (BuyNowPolicy::UntilReserveMet, None) | (BuyNowPolicy::UntilFirstBid, _) => {
                self.lead.leader.is_none()
            }
        };
        on_offer.then_some(terms.price_minor)
    }

    /// When something falls due that no command has touched: the end, or the end of an award.
    pub fn next_due(&self) -> Option<Millis> {
        match &self.phase {
            Phase::Live => Some(self.ends_at),
            Phase::Closed(closed) => closed.pending().map(|award| award.until),
            Phase::Cancelled { .. } => None,
        }
    }

    /// From when on the hot store may forget it; never while it lives or somebody may still pay.
    pub fn retires_at(&self) -> Option<Millis> {
        let last = match &self.phase {
            Phase::Live => return None,
            Phase::Closed(closed) if closed.pending().is_some() => return None,
            Phase::Closed(closed) => closed.last_at,
            Phase::Cancelled { at } => *at,
        };
        Some(last + KEEP_CLOSED_MS)
    }
}

pub(super) fn status_by_clock(details: &AuctionDetails, ends_at: Millis, now: Millis) -> AuctionStatus {
    if is_over(ends_at, now) {
        AuctionStatus::Closed
    } else if now < details.starts_at {
        AuctionStatus::Scheduled
    } else {
        AuctionStatus::Open
    }
}
