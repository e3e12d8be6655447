//! Money that goes back. One rule, asked after every step: of each captured payment, all that no confirmed order keeps
//! is owed back, in the same step.

use super::fact::{OrderFact, RefundCause};
use super::goods::GoodsChange;
use super::state::{Order, OrderStatus, Payment};
use crate::fact::Fact;
use crate::id::OrderId;
use crate::listing::Listing;
use crate::time::Millis;

/// Writes down what the facts of this step, those from `before` on, leave to be paid back.
pub(crate) fn owe(listing: &mut Listing, before: usize, now: Millis, facts: &mut Vec<Fact>) {
    let mut touched: Vec<OrderId> =
        facts[before..].iter().filter_map(|fact| moves_money(listing, fact)).collect();
    touched.dedup();
    for id in touched {
        let order = listing.orders.as_deref().and_then(|orders| orders.find(id));
        let owed: Vec<_> = order.map_or(Vec::new(), |order| {
            order.payments.iter().filter_map(|payment| owed(order, payment)).collect()
        });
        listing.apply_all(owed.into_iter().map(Fact::Order), now, facts);
    }
}

/// The order whose money or goods this fact moves.
fn moves_money(listing: &Listing, fact: &Fact) -> Option<OrderId> {
    if let Fact::Order(fact) = fact {
        return matches!(fact, OrderFact::PaymentCaptured { .. }).then(|| fact.order());
    }
    match fact.goods_change()? {
        GoodsChange::Returned { order, .. } => Some(order),
        GoodsChange::EntryGivenUp { entry, .. } => {
            listing.orders.as_deref()?.of_entry(entry).map(|order| order.id)
        }
        GoodsChange::Gone { .. } | GoodsChange::Sold { .. } => None,
    }
}

fn owed(order: &Order, payment: &Payment) -> Option<OrderFact> {
    let amount_minor = order.owed_minor(payment);
    let why = match (order.paid_by == Some(payment.id), order.status) {
        (true, _) if order.returned_units > 0 || order.returned_minor > 0 => RefundCause::Returned,
        (true, _) => RefundCause::Amount,
        (false, OrderStatus::Confirmed | OrderStatus::Refunded) => RefundCause::Twice,
        (false, _) if payment.captured_minor.is_some_and(|captured| captured < payment.amount_minor) => {
            RefundCause::Amount
        }
        (false, _) => RefundCause::Late,
    };
    let refund = payment.refunds.len() as u16 + 1;
    (amount_minor > 0).then_some(OrderFact::RefundOwed {
        order: order.id,
        payment: payment.id,
        refund,
        amount_minor,
        why,
    })
}
