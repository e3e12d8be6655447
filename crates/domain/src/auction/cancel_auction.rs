//! An auction is called off: nobody gets it. Possible until it closes, with bids or without.

use super::command::CancelAuction;
use super::fact::AuctionFact;
use super::state::{Auction, Phase};
use crate::fields::check_reason;
use crate::refusal::{Code, Refusal};

pub(super) fn check(command: &CancelAuction) -> Result<(), Refusal> {
    check_reason(&command.reason)
}

pub(super) fn decide(auction: &Auction, command: &CancelAuction) -> Result<AuctionFact, Refusal> {
    match auction.phase {
        Phase::Live => Ok(AuctionFact::AuctionCancelled { reason: command.reason.clone() }),
        Phase::Cancelled { .. } => Err(Refusal::of(Code::AuctionCancelled)),
        Phase::Closed(_) => Err(Refusal::of(Code::AuctionOver)),
    }
}
