//! What somebody asks of one auction. The edge has checked who asks; the domain checks what is asked.

use super::bids::BidNumber;
use super::details::{AuctionDetails, BuyNowTerms, SoftClose};
use super::increment::Increment;
use crate::id::{BuyerId, OrderId};
use crate::money::{Currency, Minor};
use crate::time::Millis;

#[derive(Clone, Debug, PartialEq)]
pub enum AuctionCommand {
    CreateAuction(Box<AuctionDetails>),
    ChangeAuction(Box<ChangeAuction>),
    CancelAuction(CancelAuction),
    PlaceBid(PlaceBid),
    BuyNow(BuyNow),
    RetractBid(RetractBid),
    BanBidder(BanBidder),
    UnbanBidder(BuyerId),
    /// The award is paid, or was settled elsewhere by somebody who may say so.
    SettleAward(SettleAward),
    /// A second chance is turned down.
    DeclineAward(BuyerId),
    WatchAuction(BuyerId),
    UnwatchAuction(BuyerId),
    /// Closes what is over and passes on what was not paid; the sweep.
    CloseDue,
    RefundAward(RefundAward),
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
    pub by: String,
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
    Staff(String),
    /// The bidder, where the auction lets bidders retract.
    Bidder(BuyerId),
}

#[derive(Clone, Debug, PartialEq)]
pub struct BanBidder {
    pub bidder: BuyerId,
    pub staff: String,
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

impl AuctionCommand {
    /// Whether a yes to this may never be lost, whatever store forgets.
    pub fn is_sealed(&self) -> bool {
        match self {
            AuctionCommand::CreateAuction(_)
            | AuctionCommand::ChangeAuction(_)
            | AuctionCommand::CancelAuction(_)
            | AuctionCommand::PlaceBid(_)
            | AuctionCommand::BuyNow(_)
            | AuctionCommand::RetractBid(_)
            | AuctionCommand::BanBidder(_)
            | AuctionCommand::UnbanBidder(_)
            | AuctionCommand::SettleAward(_)
            | AuctionCommand::DeclineAward(_)
            | AuctionCommand::RefundAward(_)
            | AuctionCommand::CloseDue => true,
            AuctionCommand::WatchAuction(_) | AuctionCommand::UnwatchAuction(_) => false,
        }
    }

    /// The buyer whose attempt this is, where refused attempts are kept: see [`crate::attempts`].
    pub fn attempt_by(&self) -> Option<&BuyerId> {
        match self {
            AuctionCommand::PlaceBid(command) => Some(&command.bidder),
            AuctionCommand::BuyNow(command) => Some(&command.buyer),
            AuctionCommand::CreateAuction(_)
            | AuctionCommand::ChangeAuction(_)
            | AuctionCommand::CancelAuction(_)
            | AuctionCommand::RetractBid(_)
            | AuctionCommand::BanBidder(_)
            | AuctionCommand::UnbanBidder(_)
            | AuctionCommand::SettleAward(_)
            | AuctionCommand::DeclineAward(_)
            | AuctionCommand::WatchAuction(_)
            | AuctionCommand::UnwatchAuction(_)
            | AuctionCommand::RefundAward(_)
            | AuctionCommand::CloseDue => None,
        }
    }

    /// All names, in the order of the commands.
    pub const VERBS: &[&str] = &[
        "create_auction",
        "change_auction",
        "cancel_auction",
        "place_bid",
        "buy_now",
        "retract_bid",
        "ban_bidder",
        "unban_bidder",
        "settle_award",
        "decline_award",
        "watch_auction",
        "unwatch_auction",
        "close_due",
        "refund_award",
    ];

    pub fn verb_number(&self) -> usize {
        match self {
            AuctionCommand::CreateAuction(_) => 0,
            AuctionCommand::ChangeAuction(_) => 1,
            AuctionCommand::CancelAuction(_) => 2,
            AuctionCommand::PlaceBid(_) => 3,
            AuctionCommand::BuyNow(_) => 4,
            AuctionCommand::RetractBid(_) => 5,
            AuctionCommand::BanBidder(_) => 6,
            AuctionCommand::UnbanBidder(_) => 7,
            AuctionCommand::SettleAward(_) => 8,
            AuctionCommand::DeclineAward(_) => 9,
            AuctionCommand::WatchAuction(_) => 10,
            AuctionCommand::UnwatchAuction(_) => 11,
            AuctionCommand::CloseDue => 12,
            AuctionCommand::RefundAward(_) => 13,
        }
    }

    /// The verb's name, the same in metrics, logs and idempotency scopes.
    pub fn verb(&self) -> &'static str {
        Self::VERBS[self.verb_number()]
    }
}
