//! What happened to an auction, never changed. The order of variants and fields is the journal's format: numbers are
//! only ever added. A fact holds its result, so that the past stays what it was whatever the rules become.

use minicbor::{Decode, Encode};

use super::details::AuctionDetails;
use super::numbers::BidNumber;
use crate::id::{BuyerId, OrderId};
use crate::money::Minor;
use crate::time::Millis;
use crate::verb::fact_names;

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub enum AuctionFact {
    #[n(0)]
    AuctionCreated(#[n(0)] Box<AuctionDetails>),
    #[n(1)]
    AuctionChanged(#[n(0)] Box<AuctionDetails>),
    #[n(2)]
    AuctionCancelled {
        #[n(0)]
        reason: String,
    },
    /// A bid was accepted; with the end that it may have moved.
    #[n(3)]
    BidPlaced {
        /// 1, 2, 3 … in the order of acceptance.
        #[n(0)]
        bid: BidNumber,
        #[n(1)]
        bidder: BuyerId,
        /// Secret while it lives; see [`AuctionFact::public`].
        #[n(2)]
        max_minor: Minor,
        /// Whether this bidder leads now; otherwise the leader is the same as before.
        #[n(3)]
        leading: bool,
        #[n(4)]
        price_minor: Minor,
        #[n(5)]
        min_next_minor: Minor,
        #[n(6)]
        reserve_met: bool,
        #[n(7)]
        ends_at: Millis,
    },
    #[n(4)]
    BidRetracted {
        #[n(0)]
        bid: BidNumber,
        #[n(1)]
        reason: String,
        #[n(2)]
        after: Box<ReplayResult>,
    },
    /// Also retracts every bid of the bidder while the auction is open.
    #[n(5)]
    BidderBanned {
        #[n(0)]
        bidder: BuyerId,
        #[n(1)]
        reason: String,
        /// What stands without the bidder's bids; absent if none was alive.
        #[n(2)]
        after: Option<Box<ReplayResult>>,
    },
    #[n(6)]
    BidderUnbanned {
        #[n(0)]
        bidder: BuyerId,
    },
    /// It is over, once and for all; the award is the winner's, if there is one.
    #[n(7)]
    AuctionClosed {
        #[n(0)]
        how: Closing,
        #[n(1)]
        award: Option<Award>,
    },
    /// The award was not paid in time or turned down; it goes to the next, if there is one.
    #[n(8)]
    AwardPassed {
        #[n(0)]
        from: BuyerId,
        #[n(1)]
        why: PassCause,
        #[n(2)]
        to: Option<Award>,
    },
    #[n(9)]
    AwardSettled {
        #[n(0)]
        bidder: BuyerId,
        #[n(1)]
        price_minor: Minor,
        #[n(2)]
        order: OrderId,
    },
    #[n(10)]
    WatchStarted {
        #[n(0)]
        watcher: BuyerId,
    },
    #[n(11)]
    WatchEnded {
        #[n(0)]
        watcher: BuyerId,
    },
    /// What was paid for an award goes back, wholly or in part. The auction stays closed.
    #[n(12)]
    AwardRefunded {
        #[n(0)]
        order: OrderId,
        #[n(1)]
        bidder: BuyerId,
        #[n(2)]
        amount_minor: Minor,
        /// What the order still keeps; 0: nothing is left of it.
        #[n(3)]
        left_minor: Minor,
        #[n(4)]
        reason: String,
    },
}

/// What the remaining bids come to, replayed.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct ReplayResult {
    /// The bid that leads now, and whose it is.
    #[n(0)]
    pub leader: Option<Leader>,
    /// 0 with no bids left.
    #[n(1)]
    pub price_minor: Minor,
    #[n(2)]
    pub min_next_minor: Minor,
    #[n(3)]
    pub reserve_met: bool,
}

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct Leader {
    #[n(0)]
    pub bid: BidNumber,
    #[n(1)]
    pub bidder: BuyerId,
}

/// Who may have the thing, for how much, until when.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct Award {
    #[n(0)]
    pub bidder: BuyerId,
    /// The bid that earned it; none for a buy-now.
    #[n(1)]
    pub bid: Option<BidNumber>,
    #[n(2)]
    pub price_minor: Minor,
    #[n(3)]
    pub until: Millis,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub enum Closing {
    #[n(0)]
    Won,
    #[n(1)]
    BoughtNow,
    #[n(2)]
    ReserveNotMet,
    #[n(3)]
    NoBids,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub enum PassCause {
    #[n(0)]
    Unpaid,
    #[n(1)]
    Declined,
}

impl AuctionFact {
    /// The fact as the public may read it: no maximum above the price, no reserve.
    pub fn public(&self) -> AuctionFact {
        let mut shown = self.clone();
        if let AuctionFact::AuctionCreated(details) | AuctionFact::AuctionChanged(details) = &mut shown {
            details.terms.reserve_minor = None;
        }
        if let AuctionFact::BidPlaced { max_minor, price_minor, .. } = &mut shown {
            *max_minor = (*max_minor).min(*price_minor);
        }
        shown
    }
}

fact_names! {
    AuctionFact {
        AuctionCreated = "auction_created",
        AuctionChanged = "auction_changed",
        AuctionCancelled = "auction_cancelled",
        BidPlaced = "bid_placed",
        BidRetracted = "bid_retracted",
        BidderBanned = "bidder_banned",
        BidderUnbanned = "bidder_unbanned",
        AuctionClosed = "auction_closed",
        AwardPassed = "award_passed",
        AwardSettled = "award_settled",
        WatchStarted = "watch_started",
        WatchEnded = "watch_ended",
        AwardRefunded = "award_refunded",
    }
}
