//! What pages and programs of others are shown of auctions: those that are not over, by their end, and in which of them
//! somebody's bids stand. It follows from facts, and decides nothing.

use std::collections::BTreeSet;
use std::time::Duration;

use onsale_domain::auction::limits::LENGTH_MS_MAX;
use onsale_domain::auction::{Auction, AuctionFact, AuctionFound, AuctionQuery};
use onsale_domain::{BuyerId, Fact, ListingId, ListingKind, Millis, Query, Tenant};
use onsale_engine::engine::BodyView;
use redis::FromRedisValue;

use super::Inner;
use super::ask_all::COMPARED_MAX;
use super::derive::Commands;
use super::replica::Replica;

/// What was not taken away is not shown for longer than an auction may last after the last bid.
const BIDS_MS: Millis = LENGTH_MS_MAX;
/// Longer than this nobody waits for a hint.
const HINT: Duration = Duration::from_millis(100);
/// Bidders that may wait for their round; more of them are left out.
const TOUCHED_MAX: usize = 4_096;

/// Whose bids may stand or fall, and which auctions ended, since the last round.
#[derive(Debug, Default)]
pub(super) struct AuctionChanges {
    bidders: BTreeSet<(ListingId, BuyerId)>,
    ended: BTreeSet<ListingId>,
}

impl AuctionChanges {
    /// A fact that the replica has taken in.
    pub(super) fn note(&mut self, replica: &Replica, fact: &Fact) {
        let Fact::Auction(fact) = fact else { return };
        if matches!(fact, AuctionFact::AuctionClosed { .. } | AuctionFact::AuctionCancelled { .. }) {
            self.ended.insert(replica.id);
        }
        let bidder =
            if let AuctionFact::BidPlaced { bidder, .. } | AuctionFact::BidderBanned { bidder, .. } = fact {
                Some(bidder.clone())
            } else if let AuctionFact::BidRetracted { bid, .. } = fact {
                bidder_of(replica, *bid)
            } else {
                None
            };
        if self.bidders.len() < TOUCHED_MAX {
            self.bidders.extend(bidder.map(|bidder| (replica.id, bidder)));
        }
    }
}

fn bidder_of(replica: &Replica, bid: u32) -> Option<BuyerId> {
    replica.with(|picture| {
        let query = AuctionQuery::History { before: bid.checked_add(1), limit: 1 };
        let found = picture.listing.auction().map(|auction| auction.ask(&query));
        let Some(AuctionFound::History(lines)) = found else { return None };
        lines.into_iter().next().map(|line| line.bidder)
    })
}

/// The auction's place among those that are not over.
pub(super) fn active(inner: &Inner, replica: &Replica) -> Commands {
    if replica.id.kind != ListingKind::Auction {
        return Vec::new();
    }
    let (key, id) = (inner.across.active_auctions(replica.id.tenant), replica.id.to_string());
    let view = replica.view();
    let command = match view.as_deref().map(|view| &view.body) {
        Some(BodyView::Auction(auction)) if auction.closed.is_none() && !auction.cancelled => {
            redis::cmd("ZADD").arg(&key).arg(auction.ends_at).arg(id).to_owned()
        }
        // It is over, or deleted.
        Some(_) | None => redis::cmd("ZREM").arg(&key).arg(id).to_owned(),
    };
    vec![(key, command)]
}

/// In which auctions each of these bidders has a bid that stands.
pub(super) fn active_bids(inner: &Inner, touched: AuctionChanges) -> Commands {
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

impl Inner {
    /// Auctions in which other servers say that a bid of the one who asks stands; without the cache, none.
    pub(super) async fn hinted_by_bids(&self, tenant: Tenant, query: &Query) -> BTreeSet<ListingId> {
        let (Query::Auction(AuctionQuery::Bidder(buyer)), Some(cache)) = (query, self.cache()) else {
            return BTreeSet::new();
        };
        let key = self.across.active_bids(tenant, buyer);
        let command = redis::cmd("SMEMBERS").arg(&key).to_owned();
        let Ok(Ok(told)) = tokio::time::timeout(HINT, cache.at(&key, &command)).await else {
            return BTreeSet::new();
        };
        let ids = Vec::<String>::from_redis_value(told).unwrap_or_default();
        let listings: BTreeSet<ListingId> = ids.iter().filter_map(|id| ListingId::parse(id)).collect();
        for listing in listings.iter().take(COMPARED_MAX) {
            // One that was made a moment ago on another server.
            let _ = self.look_up(*listing).await;
        }
        listings
    }
}
