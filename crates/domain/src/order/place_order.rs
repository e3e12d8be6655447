//! Place an order: it takes a hold, a code, an award or a place, and fixes what there is to pay.

use super::command::PlaceOrder;
use super::fact::{OrderFact, OrderPlaced};
use super::guard::taken;
use crate::fact::Fact;
use crate::field::Field;
use crate::limits::ORDER_MAX_WHY;
use crate::listing::Listing;
use crate::money::MINOR_MAX;
use crate::outcome::Outcome;
use crate::refusal::{Code, Detail, Refusal};
use crate::time::Millis;

pub(super) fn execute(
    listing: &mut Listing,
    command: &PlaceOrder,
    now: Millis,
    facts: &mut Vec<Fact>,
) -> Result<Outcome, Refusal> {
    listing.expire_goods(&command.goods, now, facts)?;
    let placed = decide(listing, command, now)?;
    listing.apply_all([Fact::Order(OrderFact::Placed(Box::new(placed)))], now, facts);
    let order = listing.orders.as_deref().and_then(|orders| orders.find(command.order)).cloned();
    if let Some(order) = order {
        listing.take_goods(&order, now, facts)?;
    }
    Ok(Outcome::Done)
}

/// Decides without changing anything.
fn decide(listing: &Listing, command: &PlaceOrder, now: Millis) -> Result<OrderPlaced, Refusal> {
    let sold = listing.sold_goods()?;
    let (mut goods, currency) = sold.quote(&command.goods, now)?;
    let orders = listing.orders.as_deref();
    if let Some(first) = orders.and_then(|orders| orders.first_until(command.goods.buyer(), &goods)) {
        goods.set_until(first);
    }
    if let Some(other) = orders.and_then(|orders| orders.of_goods(goods.number())) {
        return Err(taken(other.id));
    }
    sold.not_ordered(&goods)?;
    if listing.knows_order(command.order) {
        return Err(Refusal { detail: Detail::Order(command.order), ..Refusal::of(Code::IdTaken) });
    }
    let goods_minor = goods.total_minor();
    let fee_minor = command.fees.of(goods_minor, goods.units());
    if goods_minor + fee_minor > MINOR_MAX {
        return Err(Refusal::invalid(Field::Fees, ORDER_MAX_WHY));
    }
    let buyer = command.goods.buyer().clone();
    Ok(OrderPlaced { order: command.order, buyer, goods, goods_minor, fee_minor, currency })
}
