//! What the short script tells of a bid that it accepted: bid, leading, price, min_next, reserve met, ends_at.

use onsale_domain::auction::AuctionFact;

/// `asked` has the bidder and the maximum.
pub(super) fn fact(asked: &AuctionFact, told: &[i64]) -> Option<AuctionFact> {
    let AuctionFact::BidPlaced { bidder, max_minor, .. } = asked else { return None };
    let [bid, leading, price_minor, min_next_minor, reserve_met, ends_at] = told else { return None };
    Some(AuctionFact::BidPlaced {
        bid: u32::try_from(*bid).ok()?,
        bidder: bidder.clone(),
        max_minor: *max_minor,
        leading: *leading == 1,
        price_minor: *price_minor,
        min_next_minor: *min_next_minor,
        reserve_met: *reserve_met == 1,
        ends_at: *ends_at,
    })
}
