//! Proxy bidding: what a maximum does to leader and price. Pure; used for a new bid and, over all that remain,
//! for a retraction. The five rules are those of `docs/rules.md`.

use super::bids::{Bid, Bids};
use super::details::AuctionTerms;
use super::numbers::BidNumber;
use crate::money::Minor;

/// Who leads with which bid, and the price that follows from the others; 0 while there is no bid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Lead {
    pub leader: Option<Leading>,
    pub price: Minor,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Leading {
    pub bid: BidNumber,
    pub bidder: u16,
    pub max: Minor,
}

impl Lead {
    /// The least that another bid must offer.
    pub(super) fn min_next(&self, terms: &AuctionTerms) -> Minor {
        match self.leader {
            None => terms.start_minor,
            Some(_) => self.price + terms.increment.at(self.price),
        }
    }

    pub(super) fn is_reserve_met(&self, terms: &AuctionTerms) -> bool {
        self.leader.is_some_and(|leader| terms.is_reserve_met(leader.max))
    }
}

/// The lead after a bid of `new.max`, whether or not it reaches the least that is asked for.
pub(super) fn place(terms: &AuctionTerms, lead: Lead, new: Leading) -> Lead {
    let beyond = |amount: Minor| amount + terms.increment.at(amount);
    let (leader, price) = match lead.leader {
        None => (new, terms.start_minor),
        Some(old) if old.bidder == new.bidder => (new, lead.price),
        Some(old) if new.max > old.max => (new, new.max.min(beyond(old.max))),
        Some(old) => (old, old.max.min(beyond(new.max))),
    };
    // In a replay a low bid may come late: the price stays all the same.
    let price = price.max(lead.price);
    let floor = terms.reserve_minor.filter(|reserve| leader.max >= *reserve).unwrap_or(price);
    Lead { leader: Some(leader), price: price.max(floor) }
}

/// The lead that these bids come to, one after the other.
pub(super) fn replay(terms: &AuctionTerms, bids: impl Iterator<Item = Bid>) -> Lead {
    bids.fold(Lead::default(), |lead, bid| {
        place(terms, lead, Leading { bid: bid.number, bidder: bid.bidder, max: bid.max })
    })
}

/// The lead without the bids that `gone` names.
pub(super) fn replay_without(terms: &AuctionTerms, bids: &Bids, gone: impl Fn(&Bid) -> bool) -> Lead {
    replay(terms, bids.living().filter(|bid| !gone(bid)))
}
