//! A bid: a maximum, up to which the house bids for its owner. The order of the checks is the order of precedence.

use super::command::PlaceBid;
use super::fact::AuctionFact;
use super::limits::BIDS_MAX;
use super::people::{BANNED, NOBODY};
use super::proxy::{self, Leading};
use super::state::{Auction, AuctionStatus};
use super::{buy_now, soft_close};
use crate::field::Field;
use crate::id::BuyerId;
use crate::money::{Currency, MINOR_MAX};
use crate::refusal::{Code, Detail, Refusal};
use crate::time::Millis;

pub(super) fn check(command: &PlaceBid) -> Result<(), Refusal> {
    if (1..=MINOR_MAX).contains(&command.max_minor) {
        return Ok(());
    }
    Err(Refusal::invalid(Field::MaxMinor, "1 to 1,000,000,000,000 minor units"))
}

pub(super) fn decide(auction: &Auction, command: &PlaceBid, now: Millis) -> Result<AuctionFact, Refusal> {
    let (terms, lead, max) = (auction.terms(), auction.lead, command.max_minor);
    may_bid(auction, &command.bidder, command.currency, now)?;
    if max % terms.tick_minor != 0 {
        return Err(Refusal::of(Code::OffTick));
    }
    if let Some(price) = auction.buy_now_on_offer().filter(|price| max >= *price) {
        return Ok(buy_now::bought(&command.bidder, price, now));
    }
    // Only the leader's own bid is another case, and the leader is known by name: nobody is looked up.
    let own = lead.leader.filter(|_| auction.leader.as_ref() == Some(&command.bidder));
    let bidder = own.map_or(NOBODY, |leader| leader.bidder);
    if own.is_some_and(|leader| max <= leader.max) {
        return Err(Refusal::of(Code::LeaderNotRaising));
    }
    let min_next = lead.min_next(terms);
    if max < min_next {
        return Err(Refusal { detail: Detail::MinNext(min_next), ..Refusal::of(Code::BidTooLow) });
    }
    if auction.bids.len() >= BIDS_MAX {
        return Err(Refusal::limit(Code::BidsFull, BIDS_MAX as u32, BIDS_MAX as u32));
    }
    let bid = auction.bids.next_number();
    let after = proxy::place(terms, lead, Leading { bid, bidder, max });
    Ok(AuctionFact::BidPlaced {
        bid,
        bidder: command.bidder.clone(),
        max_minor: max,
        leading: after.leader.is_some_and(|leader| leader.bid == bid),
        price_minor: after.price,
        min_next_minor: after.min_next(terms),
        reserve_met: after.is_reserve_met(terms),
        ends_at: if own.is_some() { auction.ends_at } else { soft_close::end_after(auction, now) },
    })
}

/// What is asked of everybody who wants to bid or buy: the auction runs, and it is not their own.
pub(super) fn may_bid(
    auction: &Auction,
    bidder: &BuyerId,
    currency: Currency,
    now: Millis,
) -> Result<(), Refusal> {
    is_open(auction, now)?;
    if *bidder == auction.details.seller {
        return Err(Refusal::of(Code::SellerBids));
    }
    if auction.banned > 0 && auction.people.has(bidder.as_str(), BANNED) {
        return Err(Refusal::of(Code::BidderBanned));
    }
    if currency != auction.details.currency {
        return Err(Refusal::of(Code::OtherCurrency));
    }
    Ok(())
}

pub(super) fn is_open(auction: &Auction, now: Millis) -> Result<(), Refusal> {
    match auction.status_at(now) {
        AuctionStatus::Scheduled => Err(Refusal::of(Code::AuctionNotStarted)),
        AuctionStatus::Cancelled => Err(Refusal::of(Code::AuctionCancelled)),
        AuctionStatus::Closed => Err(Refusal::of(Code::AuctionOver)),
        AuctionStatus::Open => Ok(()),
    }
}
