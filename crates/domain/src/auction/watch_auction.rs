//! Watch an auction and stop watching. It decides nothing and may be lost.

use super::Decision;
use super::fact::AuctionFact;
use super::limits::WATCHERS_MAX;
use super::people::WATCHES;
use super::state::{Auction, Phase};
use crate::id::BuyerId;
use crate::refusal::{Code, Refusal};

pub(super) fn watch(auction: &Auction, watcher: &BuyerId) -> Result<Decision, Refusal> {
    if auction.people.has(watcher.as_str(), WATCHES) {
        return Ok(Decision::Unchanged);
    }
    match auction.phase {
        Phase::Live => {}
        Phase::Cancelled { .. } => return Err(Refusal::of(Code::AuctionCancelled)),
        Phase::Closed(_) => return Err(Refusal::of(Code::AuctionOver)),
    }
    if auction.watchers as usize >= WATCHERS_MAX {
        return Err(Refusal::limit(Code::WatchersFull, WATCHERS_MAX as u32, auction.watchers));
    }
    Ok(Decision::Fact(AuctionFact::WatchStarted { watcher: watcher.clone() }))
}

pub(super) fn unwatch(auction: &Auction, watcher: &BuyerId) -> Decision {
    match auction.people.has(watcher.as_str(), WATCHES) {
        true => Decision::Fact(AuctionFact::WatchEnded { watcher: watcher.clone() }),
        false => Decision::Unchanged,
    }
}
