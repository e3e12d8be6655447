//! Place an order: it takes a hold or a code, and fixes what there is to pay.

use super::command::{GoodsKey, PlaceOrder};
use super::fact::{Goods, OrderFact, OrderPlaced};
use crate::fact::Fact;
use crate::listing::{Body, Listing};
use crate::money::{Currency, MINOR_MAX};
use crate::outcome::Outcome;
use crate::refusal::{Code, Detail, Refusal};
use crate::stock::SaleCommand;
use crate::stock::command::OrderCheckout;
use crate::time::Millis;
use crate::{Command, OrderId};

pub(super) fn execute(
    listing: &mut Listing,
    command: &PlaceOrder,
    now: Millis,
    facts: &mut Vec<Fact>,
) -> Result<Outcome, Refusal> {
    listing.expire_goods(&command.goods, now, facts);
    let placed = decide(listing, command, now)?;
    listing.apply_all([Fact::Order(OrderFact::Placed(Box::new(placed)))], now, facts);
    // A code says itself that it is taken; nothing is pinned before somebody pays.
    if let GoodsKey::Checkout(key) = &command.goods {
        let taken = OrderCheckout { key: key.clone(), order: command.order, pay_until: 0 };
        listing.nested(&Command::Sale(SaleCommand::OrderCheckout(taken)), now, facts)?;
    }
    Ok(Outcome::Done)
}

/// Decides without changing anything.
fn decide(listing: &Listing, command: &PlaceOrder, now: Millis) -> Result<OrderPlaced, Refusal> {
    let (goods, currency) = goods_of(listing, &command.goods, now)?;
    let orders = listing.orders.as_deref();
    if let Some(other) = orders.and_then(|orders| orders.of_goods(goods.number())) {
        return Err(taken(other.id));
    }
    if let (Body::Sale(sale), Goods::Checkout { checkout, .. }) = (&listing.body, &goods) {
        sale.not_ordered(*checkout)?;
    }
    if listing.knows_order(command.order) {
        return Err(Refusal { detail: Detail::Order(command.order), ..Refusal::of(Code::IdTaken) });
    }
    let goods_minor = goods.total_minor();
    let fee_minor = command.fees.of(goods_minor, goods.units());
    if goods_minor + fee_minor > MINOR_MAX {
        return Err(Refusal::invalid("fees", "an order's total is at most 10^12 minor units"));
    }
    let buyer = command.goods.buyer().clone();
    Ok(OrderPlaced { order: command.order, buyer, goods, goods_minor, fee_minor, currency })
}

fn goods_of(listing: &Listing, key: &GoodsKey, now: Millis) -> Result<(Goods, Currency), Refusal> {
    if let (Body::Event(seats), GoodsKey::Hold(key)) = (&listing.body, key) {
        return Ok((seats.goods_of(key, now)?, seats.details().currency));
    }
    if let (Body::Sale(sale), GoodsKey::Checkout(key)) = (&listing.body, key) {
        return Ok((sale.goods_of(key, now)?, sale.details().currency));
    }
    Err(Refusal::of(Code::WrongKind))
}

pub(super) fn taken(order: OrderId) -> Refusal {
    Refusal { detail: Detail::Order(order), ..Refusal::of(Code::AlreadyOrdered) }
}
