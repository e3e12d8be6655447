//! What pages and programs of others are shown of auctions: those that are not over, by their end, and in which of them
//! somebody's bids stand. It follows from facts, and decides nothing.

use std::collections::BTreeSet;

use onsale_domain::auction::limits::LENGTH_MS_MAX;
use onsale_domain::auction::{Auction, AuctionFact, AuctionFound, AuctionQuery};
use onsale_domain::{BuyerId, Fact, ListingId, ListingKind, Millis};
use onsale_engine::engine::BodyView;

use super::Inner;
use super::derive::Commands;
use super::replica::Replica;

/// What was not taken away is not shown for longer than an auction may last after the last bid.
const BIDS_MS: Millis = LENGTH_MS_MAX;
/// Bidders that may wait for their round; more of them are left out.
const TOUCHED_MAX: usize = 4_096;

/// Whose bids may stand or fall, and which auctions ended, since the last round.
#[derive(Debug, Default)]
pub struct Touched {
    bidders: BTreeSet<(ListingId, BuyerId)>,
    ended: BTreeSet<ListingId>,
}

impl Touched {
    /// A fact that the replica has taken in.
    pub fn note(&mut self, replica: &Replica, fact: &Fact) {
        let Fact::Auction(fact) = fact else { return };
        let bidder = match fact {
            AuctionFact::BidPlaced { bidder, .. } | AuctionFact::BidderBanned { bidder, .. } => {
                Some(bidder.clone())
            }
            AuctionFact::BidRetracted { bid, .. } => replica.with(|picture| {
                let query = AuctionQuery::History { before: bid.checked_add(1), limit: 1 };
                let found = picture.listing.auction().map(|auction| auction.ask(&query));
                let Some(AuctionFound::History(lines)) = found else { return None };
                lines.into_iter().next().map(|line| line.bidder)
            }),
            AuctionFact::AuctionClosed { .. } | AuctionFact::AuctionCancelled { .. } => {
                self.ended.insert(replica.id);
                None
            }
            AuctionFact::AuctionCreated(_)
            | AuctionFact::AuctionChanged(_)
            | AuctionFact::BidderUnbanned { .. }
            | AuctionFact::AwardPassed { .. }
            | AuctionFact::AwardSettled { .. }
            | AuctionFact::AwardRefunded { .. }
            | AuctionFact::WatchStarted { .. }
            | AuctionFact::WatchEnded { .. } => None,
        };
        if self.bidders.len() < TOUCHED_MAX {
            self.bidders.extend(bidder.map(|bidder| (replica.id, bidder)));
        }
    }
}

/// The auction's place among those that are not over.
pub fn active(inner: &Inner, replica: &Replica) -> Commands {
    if replica.id.kind != ListingKind::Auction {
        return Vec::new();
    }
    let Some(view) = replica.view() else { return Vec::new() };
    let BodyView::Auction(auction) = &view.body else { return Vec::new() };
    let (key, id) = (inner.across.active_auctions(replica.id.tenant), replica.id.to_string());
    let command = match auction.closed.is_some() || auction.cancelled {
        true => redis::cmd("ZREM").arg(&key).arg(id).to_owned(),
        false => redis::cmd("ZADD").arg(&key).arg(auction.ends_at).arg(id).to_owned(),
    };
    vec![(key, command)]
}

/// In which auctions each of these bidders has a bid that stands.
pub fn active_bids(inner: &Inner, touched: Touched) -> Commands {
    let mut commands = Vec::new();
    for (listing, bidder) in touched.bidders.iter().filter(|(listing, _)| !touched.ended.contains(listing)) {
        let Some(replica) = inner.directory.get(listing) else { continue };
        let stands = replica.with(|picture| picture.listing.auction().is_some_and(|it| stands(it, bidder)));
        commands.extend(show(inner, *listing, bidder, stands));
    }
    for listing in &touched.ended {
        let Some(replica) = inner.directory.get(listing) else { continue };
        let bidders = replica.with(|picture| picture.listing.auction().map(bidders).unwrap_or_default());
        commands.extend(bidders.iter().flat_map(|bidder| show(inner, *listing, bidder, false)));
    }
    commands
}

fn stands(auction: &Auction, bidder: &BuyerId) -> bool {
    let view = auction.view();
    let found = auction.ask(&AuctionQuery::Bidder(bidder.clone()));
    let AuctionFound::Bidder(state) = found else { return false };
    state.bids > 0 && view.closed.is_none() && !view.cancelled
}

/// Everybody who has ever bid.
fn bidders(auction: &Auction) -> Vec<BuyerId> {
    let image = auction.image();
    let count = image.bids.iter().map(|bid| usize::from(bid.bidder) + 1).max().unwrap_or(0);
    image.people.into_iter().take(count).map(|person| person.name).collect()
}

fn show(inner: &Inner, listing: ListingId, bidder: &BuyerId, stands: bool) -> Commands {
    let (key, id) = (inner.across.active_bids(listing.tenant, bidder), listing.to_string());
    if !stands {
        return vec![(key.clone(), redis::cmd("SREM").arg(key).arg(id).to_owned())];
    }
    let add = redis::cmd("SADD").arg(&key).arg(id).to_owned();
    let keep = redis::cmd("PEXPIRE").arg(&key).arg(BIDS_MS).to_owned();
    vec![(key.clone(), add), (key, keep)]
}
