//! Cancel an order that is not being paid: its goods are their buyer's again, for as long as they are kept.

use super::command::OrderKey;
use super::fact::OrderFact;
use super::pay_order::{is_pending, own_order};
use crate::fact::Fact;
use crate::listing::Listing;
use crate::outcome::Outcome;
use crate::refusal::Refusal;
use crate::time::Millis;

pub(super) fn execute(
    listing: &mut Listing,
    key: &OrderKey,
    now: Millis,
    facts: &mut Vec<Fact>,
) -> Result<Outcome, Refusal> {
    let goods = own_order(listing, key)?.goods_key();
    listing.expire_goods(&goods, now, facts)?;
    let order = own_order(listing, key)?.clone();
    is_pending(&order)?;
    listing.apply_all([Fact::Order(OrderFact::Cancelled { order: key.order })], now, facts);
    listing.give_goods_back(&order, now, facts)?;
    Ok(Outcome::Done)
}
