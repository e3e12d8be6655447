//! A bid is taken back: the rules are replayed over those that remain. The end never moves.

use super::Decision;
use super::bids::Bid;
use super::command::{RetractBid, Retractor};
use super::fact::{AuctionFact, Leader, ReplayResult};
use super::limits::{RETRACTION_AGE_MS_MAX, RETRACTION_LEFT_MS_MIN};
use super::place_bid::is_open;
use super::proxy::{self, Lead};
use super::state::Auction;
use crate::fields::check_reason;
use crate::id::BuyerId;
use crate::refusal::{Code, Refusal};
use crate::time::Millis;

pub(super) fn check(command: &RetractBid) -> Result<(), Refusal> {
    check_reason(&command.reason)
}

pub(super) fn decide(auction: &Auction, command: &RetractBid, now: Millis) -> Result<Decision, Refusal> {
    is_open(auction, now)?;
    let bid = auction.bids.get(command.bid).ok_or(Refusal::of(Code::BidUnknown))?;
    if let Retractor::Bidder(bidder) = &command.by {
        may_retract(auction, bidder, &bid, now)?;
    }
    if bid.retracted {
        return Ok(Decision::Unchanged);
    }
    let lead = proxy::replay_without(auction.terms(), &auction.bids, |other| other.number == bid.number);
    Ok(Decision::Fact(AuctionFact::BidRetracted {
        bid: bid.number,
        reason: command.reason.clone(),
        after: Box::new(replayed(auction, lead)),
    }))
}

/// A bidder's own, the latest that stands, young, and well before the end.
fn may_retract(auction: &Auction, bidder: &BuyerId, bid: &Bid, now: Millis) -> Result<(), Refusal> {
    if auction.people.find(bidder.as_str()) != Some(bid.bidder) {
        return Err(Refusal::of(Code::BidUnknown));
    }
    if !auction.terms().bidders_may_retract {
        return Err(Refusal::of(Code::RetractionNotAllowed));
    }
    if bid.retracted {
        return Ok(());
    }
    let latest = auction.bids.living_of(bid.bidder).next_back();
    if latest.is_some_and(|latest| latest.number != bid.number) {
        return Err(Refusal::of(Code::BidNotLatest));
    }
    if now - bid.at > RETRACTION_AGE_MS_MAX || auction.ends_at - now < RETRACTION_LEFT_MS_MIN {
        return Err(Refusal::of(Code::RetractionLate));
    }
    Ok(())
}

/// A lead as its fact tells it.
pub(super) fn replayed(auction: &Auction, lead: Lead) -> ReplayResult {
    let leader = lead
        .leader
        .map(|leader| Leader { bid: leader.bid, bidder: auction.people.name(leader.bidder, BuyerId::known) });
    ReplayResult {
        leader,
        price_minor: lead.price,
        min_next_minor: lead.min_next(auction.terms()),
        reserve_met: lead.is_reserve_met(auction.terms()),
    }
}
