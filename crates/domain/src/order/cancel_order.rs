//! Cancel an order that is not being paid: its goods are their buyer's again, for as long as he has them.

use super::command::OrderKey;
use super::fact::{Goods, OrderFact};
use super::pay_order::{is_pending, own_order};
use crate::Command;
use crate::fact::Fact;
use crate::listing::Listing;
use crate::outcome::Outcome;
use crate::refusal::Refusal;
use crate::stock::SaleCommand;
use crate::stock::command::ReturnCheckout;
use crate::time::Millis;

pub(super) fn execute(
    listing: &mut Listing,
    key: &OrderKey,
    now: Millis,
    facts: &mut Vec<Fact>,
) -> Result<Outcome, Refusal> {
    let goods = own_order(listing, key)?.goods_key();
    listing.expire_goods(&goods, now, facts);
    let order = own_order(listing, key)?;
    is_pending(order)?;
    let returned = match &order.goods {
        Goods::Hold { .. } | Goods::Award { .. } | Goods::Entry { .. } => None,
        Goods::Checkout { checkout, .. } => Some(ReturnCheckout { checkout: *checkout, order: order.id }),
    };
    listing.apply_all([Fact::Order(OrderFact::Cancelled { order: key.order })], now, facts);
    if let Some(returned) = returned {
        listing.nested(&Command::Sale(SaleCommand::ReturnCheckout(returned)), now, facts)?;
    }
    Ok(Outcome::Done)
}
