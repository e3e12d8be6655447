//! What readers see: a picture of fixed size, and answers about one bidder, the history and the watchers.
//! No living maximum is in any of it, but for the bidder's own.

use std::sync::Arc;

use super::details::AuctionDetails;
use super::fact::Award;
use super::limits::PAGE_MAX;
use super::numbers::BidNumber;
use super::people::{BANNED, WATCHES};
use super::state::{Auction, AuctionEnd, AuctionStatus, AwardState, Phase, status_by_clock};
use crate::id::BuyerId;
use crate::money::Minor;
use crate::time::Millis;

/// An auction as of one fact; copying it costs the same however many have bid.
#[derive(Clone, Debug)]
pub struct AuctionView {
    /// Holds the reserve, which only seller and staff may see.
    pub details: Arc<AuctionDetails>,
    pub ends_at: Millis,
    pub extensions: u32,
    /// Absent before the first bid.
    pub price_minor: Option<Minor>,
    pub min_next_minor: Minor,
    pub leader: Option<BuyerId>,
    pub reserve: Reserve,
    /// What buying at once costs, while that is on offer.
    pub buy_now_minor: Option<Minor>,
    /// Accepted bids, retracted ones too.
    pub bids: u32,
    pub bidders: u32,
    pub watchers: u32,
    pub closed: Option<Arc<AuctionEnd>>,
    pub cancelled: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reserve {
    None,
    NotMet,
    Met,
}

impl AuctionView {
    /// What it is at `now`: open by the clock, over by the clock.
    pub fn status_at(&self, now: Millis) -> AuctionStatus {
        match (&self.closed, self.cancelled) {
            (Some(_), _) => AuctionStatus::Closed,
            (None, true) => AuctionStatus::Cancelled,
            (None, false) => status_by_clock(&self.details, self.ends_at, now),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum AuctionQuery {
    /// For the bidder alone: it has the bidder's own maximum.
    Bidder(BuyerId),
    /// Bids below a number, newest first.
    History { before: Option<BidNumber>, limit: usize },
    /// Watchers behind a name, by name.
    Watchers { after: Option<BuyerId>, limit: usize },
}

#[derive(Clone, Debug, PartialEq)]
pub enum AuctionFound {
    /// This person has nothing to do with the auction.
    Nothing,
    Bidder(Box<BidderState>),
    History(Vec<HistoryLine>),
    Watchers(Vec<BuyerId>),
}

/// One person's part in an auction; never shown to another.
#[derive(Clone, Debug, PartialEq)]
pub struct BidderState {
    pub leading: bool,
    /// The highest of the bids that stand.
    pub max_minor: Option<Minor>,
    /// The latest of the bids that stand.
    pub latest: Option<BidNumber>,
    /// How many stand; with none left this is no active bid.
    pub bids: u32,
    pub watching: bool,
    pub banned: bool,
    pub award: Option<(Award, AwardState)>,
}

/// One bid as everybody may see it.
#[derive(Clone, Debug, PartialEq)]
pub struct HistoryLine {
    pub bid: BidNumber,
    pub bidder: BuyerId,
    pub at: Millis,
    /// The bid's maximum, but never more than the price that bidding has reached; nothing if it was retracted.
    pub amount_minor: Option<Minor>,
    pub leading: bool,
}

impl Auction {
    pub fn view(&self) -> AuctionView {
        let terms = self.terms();
        let reserve = match (terms.reserve_minor, self.lead.is_reserve_met(terms)) {
            (None, _) => Reserve::None,
            (Some(_), true) => Reserve::Met,
            (Some(_), false) => Reserve::NotMet,
        };
        let (closed, cancelled) = match &self.phase {
            Phase::Live => (None, false),
            Phase::Closed(closed) => (Some(closed.clone()), false),
            Phase::Cancelled { .. } => (None, true),
        };
        AuctionView {
            details: self.details.clone(),
            ends_at: self.ends_at,
            extensions: self.extensions,
            price_minor: self.lead.leader.map(|_| self.lead.price),
            min_next_minor: self.lead.min_next(terms),
            leader: self.leader.clone(),
            reserve,
            buy_now_minor: self.buy_now_on_offer(),
            bids: self.bids.len() as u32,
            bidders: self.bidders,
            watchers: self.watchers,
            closed,
            cancelled,
        }
    }

    pub fn ask(&self, query: &AuctionQuery) -> AuctionFound {
        match query {
            AuctionQuery::Bidder(bidder) => self.bidder(bidder),
            AuctionQuery::History { before, limit } => {
                AuctionFound::History(self.history(before.unwrap_or(BidNumber::MAX), *limit))
            }
            AuctionQuery::Watchers { after, limit } => {
                let mut all: Vec<_> = self
                    .people
                    .with(WATCHES)
                    .map(|number| self.people.name(number, BuyerId::known))
                    .collect();
                all.sort_unstable();
                let from = after.as_ref().map_or(0, |after| all.partition_point(|name| name <= after));
                let page = all.into_iter().skip(from).take((*limit).min(PAGE_MAX));
                AuctionFound::Watchers(page.collect())
            }
        }
    }

    fn bidder(&self, id: &BuyerId) -> AuctionFound {
        let awards = match &self.phase {
            Phase::Closed(closed) => closed.awards.as_slice(),
            Phase::Live | Phase::Cancelled { .. } => &[],
        };
        let award = awards.iter().find(|line| line.award.bidder == *id);
        let award = award.map(|line| (line.award.clone(), line.state));
        let number = self.people.find(id.as_str());
        if number.is_none() && award.is_none() {
            return AuctionFound::Nothing;
        }
        let flags = number.map_or(0, |number| self.people.flags(number));
        let mut own: Vec<_> = Vec::new();
        own.extend(number.into_iter().flat_map(|number| self.bids.living_of(number)));
        let leading = self.lead.leader.is_some_and(|leader| Some(leader.bidder) == number);
        AuctionFound::Bidder(Box::new(BidderState {
            leading,
            max_minor: own.iter().map(|bid| bid.max).max(),
            latest: own.last().map(|bid| bid.number),
            bids: own.len() as u32,
            watching: flags & WATCHES != 0,
            banned: flags & BANNED != 0,
            award,
        }))
    }

    fn history(&self, before: BidNumber, limit: usize) -> Vec<HistoryLine> {
        let older = self.bids.iter().rev().filter(|bid| bid.number < before).take(limit.min(PAGE_MAX));
        let line = |bid: super::bids::Bid| HistoryLine {
            bid: bid.number,
            bidder: self.people.name(bid.bidder, BuyerId::known),
            at: bid.at,
            // Every maximum but the leader's is at most the price, so only that one is cut.
            amount_minor: (!bid.retracted).then(|| bid.max.min(self.lead.price)),
            leading: self.lead.leader.is_some_and(|leader| leader.bid == bid.number),
        };
        older.map(line).collect()
    }
}
