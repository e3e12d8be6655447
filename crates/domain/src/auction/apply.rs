//! The only way an auction changes: a fact is taken into the state, live and in recovery alike. Nothing is decided
//! here; what a bid or a retraction came to stands in its fact.

use std::sync::Arc;

use super::bids::Bids;
use super::fact::{AuctionFact, Award, PassCause, ReplayResult};
use super::people::{BANNED, BIDS, WATCHES};
use super::proxy::{Lead, Leading};
use super::state::{Auction, AuctionEnd, AwardLine, AwardState, Phase};
use crate::time::Millis;

impl Auction {
    /// The auction that its first fact makes; `None` for any other fact.
    pub fn created_by(fact: &AuctionFact) -> Option<Auction> {
        let AuctionFact::AuctionCreated(details) = fact else { return None };
        Some(Auction::new((**details).clone()))
    }

    /// Takes the next fact into the state.
    pub fn apply(&mut self, fact: &AuctionFact, at: Millis) {
        match fact {
            AuctionFact::AuctionCreated(_) => panic!("an auction is created once"),
            AuctionFact::AuctionChanged(details) => {
                // Times change only before the start: there is no bid yet, and nothing has moved the end.
                if (details.starts_at, details.ends_at) != (self.details.starts_at, self.details.ends_at) {
                    self.ends_at = details.ends_at;
                    self.bids = Bids::new(details.starts_at);
                }
                self.details = Arc::new((**details).clone());
            }
            AuctionFact::AuctionCancelled { .. } => self.phase = Phase::Cancelled { at },
            AuctionFact::BidPlaced { bid, bidder, max_minor, leading, price_minor, ends_at, .. } => {
                let (number, new) = self.people.mark(bidder.as_str(), BIDS);
                self.bidders += u32::from(new);
                self.bids.push(*bid, number, *max_minor, at);
                self.lead.price = *price_minor;
                if *leading {
                    self.lead.leader = Some(Leading { bid: *bid, bidder: number, max: *max_minor });
                    self.leader = Some(bidder.clone());
                }
                if *ends_at != self.ends_at {
                    self.ends_at = *ends_at;
                    self.extensions += 1;
                }
            }
            AuctionFact::BidRetracted { bid, after, .. } => {
                self.bids.retract(*bid);
                self.take_replayed(after);
            }
            AuctionFact::BidderBanned { bidder, after, .. } => {
                let (number, new) = self.people.mark(bidder.as_str(), BANNED);
                self.banned += u32::from(new);
                if let Some(after) = after {
                    self.bids.retract_all_of(number);
                    self.take_replayed(after);
                }
            }
            AuctionFact::BidderUnbanned { bidder } => {
                self.banned -= u32::from(self.people.unmark(bidder.as_str(), BANNED));
            }
            AuctionFact::AuctionClosed { how, award } => {
                let awards = award.iter().map(pending).collect();
                self.phase = Phase::Closed(Arc::new(AuctionEnd { at, how: *how, awards, last_at: at }));
            }
            AuctionFact::AwardPassed { why, to, .. } => {
                let state = match why {
                    PassCause::Unpaid => AwardState::Unpaid,
                    PassCause::Declined => AwardState::Declined,
                };
                self.end_award(state, to.as_ref(), at);
            }
            AuctionFact::AwardSettled { .. } => self.end_award(AwardState::Settled, None, at),
            AuctionFact::AwardRefunded { left_minor, .. } => {
                let state = if *left_minor == 0 { AwardState::Refunded } else { AwardState::Settled };
                self.end_award(state, None, at);
            }
            AuctionFact::WatchStarted { watcher } => {
                self.watchers += u32::from(self.people.mark(watcher.as_str(), WATCHES).1);
            }
            AuctionFact::WatchEnded { watcher } => {
                self.watchers -= u32::from(self.people.unmark(watcher.as_str(), WATCHES));
            }
        }
    }

    fn take_replayed(&mut self, after: &ReplayResult) {
        let leader = after.leader.as_ref().map(|leader| {
            let bid = self.bids.get(leader.bid).expect("a fact names a bid that was placed");
            Leading { bid: bid.number, bidder: bid.bidder, max: bid.max }
        });
        self.lead = Lead { leader, price: after.price_minor };
        self.leader = after.leader.as_ref().map(|leader| leader.bidder.clone());
    }

    fn end_award(&mut self, state: AwardState, next: Option<&Award>, at: Millis) {
        let Phase::Closed(closed) = &mut self.phase else { panic!("an award before the close") };
        let closed = Arc::make_mut(closed);
        closed.awards.last_mut().expect("a fact ends an award that was given").state = state;
        closed.awards.extend(next.map(pending));
        closed.last_at = at;
    }
}

fn pending(award: &Award) -> AwardLine {
    AwardLine { award: award.clone(), state: AwardState::Pending }
}
