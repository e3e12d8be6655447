//! After the close: the award is settled, turned down, or passed on to the next-highest bidder.

use super::Decision;
use super::bids::Bid;
use super::command::{RefundAward, SettleAward};
use super::fact::{AuctionFact, Award, PassCause};
use super::limits::{SECOND_CHANCE_MS, SECOND_CHANCES_MAX};
use super::people::BANNED;
use super::state::{Auction, AuctionEnd, AwardLine, AwardState, Phase};
use crate::field::Field;
use crate::fields::check_reason;
use crate::id::BuyerId;
use crate::money::MINOR_MAX;
use crate::refusal::{Code, Refusal};
use crate::time::Millis;

pub(super) fn settle(auction: &Auction, command: &SettleAward) -> Result<Decision, Refusal> {
    let (_, line) = pending_of(auction, &command.bidder)?;
    Ok(Decision::Fact(AuctionFact::AwardSettled {
        bidder: command.bidder.clone(),
        price_minor: line.award.price_minor,
        order: command.order,
    }))
}

pub(super) fn check_refund(command: &RefundAward) -> Result<(), Refusal> {
    if command.amount_minor.is_some_and(|amount| !(1..=MINOR_MAX).contains(&amount)) {
        return Err(Refusal::invalid(Field::AmountMinor, "1 to 10^12 minor units"));
    }
    check_reason(&command.reason)
}

/// A winning bid binds; a second chance is an offer.
pub(super) fn decline(auction: &Auction, bidder: &BuyerId, now: Millis) -> Result<AuctionFact, Refusal> {
    let (nth, _) = pending_of(auction, bidder)?;
    if nth == 0 {
        return Err(Refusal::of(Code::AwardBinding));
    }
    Ok(pass_on(auction, bidder, PassCause::Declined, now))
}

/// The bidder's award, if it waits to be paid, and how many were before it.
pub(super) fn pending_of<'a>(
    auction: &'a Auction,
    bidder: &BuyerId,
) -> Result<(usize, &'a AwardLine), Refusal> {
    let unknown = Refusal::of(Code::AwardUnknown);
    let Phase::Closed(closed) = &auction.phase else { return Err(unknown) };
    let own = closed.awards.iter().enumerate().find(|(_, line)| line.award.bidder == *bidder);
    let Some((nth, line)) = own else { return Err(unknown) };
    match line.state {
        AwardState::Pending => Ok((nth, line)),
        AwardState::Settled | AwardState::Refunded => Err(Refusal::of(Code::AwardSettled)),
        // It was due and has been passed on by its own fact before we are asked.
        AwardState::Unpaid | AwardState::Declined => Err(Refusal::of(Code::Expired)),
    }
}

/// Takes the award from one bidder and gives it to the next-highest, if anybody is left.
pub(super) fn pass_on(auction: &Auction, from: &BuyerId, why: PassCause, now: Millis) -> AuctionFact {
    let to = match &auction.phase {
        Phase::Closed(closed) if closed.awards.len() <= SECOND_CHANCES_MAX => next(auction, closed, now),
        Phase::Closed(_) | Phase::Live | Phase::Cancelled { .. } => None,
    };
    AuctionFact::AwardPassed { from: from.clone(), why, to }
}

/// The highest living maximum of somebody who has had no chance and is not banned, at or above the reserve;
/// of equal ones the earlier. The price is that maximum.
fn next(auction: &Auction, closed: &AuctionEnd, now: Millis) -> Option<Award> {
    let had: Vec<u16> =
        closed.awards.iter().filter_map(|line| auction.people.find(line.award.bidder.as_str())).collect();
    let may = |bid: &Bid| {
        auction.terms().is_reserve_met(bid.max)
            && !had.contains(&bid.bidder)
            && auction.people.flags(bid.bidder) & BANNED == 0
    };
    let best =
        auction.bids.living().filter(may).reduce(|best, bid| if bid.max > best.max { bid } else { best });
    best.map(|bid| Award {
        bidder: auction.people.name(bid.bidder, BuyerId::known),
        bid: Some(bid.number),
        price_minor: bid.max,
        until: now + SECOND_CHANCE_MS,
    })
}
