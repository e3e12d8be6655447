//! The answer to a plain bid that was accepted: `{0, fence, at, bid, leading, price, min_next, reserve met, ends_at}`.

use std::sync::Arc;

use onsale_domain::auction::AuctionFact;
use onsale_domain::listing::{Key, split_fence};
use onsale_domain::{Fact, ListingId, Outcome, Step};
use onsale_engine::{Answer, Position};
use redis::Value;

/// None if it was answered like any other command. `asked` has the bidder and the maximum.
pub(super) fn read_plain_bid(
    listing: ListingId,
    parts: &[Value],
    asked: &AuctionFact,
    key: Option<Key>,
) -> Option<Answer> {
    let AuctionFact::BidPlaced { bidder, max_minor, .. } = asked else { return None };
    let number = |value: &Value| if let Value::Int(number) = value { Some(*number) } else { None };
    let numbers: Vec<i64> = parts.iter().map_while(number).collect();
    let [0, fence, at, bid, leading, price_minor, min_next_minor, reserve_met, ends_at] = numbers.as_slice()
    else {
        return None;
    };
    let fact = AuctionFact::BidPlaced {
        bid: u32::try_from(*bid).ok()?,
        bidder: bidder.clone(),
        max_minor: *max_minor,
        leading: *leading == 1,
        price_minor: *price_minor,
        min_next_minor: *min_next_minor,
        reserve_met: *reserve_met == 1,
        ends_at: *ends_at,
    };
    let (epoch, offset) = split_fence(*fence as u64);
    let step = Step { listing, epoch, first: offset, at: *at, key, facts: vec![Fact::Auction(fact)] };
    let position = Position { epoch, offset };
    let told = Some(Arc::new(step)).into();
    Some(Answer { position, at: *at, told, outcome: Outcome::Done, replayed: false })
}
