//! An auction's fact as JSON: as the public may read it, whoever asks.

use onsale_domain::ListingId;
use onsale_domain::auction::AuctionFact;
use onsale_domain::auction::fact::{Award, PassCause, Replayed};
use onsale_domain::id::write_inside;
use serde_json::{Value, json};

use crate::http::auctions::closing_text;
use crate::http::auctions::details::DetailsBody;
use crate::http::time::Time;

/// The fact's own fields. Only what [`AuctionFact::public`] leaves is told.
pub(super) fn fields(listing: &ListingId, fact: &AuctionFact) -> Value {
    match fact.public() {
        AuctionFact::AuctionCreated(details) | AuctionFact::AuctionChanged(details) => {
            serde_json::to_value(DetailsBody::new(&details, details.ends_at, false)).unwrap_or_default()
        }
        AuctionFact::AuctionCancelled { reason } => json!({"reason": reason}),
        AuctionFact::BidPlaced {
            bid,
            bidder,
            max_minor,
            leading,
            price_minor,
            min_next_minor,
            reserve_met,
            ends_at,
        } => json!({
            "bid": bid, "bidder": bidder.as_str(), "amount_minor": max_minor, "leading": leading,
            "price_minor": price_minor, "min_next_minor": min_next_minor, "reserve_met": reserve_met,
            "ends_at": Time(ends_at),
        }),
        AuctionFact::BidRetracted { bid, reason, after } => {
            json!({"bid": bid, "reason": reason, "after": replayed(&after)})
        }
        AuctionFact::BidderBanned { bidder, reason, after } => json!({
            "bidder": bidder.as_str(), "reason": reason,
            "after": after.as_deref().map(replayed),
        }),
        AuctionFact::BidderUnbanned { bidder } => json!({"bidder": bidder.as_str()}),
        AuctionFact::AuctionClosed { how, award } => {
            json!({"how": closing_text(how), "award": award.as_ref().map(told)})
        }
        AuctionFact::AwardPassed { from, why, to } => {
            let why = match why {
                PassCause::Unpaid => "unpaid",
                PassCause::Declined => "declined",
            };
            json!({"from": from.as_str(), "why": why, "to": to.as_ref().map(told)})
        }
        AuctionFact::AwardSettled { bidder, price_minor, order } => json!({
            "bidder": bidder.as_str(), "price_minor": price_minor,
            "order": write_inside("ord", listing, order.0),
        }),
        AuctionFact::AwardRefunded { order, bidder, amount_minor, left_minor, reason } => json!({
            "order": write_inside("ord", listing, order.0), "bidder": bidder.as_str(),
            "amount_minor": amount_minor, "left_minor": left_minor, "reason": reason,
        }),
        AuctionFact::WatchStarted { watcher } | AuctionFact::WatchEnded { watcher } => {
            json!({"watcher": watcher.as_str()})
        }
    }
}

fn replayed(after: &Replayed) -> Value {
    let leader = after.leader.as_ref();
    let leader = leader.map(|leader| json!({"bid": leader.bid, "bidder": leader.bidder.as_str()}));
    json!({
        "leader": leader, "price_minor": after.price_minor, "min_next_minor": after.min_next_minor,
        "reserve_met": after.reserve_met,
    })
}

fn told(award: &Award) -> Value {
    json!({
        "bidder": award.bidder.as_str(), "bid": award.bid, "price_minor": award.price_minor,
        "expires_at": Time(award.until),
    })
}
