//! Staff bans a bidder from this auction: no bid, no buy and no second chance. While it is open the bidder's bids
//! go, too, as if retracted: a banned leader must not win.

use super::Decision;
use super::command::BanBidder;
use super::fact::AuctionFact;
use super::limits::BANNED_MAX;
use super::people::BANNED;
use super::proxy;
use super::retract_bid::replayed;
use super::state::{Auction, Phase};
use crate::fields::check_reason;
use crate::id::BuyerId;
use crate::refusal::{Code, Refusal};

pub(super) fn check(command: &BanBidder) -> Result<(), Refusal> {
    check_reason(&command.reason)
}

pub(super) fn ban(auction: &Auction, command: &BanBidder) -> Result<Decision, Refusal> {
    if auction.people.has(command.bidder.as_str(), BANNED) {
        return Ok(Decision::Unchanged);
    }
    if auction.banned as usize >= BANNED_MAX {
        return Err(Refusal::limit(Code::BansFull, BANNED_MAX as u32, auction.banned));
    }
    let bidder = auction.people.find(command.bidder.as_str());
    let alive = |bidder: &u16| match auction.phase {
        Phase::Live => auction.bids.living_of(*bidder).next().is_some(),
        Phase::Closed(_) | Phase::Cancelled { .. } => false,
    };
    let after = bidder.filter(alive).map(|bidder| {
        let lead = proxy::replay_without(auction.terms(), &auction.bids, |bid| bid.bidder == bidder);
        Box::new(replayed(auction, lead))
    });
    Ok(Decision::Fact(AuctionFact::BidderBanned {
        bidder: command.bidder.clone(),
        reason: command.reason.clone(),
        after,
    }))
}

/// The bidder may bid again; what was retracted stays so.
pub(super) fn unban(auction: &Auction, bidder: &BuyerId) -> Decision {
    match auction.people.has(bidder.as_str(), BANNED) {
        true => Decision::Fact(AuctionFact::BidderUnbanned { bidder: bidder.clone() }),
        false => Decision::Unchanged,
    }
}
