//! An auction's fact as JSON: as the public may read it, whoever asks.

use onsale_domain::ListingId;
use onsale_domain::auction::AuctionFact;
use onsale_domain::auction::fact::{Award, ReplayResult};
use onsale_domain::id::write_inside;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::auctions::details::DetailsBody;
use crate::http::time::Time;
use crate::http::words::{Closing, PassCause};

/// No amount here is above the price, and no reserve is named.
#[derive(Debug, Serialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AuctionFactBody {
    AuctionCreated(DetailsBody),
    AuctionChanged(DetailsBody),
    AuctionCancelled {
        reason: String,
    },
    BidPlaced {
        bid: u32,
        bidder: String,
        /// The bid's maximum, cut at the price.
        amount_minor: i64,
        leading: bool,
        price_minor: i64,
        min_next_minor: i64,
        reserve_met: bool,
        ends_at: Time,
    },
    BidRetracted {
        bid: u32,
        reason: String,
        after: Standing,
    },
    BidderBanned {
        bidder: String,
        reason: String,
        /// What stands without the bidder's bids, if any of them stood.
        after: Option<Standing>,
    },
    BidderUnbanned {
        bidder: String,
    },
    AuctionClosed {
        how: Closing,
        award: Option<AwardGiven>,
    },
    AwardPassed {
        from: String,
        why: PassCause,
        to: Option<AwardGiven>,
    },
    AwardSettled {
        bidder: String,
        price_minor: i64,
        order: String,
    },
    WatchStarted {
        watcher: String,
    },
    WatchEnded {
        watcher: String,
    },
    AwardRefunded {
        order: String,
        bidder: String,
        amount_minor: i64,
        left_minor: i64,
        reason: String,
    },
}

/// What the remaining bids come to.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = BidStandings)]
pub struct Standing {
    leader: Option<LeadingBid>,
    /// 0 with no bids left.
    price_minor: i64,
    min_next_minor: i64,
    reserve_met: bool,
}

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct LeadingBid {
    bid: u32,
    bidder: String,
}

/// Somebody's chance to pay.
#[derive(Debug, Serialize, ToSchema)]
pub struct AwardGiven {
    bidder: String,
    /// The bid that earned it; none for a buy-now.
    bid: Option<u32>,
    price_minor: i64,
    expires_at: Time,
}

/// Only what [`AuctionFact::public`] leaves is told.
pub(super) fn body(listing: &ListingId, fact: &AuctionFact) -> AuctionFactBody {
    use AuctionFactBody as Body;
    let order_text = |order: onsale_domain::OrderId| write_inside("ord", listing, order.0);
    match fact.public() {
        AuctionFact::AuctionCreated(details) => {
            Body::AuctionCreated(DetailsBody::new(&details, details.ends_at, false))
        }
        AuctionFact::AuctionChanged(details) => {
            Body::AuctionChanged(DetailsBody::new(&details, details.ends_at, false))
        }
        AuctionFact::AuctionCancelled { reason } => Body::AuctionCancelled { reason },
        AuctionFact::BidPlaced {
            bid,
            bidder,
            max_minor,
            leading,
            price_minor,
            min_next_minor,
            reserve_met,
            ends_at,
        } => Body::BidPlaced {
            bid,
            bidder: bidder.as_str().to_owned(),
            amount_minor: max_minor,
            leading,
            price_minor,
            min_next_minor,
            reserve_met,
            ends_at: Time(ends_at),
        },
        AuctionFact::BidRetracted { bid, reason, after } => {
            Body::BidRetracted { bid, reason, after: Standing::from(&*after) }
        }
        AuctionFact::BidderBanned { bidder, reason, after } => Body::BidderBanned {
            bidder: bidder.as_str().to_owned(),
            reason,
            after: after.as_deref().map(Standing::from),
        },
        AuctionFact::BidderUnbanned { bidder } => Body::BidderUnbanned { bidder: bidder.as_str().to_owned() },
        AuctionFact::AuctionClosed { how, award } => {
            Body::AuctionClosed { how: how.into(), award: award.as_ref().map(AwardGiven::from) }
        }
        AuctionFact::AwardPassed { from, why, to } => Body::AwardPassed {
            from: from.as_str().to_owned(),
            why: why.into(),
            to: to.as_ref().map(AwardGiven::from),
        },
        AuctionFact::AwardSettled { bidder, price_minor, order } => {
            Body::AwardSettled { bidder: bidder.as_str().to_owned(), price_minor, order: order_text(order) }
        }
        AuctionFact::AwardRefunded { order, bidder, amount_minor, left_minor, reason } => {
            Body::AwardRefunded {
                order: order_text(order),
                bidder: bidder.as_str().to_owned(),
                amount_minor,
                left_minor,
                reason,
            }
        }
        AuctionFact::WatchStarted { watcher } => Body::WatchStarted { watcher: watcher.as_str().to_owned() },
        AuctionFact::WatchEnded { watcher } => Body::WatchEnded { watcher: watcher.as_str().to_owned() },
    }
}

impl From<&ReplayResult> for Standing {
    fn from(after: &ReplayResult) -> Standing {
        let leader = after.leader.as_ref();
        Standing {
            leader: leader
                .map(|leader| LeadingBid { bid: leader.bid, bidder: leader.bidder.as_str().to_owned() }),
            price_minor: after.price_minor,
            min_next_minor: after.min_next_minor,
            reserve_met: after.reserve_met,
        }
    }
}

impl From<&Award> for AwardGiven {
    fn from(award: &Award) -> AwardGiven {
        AwardGiven {
            bidder: award.bidder.as_str().to_owned(),
            bid: award.bid,
            price_minor: award.price_minor,
            expires_at: Time(award.until),
        }
    }
}
