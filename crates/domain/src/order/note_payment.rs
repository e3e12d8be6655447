//! What the provider says, as the desk tells it: captured money buys the goods or goes back, a decline gives time to try
//! again. Told twice, or in any order, it comes to the same: money that came wins.

use super::command::{NotePayment, NoteRefund, PaymentResult};
use super::fact::{OrderFact, OrderedGoods};
use super::state::{Order, OrderStatus, Payment};
use crate::fact::Fact;
use crate::field::Field;
use crate::fields::check_reason;
use crate::limits::{DECLINED_MS, ORDERED_MS_MAX};
use crate::listing::Listing;
use crate::money::{MINOR_MAX, Minor};
use crate::outcome::Outcome;
use crate::refusal::{Code, Refusal};
use crate::time::Millis;

pub(super) fn check(command: &NotePayment) -> Result<(), Refusal> {
    match &command.result {
        PaymentResult::Captured { amount_minor, .. } if !(1..=MINOR_MAX).contains(amount_minor) => {
            Err(Refusal::invalid(Field::AmountMinor, "1 to 10^12 minor units"))
        }
        PaymentResult::Captured { reference, .. } => crate::desk::check_reference(reference),
        PaymentResult::Declined { reason } => check_reason(reason),
    }
}

pub(super) fn execute(
    listing: &mut Listing,
    command: &NotePayment,
    now: Millis,
    facts: &mut Vec<Fact>,
) -> Result<Outcome, Refusal> {
    let (order, payment) = find(listing, command.order, command.payment)?;
    let (order, payment) = (order.clone(), payment.clone());
    match &command.result {
        PaymentResult::Captured { .. } if payment.captured_minor.is_some() => Ok(Outcome::Unchanged),
        PaymentResult::Captured { amount_minor, reference } => {
            captured(listing, &order, &payment, (*amount_minor, reference), now, facts);
            Ok(Outcome::Done)
        }
        PaymentResult::Declined { .. } if !payment.is_open() => Ok(Outcome::Unchanged),
        PaymentResult::Declined { reason } => {
            declined(listing, &order, &payment, reason, now, facts);
            Ok(Outcome::Done)
        }
    }
}

fn captured(
    listing: &mut Listing,
    order: &Order,
    payment: &Payment,
    (amount_minor, reference): (Minor, &str),
    now: Millis,
    facts: &mut Vec<Fact>,
) {
    let _ = listing.expire_goods(&order.goods_key(), now, facts);
    let (id, reference) = (payment.id, reference.to_owned());
    let fact = OrderFact::PaymentCaptured { order: order.id, payment: id, amount_minor, reference };
    listing.apply_all([Fact::Order(fact)], now, facts);
    let status = match find(listing, order.id, payment.id) {
        Ok((order, _)) => order.status,
        Err(_) => order.status,
    };
    // Too little buys nothing; what is too much goes back.
    let enough = amount_minor >= payment.amount_minor;
    let bought = match status {
        OrderStatus::Pending | OrderStatus::Paying => {
            enough && listing.confirm_goods(order, now, facts).is_ok()
        }
        OrderStatus::Expired => enough && listing.take_goods_back(order, now, facts),
        OrderStatus::Confirmed | OrderStatus::Cancelled | OrderStatus::Refunded => false,
    };
    // Money that buys nothing ends its order's payment all the same: the goods are their buyer's for a while.
    if !bought && status == OrderStatus::Paying {
        let until = again_until(listing, &order.goods, now);
        let fact = OrderFact::PaymentDeclined {
            order: order.id,
            payment: payment.id,
            reason: if enough { "the goods are gone" } else { "not the amount" }.into(),
            until,
        };
        listing.apply_all([Fact::Order(fact)], now, facts);
    }
}

fn declined(
    listing: &mut Listing,
    order: &Order,
    payment: &Payment,
    reason: &str,
    now: Millis,
    facts: &mut Vec<Fact>,
) {
    let _ = listing.expire_goods(&order.goods_key(), now, facts);
    let awaited = find(listing, order.id, payment.id).is_ok_and(|(order, _)| order.awaits(payment.id));
    let until = if awaited { again_until(listing, &order.goods, now) } else { None };
    let (order, payment, reason) = (order.id, payment.id, reason.to_owned());
    let fact = OrderFact::PaymentDeclined { order, payment, reason, until };
    listing.apply_all([Fact::Order(fact)], now, facts);
}

/// At least a minute to try again, within the longest time to pay.
fn again_until(listing: &Listing, goods: &OrderedGoods, now: Millis) -> Option<Millis> {
    let until = listing.goods_until(goods)?;
    Some(until.max((now + DECLINED_MS).min(goods.placed_at() + ORDERED_MS_MAX)))
}

pub(super) fn refund_paid(
    listing: &mut Listing,
    command: &NoteRefund,
    now: Millis,
    facts: &mut Vec<Fact>,
) -> Result<Outcome, Refusal> {
    let (order, payment) = find(listing, command.order, command.payment)?;
    let place = usize::from(command.refund).checked_sub(1);
    let refund = place.and_then(|place| payment.refunds.get(place));
    if refund.ok_or(Refusal::of(Code::PaymentUnknown))?.paid {
        return Ok(Outcome::Unchanged);
    }
    let fact = OrderFact::RefundPaid { order: order.id, payment: payment.id, refund: command.refund };
    listing.apply_all([Fact::Order(fact)], now, facts);
    Ok(Outcome::Done)
}

fn find(
    listing: &Listing,
    order: crate::OrderId,
    payment: crate::PaymentId,
) -> Result<(&Order, &Payment), Refusal> {
    let order = listing.orders.as_deref().and_then(|orders| orders.find(order));
    let order = order.ok_or(Refusal::of(Code::OrderUnknown))?;
    let payment = order.payment(payment).ok_or(Refusal::of(Code::PaymentUnknown))?;
    Ok((order, payment))
}
