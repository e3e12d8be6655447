//! What an order may know and do of an auction's award; see [`crate::order`].

use super::award::pending_of;
use super::command::{AuctionCommand, RefundAward, SettleAward};
use super::fact::{AuctionFact, PassCause};
use super::state::{Auction, AwardState, Phase};
use crate::command::Command;
use crate::fact::Fact;
use crate::field::Field;
use crate::id::{BuyerId, OrderId};
use crate::kind::Kind;
use crate::money::Currency;
use crate::order::command::GoodsKey;
use crate::order::fact::OrderedGoods;
use crate::order::guard::{is_not_paying, new_id, taken};
use crate::order::{Goods, GoodsChange, OrderStatus, OrderSummary, Orders, TakeBackOutcome};
use crate::refusal::{Code, Refusal};
use crate::step_writer::StepWriter;
use crate::time::{Millis, is_over};

/// Only one award waits at a time, so it needs no number.
const AWARD: u64 = 0;

impl Goods for Auction {
    /// The award that waits for this bidder to pay it.
    fn quote(&self, key: &GoodsKey, _now: Millis) -> Result<(OrderedGoods, Currency), Refusal> {
        let GoodsKey::Award(bidder) = key else { return Err(Refusal::of(Code::WrongKind)) };
        let (_, line) = pending_of(self, bidder)?;
        let goods = OrderedGoods::Award { price_minor: line.award.price_minor, until: line.award.until };
        Ok((goods, self.details().currency))
    }

    /// When the award that waits is passed on.
    fn until(&self, _goods: &OrderedGoods) -> Option<Millis> {
        match &self.phase {
            Phase::Closed(closed) => closed.pending().map(|award| award.until),
            Phase::Live | Phase::Cancelled { .. } => None,
        }
    }

    /// An award is kept for days; a payment that leads to nothing shall not block the next one for so long.
    fn pinned_until(&self, _goods: &OrderedGoods, pinned: Millis) -> Millis {
        pinned
    }

    /// A closed auction is no longer cancelled, and an open one has no award.
    fn not_cancelled(&self) -> Result<(), Refusal> {
        Ok(())
    }

    fn knows_order(&self, _order: OrderId) -> bool {
        false
    }

    fn expire(&mut self, key: &GoodsKey, writer: &mut StepWriter<'_>) {
        if let GoodsKey::Award(_) = key {
            self.close_due(writer);
        }
    }

    /// Whoever pays is waited for; an award never ends earlier for it.
    fn pin(&mut self, _goods: &OrderedGoods, until: Millis) {
        if let Phase::Closed(closed) = &mut self.phase
            && let Some(line) = std::sync::Arc::make_mut(closed).awards.last_mut()
        {
            line.award.until = line.award.until.max(until);
        }
    }

    fn confirm(&mut self, ordered: OrderSummary<'_>, writer: &mut StepWriter<'_>) -> Result<(), Refusal> {
        let paid = SettleAward { bidder: ordered.buyer.clone(), order: ordered.order };
        self.execute(&AuctionCommand::SettleAward(paid), writer).map(drop)
    }

    fn take_back(&mut self, ordered: OrderSummary<'_>, writer: &mut StepWriter<'_>) -> TakeBackOutcome {
        let OrderedGoods::Award { price_minor, .. } = ordered.goods else { return TakeBackOutcome::Gone };
        if !self.is_left_to(ordered.buyer) {
            return TakeBackOutcome::Gone;
        }
        let (bidder, order) = (ordered.buyer.clone(), ordered.order);
        self.take(AuctionFact::AwardSettled { bidder, price_minor: *price_minor, order }, writer);
        TakeBackOutcome::Sold
    }

    /// What an order has taken is settled by the order alone, and not turned down while it is paid.
    fn guard(&self, orders: &Orders, command: &Command, now: Millis) -> Result<Option<Fact>, Refusal> {
        let Command::Auction(command) = command else { return Ok(None) };
        if let AuctionCommand::RefundAward(refund) = command {
            Self::check(command)?;
            return refunded(orders, refund).map(|fact| Some(Fact::Auction(fact)));
        }
        let order = orders.of_goods(AWARD);
        let order = order.filter(|order| self.until(&order.goods).is_some_and(|until| !is_over(until, now)));
        if let AuctionCommand::SettleAward(command) = command {
            match order.filter(|order| order.buyer == command.bidder) {
                Some(order) => return Err(taken(order.id)),
                None => new_id(orders, command.order)?,
            }
        } else if let AuctionCommand::DeclineAward(bidder) = command {
            is_not_paying(order.filter(|order| order.buyer == *bidder), Code::OrderPaying)?;
        }
        Ok(None)
    }
}

impl Auction {
    /// Whether the award that this bidder did not pay in time went to nobody else.
    fn is_left_to(&self, bidder: &BuyerId) -> bool {
        let Phase::Closed(closed) = &self.phase else { return false };
        let last = closed.awards.last();
        last.is_some_and(|last| last.award.bidder == *bidder && last.state == AwardState::Unpaid)
    }
}

/// Refunds an award's order, wholly or in part: only the money goes back. What was sold stays sold, and the auction
/// closed; whoever wants to sell the thing again holds a new one. Nothing of this depends on the clock.
fn refunded(orders: &Orders, command: &RefundAward) -> Result<AuctionFact, Refusal> {
    let order = orders.find(command.order).ok_or(Refusal::of(Code::OrderUnknown))?;
    if order.status != OrderStatus::Confirmed {
        return Err(Refusal::of(Code::NotRefundable));
    }
    let kept = order.kept_minor();
    let amount_minor = command.amount_minor.unwrap_or(kept);
    if amount_minor > kept {
        return Err(Refusal::invalid(Field::AmountMinor, "at most what is left of the order"));
    }
    Ok(AuctionFact::AwardRefunded {
        order: order.id,
        bidder: order.buyer.clone(),
        amount_minor,
        left_minor: kept - amount_minor,
        reason: command.reason.clone(),
    })
}

/// What a fact of an auction means for the order that has taken the award.
pub(super) fn goods_change(fact: &AuctionFact) -> Option<GoodsChange> {
    if let AuctionFact::AwardPassed { why, .. } = fact {
        let status = match why {
            PassCause::Unpaid => OrderStatus::Expired,
            PassCause::Declined => OrderStatus::Cancelled,
        };
        Some(GoodsChange::Gone { goods: AWARD, status })
    } else if let AuctionFact::AwardSettled { order, .. } = fact {
        Some(GoodsChange::Sold { order: *order })
    } else if let AuctionFact::AwardRefunded { order, amount_minor, left_minor, .. } = fact {
        let units = u32::from(*left_minor == 0);
        Some(GoodsChange::Returned { order: *order, units, amount_minor: *amount_minor })
    } else {
        None
    }
}
