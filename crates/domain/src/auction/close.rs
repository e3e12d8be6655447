//! What the clock brings about: the close, once, and the end of an award that nobody paid. Whoever wakes first
//! writes it down; until then every command sees it as if it were written.

use super::award;
use super::fact::{AuctionFact, Award, Closing, PassCause};
use super::limits::PAY_MS;
use super::state::{Auction, Phase};
use crate::id::BuyerId;
use crate::time::{Millis, is_over};

/// The next fact that is due at `now`.
pub(super) fn due(auction: &Auction, now: Millis) -> Option<AuctionFact> {
    if !auction.next_due().is_some_and(|due| is_over(due, now)) {
        return None;
    }
    match &auction.phase {
        Phase::Live => Some(close(auction, now)),
        Phase::Closed(closed) => {
            let lapsed = closed.pending()?;
            Some(award::pass_on(auction, &lapsed.bidder, PassCause::Unpaid, now))
        }
        Phase::Cancelled { .. } => None,
    }
}

/// A winner only if the reserve is met. The winner's days to pay begin now, when the result is first known.
fn close(auction: &Auction, now: Millis) -> AuctionFact {
    let Some(leader) = auction.lead.leader else {
        return AuctionFact::AuctionClosed { how: Closing::NoBids, award: None };
    };
    if !auction.lead.is_reserve_met(auction.terms()) {
        return AuctionFact::AuctionClosed { how: Closing::ReserveNotMet, award: None };
    }
    let award = Award {
        bidder: auction.people.name(leader.bidder, BuyerId::known),
        bid: Some(leader.bid),
        price_minor: auction.lead.price,
        until: now + PAY_MS,
    };
    AuctionFact::AuctionClosed { how: Closing::Won, award: Some(award) }
}
