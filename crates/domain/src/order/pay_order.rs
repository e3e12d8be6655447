//! Pay an order: pins its goods and asks for the money, or confirms it at once if there is nothing to ask for.

use super::command::{OrderKey, PayOrder};
use super::fact::OrderFact;
use super::state::{Order, OrderStatus};
use crate::fact::Fact;
use crate::limits::{ORDERED_MS_MAX, PAYMENTS_PER_ORDER_MAX};
use crate::listing::Listing;
use crate::outcome::Outcome;
use crate::refusal::{Code, Detail, Refusal};
use crate::time::Millis;

pub(super) fn execute(
    listing: &mut Listing,
    command: &PayOrder,
    now: Millis,
    facts: &mut Vec<Fact>,
) -> Result<Outcome, Refusal> {
    let goods = own_order(listing, &command.key)?.goods_key();
    listing.expire_goods(&goods, now, facts)?;
    let order = own_order(listing, &command.key)?;
    is_pending(order)?;
    let sold = listing.sold_goods()?;
    sold.not_cancelled()?;
    let free = order.total_minor() == 0;
    if command.settled || free {
        let order = order.clone();
        if !free {
            listing.apply_all([Fact::Order(OrderFact::Settled { order: order.id })], now, facts);
        }
        listing.confirm_goods(&order, now, facts)?;
        return Ok(Outcome::Done);
    }
    if listing.orders.as_deref().is_some_and(|orders| orders.knows_payment(command.payment)) {
        return Err(Refusal::of(Code::IdTaken));
    }
    if order.payments.len() >= PAYMENTS_PER_ORDER_MAX {
        let most = PAYMENTS_PER_ORDER_MAX as u32;
        return Err(Refusal::limit(Code::PaymentAttempts, most, most));
    }
    let pinned = command.pay_until.min(order.goods.placed_at() + ORDERED_MS_MAX);
    let until = sold.pinned_until(&order.goods, pinned);
    let fact = OrderFact::PaymentAsked {
        order: order.id,
        payment: command.payment,
        amount_minor: order.total_minor(),
        until,
        method: command.method.clone(),
    };
    listing.apply_all([Fact::Order(fact)], now, facts);
    Ok(Outcome::Done)
}

/// The order of this id, if it is this buyer's.
pub(super) fn own_order<'a>(listing: &'a Listing, key: &OrderKey) -> Result<&'a Order, Refusal> {
    let order = listing.orders.as_deref().and_then(|orders| orders.find(key.order));
    let order = order.ok_or(Refusal::of(Code::OrderUnknown))?;
    match order.buyer == key.buyer {
        true => Ok(order),
        false => Err(Refusal::of(Code::NotYours)),
    }
}

/// Whether something can still be done about an order that nobody is paying.
pub(super) fn is_pending(order: &Order) -> Result<(), Refusal> {
    let code = match order.status {
        OrderStatus::Pending => return Ok(()),
        OrderStatus::Paying => Code::OrderPaying,
        OrderStatus::Confirmed | OrderStatus::Refunded => Code::OrderConfirmed,
        OrderStatus::Expired => Code::Expired,
        OrderStatus::Cancelled => Code::OrderCancelled,
    };
    Err(Refusal { detail: Detail::Order(order.id), ..Refusal::of(code) })
}
