//! What an order has taken is nobody else's to change. Each kind says which of its commands that concerns, in its own
//! `ordering.rs`; here is what they have in common.

use super::state::{Order, OrderStatus, Orders};
use crate::command::Command;
use crate::fact::Fact;
use crate::id::OrderId;
use crate::listing::Listing;
use crate::refusal::{Code, Detail, Refusal};
use crate::time::Millis;

/// A fact: the book has decided the command itself.
pub(crate) fn guard(listing: &Listing, command: &Command, now: Millis) -> Result<Option<Fact>, Refusal> {
    let (Some(orders), Some(goods)) = (listing.orders.as_deref(), listing.body.goods()) else {
        return Ok(None);
    };
    // What no state could make sense of is told so, whoever has taken the goods.
    goods.guard(orders, command, now).map_err(|refusal| command.check().err().unwrap_or(refusal))
}

pub(crate) fn taken(order: OrderId) -> Refusal {
    Refusal { detail: Detail::Order(order), ..Refusal::of(Code::AlreadyOrdered) }
}

pub(crate) fn is_not_paying(order: Option<&Order>, code: Code) -> Result<(), Refusal> {
    match order.filter(|order| order.status == OrderStatus::Paying) {
        Some(order) => Err(Refusal { detail: Detail::Order(order.id), ..Refusal::of(code) }),
        None => Ok(()),
    }
}

pub(crate) fn new_id(orders: &Orders, order: OrderId) -> Result<(), Refusal> {
    match orders.knows(order) {
        true => Err(Refusal { detail: Detail::Order(order), ..Refusal::of(Code::IdTaken) }),
        false => Ok(()),
    }
}
