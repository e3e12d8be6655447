//! Refund an award's order, wholly or in part: only the money goes back. What was sold stays sold, and the auction closed;
//! whoever wants to sell the thing again holds a new one.

use super::fact::Goods;
use super::state::OrderStatus;
use crate::auction::command::RefundAward;
use crate::auction::{AuctionCommand, AuctionFact, check};
use crate::fact::Fact;
use crate::listing::Listing;
use crate::outcome::Outcome;
use crate::refusal::{Code, Refusal};
use crate::time::Millis;

pub(crate) fn execute(
    listing: &mut Listing,
    command: &RefundAward,
    now: Millis,
    facts: &mut Vec<Fact>,
) -> Result<Outcome, Refusal> {
    check(&AuctionCommand::RefundAward(command.clone()))?;
    let fact = decide(listing, command)?;
    listing.apply_all([Fact::Auction(fact)], now, facts);
    Ok(Outcome::Done)
}

/// Nothing of this depends on the clock.
fn decide(listing: &Listing, command: &RefundAward) -> Result<AuctionFact, Refusal> {
    let order = listing.orders.as_deref().and_then(|orders| orders.find(command.order));
    let order = order.ok_or(Refusal::of(Code::OrderUnknown))?;
    match (order.status, &order.goods) {
        (OrderStatus::Confirmed, Goods::Award { .. }) => {}
        (
            OrderStatus::Confirmed
            | OrderStatus::Pending
            | OrderStatus::Paying
            | OrderStatus::Expired
            | OrderStatus::Cancelled
            | OrderStatus::Refunded,
            _,
        ) => return Err(Refusal::of(Code::NotRefundable)),
    }
    let kept = order.kept_minor();
    let amount_minor = command.amount_minor.unwrap_or(kept);
    if amount_minor > kept {
        return Err(Refusal::invalid("amount_minor", "at most what is left of the order"));
    }
    Ok(AuctionFact::AwardRefunded {
        order: order.id,
        bidder: order.buyer.clone(),
        amount_minor,
        left_minor: kept - amount_minor,
        reason: command.reason.clone(),
    })
}
