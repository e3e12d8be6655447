//! What somebody asks of one auction. The edge has checked who asks; the domain checks what is asked.

use super::details::{AuctionDetails, BuyNowTerms, SoftClose};
use super::increment::Increment;
use super::numbers::BidNumber;
use crate::id::{BuyerId, OrderId};
use crate::money::{Currency, Minor};
use crate::time::Millis;
use crate::verb::commands;

commands! {
    pub enum AuctionCommand {
        CreateAuction(Box<AuctionDetails>) = creates "create_auction",
        ChangeAuction(Box<ChangeAuction>) = sealed "change_auction",
        CancelAuction(CancelAuction) = sealed "cancel_auction",
        PlaceBid(PlaceBid) = sealed "place_bid",
        BuyNow(BuyNow) = sealed "buy_now",
        RetractBid(RetractBid) = sealed "retract_bid",
        BanBidder(BanBidder) = sealed "ban_bidder",
        UnbanBidder(BuyerId) = sealed "unban_bidder",
        /// The award is paid, or was settled elsewhere by somebody who may say so.
        SettleAward(SettleAward) = sealed "settle_award",
        /// A second chance is turned down.
        DeclineAward(BuyerId) = sealed "decline_award",
        WatchAuction(BuyerId) = unsealed "watch_auction",
        UnwatchAuction(BuyerId) = unsealed "unwatch_auction",
        RefundAward(RefundAward) = sealed "refund_award",
    }
}

/// Only what is given changes. Times and terms may change until the auction starts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChangeAuction {
    pub name: Option<String>,
    pub description: Option<String>,
    pub starts_at: Option<Millis>,
    pub ends_at: Option<Millis>,
    pub terms: ChangeTerms,
}

/// Terms, one by one: two changes at once each keep what the other did not name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChangeTerms {
    pub start_minor: Option<Minor>,
    pub tick_minor: Option<Minor>,
    pub increment: Option<Increment>,
    pub reserve_minor: Option<Option<Minor>>,
    pub buy_now: Option<Option<BuyNowTerms>>,
    pub soft_close: Option<Option<SoftClose>>,
    pub bidders_may_retract: Option<bool>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct CancelAuction {
    pub reason: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PlaceBid {
    pub bidder: BuyerId,
    /// The most this bidder would pay; what is paid follows from the others.
    pub max_minor: Minor,
    pub currency: Currency,
}

#[derive(Clone, Debug, PartialEq)]
pub struct BuyNow {
    pub buyer: BuyerId,
    pub currency: Currency,
}

#[derive(Clone, Debug, PartialEq)]
pub struct RetractBid {
    pub bid: BidNumber,
    pub by: Retractor,
    pub reason: String,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Retractor {
    Staff,
    /// The bidder, where the auction lets bidders retract.
    Bidder(BuyerId),
}

#[derive(Clone, Debug, PartialEq)]
pub struct BanBidder {
    pub bidder: BuyerId,
    pub reason: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SettleAward {
    pub bidder: BuyerId,
    pub order: OrderId,
}

/// What was paid for an award goes back, wholly or in part: decided by the book of orders, which knows what was paid.
#[derive(Clone, Debug, PartialEq)]
pub struct RefundAward {
    pub order: OrderId,
    /// Nothing said: all that is left.
    pub amount_minor: Option<Minor>,
    pub reason: String,
}
