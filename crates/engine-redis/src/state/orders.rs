//! The book of orders read back. What is over for long, and waits to be removed, is left out: it is forgotten already.

use std::collections::{BTreeMap, BTreeSet};

use onsale_domain::limits::ENDED_MS;
use onsale_domain::money::Currency;
use onsale_domain::order::OrderStatus;
use onsale_domain::order::fact::{OrderPlaced, OrderedGoods};
use onsale_domain::order::image::{OrderImage, OrdersImage, PaymentImage, RefundImage};
use onsale_domain::{Millis, OrderId, PaymentId};

use super::State;
use super::records::{Parts, id, same, texts};
use crate::facts::{self, ID_CHARS, Malformed, orders};

/// None if no order was ever placed here.
pub(crate) fn image(state: &State) -> Result<Option<OrdersImage>, Malformed> {
    let mut all = Vec::new();
    for (field, record) in state.orders.iter() {
        let Some(name) = field.strip_prefix("b:") else { continue };
        all.push(order(name, record)?);
    }
    let last_at: Millis = match state.orders.get("book") {
        None => return Ok(None),
        Some(_) => state.orders.number("book")?,
    };
    all.retain(|order| fades(order).is_none_or(|at| at + ENDED_MS > last_at));
    all.sort_unstable_by_key(|order| order.fence);
    Ok((!all.is_empty()).then_some(OrdersImage { orders: all }))
}

/// Goods that were sold: their fields are ids alone.
pub(crate) fn sold(state: &State) -> impl Iterator<Item = (&str, &[u8])> {
    state.orders.iter().filter(|(field, _)| field.len() == ID_CHARS && !field.contains(':'))
}

/// When an order ended that nobody ever paid for.
fn fades(order: &OrderImage) -> Option<Millis> {
    let over = matches!(order.status, OrderStatus::Expired | OrderStatus::Cancelled);
    order.closed_at.filter(|_| over && order.payments.is_empty())
}

fn order(name: &str, record: &[u8]) -> Result<OrderImage, Malformed> {
    let text = std::str::from_utf8(record).map_err(|_| Malformed::of("order"))?;
    let mut lines = text.split('\n');
    let mut parts = Parts::new("order", lines.next().unwrap_or_default().as_bytes(), 17)?;
    let status = read_status(parts.text()?)?;
    let closed_at = optional(parts.text()?)?;
    let (settled, fence, placed_at) = (parts.text()? == "1", parts.number()?, parts.number()?);
    let (returned_units, returned_minor) = (parts.number()?, parts.number()?);
    let (goods_minor, fee_minor) = (parts.number()?, parts.number()?);
    let currency = Currency::parse(parts.text()?).ok_or_else(|| Malformed::of("currency"))?;
    let paid_by = match parts.text()? {
        "" => None,
        payment => Some(PaymentId(id(payment)?)),
    };
    let (kind, of, goods_at) = (parts.text()?, parts.text()?, parts.number()?);
    let goods = orders::read_goods(kind, of, parts.text()?, parts.text()?, goods_at)?;
    let (order, buyer) = (OrderId(id(name)?), parts.buyer()?);
    Ok(OrderImage {
        placed: OrderPlaced { order, buyer, goods, goods_minor, fee_minor, currency },
        fence,
        placed_at,
        status,
        settled,
        closed_at,
        returned_units,
        returned_minor,
        payments: lines.map(payment).collect::<Result<_, _>>()?,
        paid_by,
    })
}

fn payment(line: &str) -> Result<PaymentImage, Malformed> {
    let mut parts = Parts::new("payment", line.as_bytes(), 9)?;
    let id = PaymentId(id(parts.text()?)?);
    let (fence, amount_minor, until) = (parts.number()?, parts.number()?, parts.number()?);
    let captured_minor = optional(parts.text()?)?;
    let (is_declined, has_method) = (parts.text()? == "1", parts.text()? == "1");
    let refunds = parts.text()?.split(',').filter(|one| !one.is_empty());
    let refunds = refunds.map(refund).collect::<Result<_, _>>()?;
    let words: Vec<&str> = parts.text()?.split('\t').collect();
    let [reason, reference, method] = words.as_slice() else { return Err(Malformed::of("payment")) };
    let word = |is_said: bool, word: &str| is_said.then(|| word.to_owned());
    Ok(PaymentImage {
        id,
        fence,
        amount_minor,
        until,
        captured_minor,
        declined: word(is_declined, reason),
        refunds,
        reference: word(captured_minor.is_some(), reference),
        method: word(has_method, method),
    })
}

fn refund(text: &str) -> Result<RefundImage, Malformed> {
    let parts: Vec<&str> = text.split(':').collect();
    let [fence, amount, why, paid] = parts.as_slice() else { return Err(Malformed::of("refund")) };
    let malformed = |_| Malformed::of("refund");
    Ok(RefundImage {
        fence: fence.parse().map_err(malformed)?,
        amount_minor: amount.parse().map_err(malformed)?,
        why: orders::read_cause(why)?,
        paid: *paid == "1",
    })
}

fn optional(text: &str) -> Result<Option<i64>, Malformed> {
    match text {
        "" => Ok(None),
        text => text.parse().map(Some).map_err(|_| Malformed::of("order")),
    }
}

fn read_status(name: &str) -> Result<OrderStatus, Malformed> {
    let all = [
        OrderStatus::Pending,
        OrderStatus::Paying,
        OrderStatus::Confirmed,
        OrderStatus::Expired,
        OrderStatus::Cancelled,
        OrderStatus::Refunded,
    ];
    all.into_iter().find(|status| status.as_str() == name).ok_or_else(|| Malformed::of("order"))
}

/// Whether living orders are found by their goods, and what will be forgotten by its time.
pub(crate) fn check(state: &State) -> Result<(), String> {
    let kept = texts(&state.orders);
    let (mut goods, mut fading, mut payments) = (BTreeMap::new(), BTreeSet::new(), BTreeMap::new());
    for (field, record) in kept.iter().filter(|(field, _)| field.starts_with("b:")) {
        let name = field.trim_start_matches("b:");
        let order = order(name, record.as_bytes()).map_err(|error| error.to_string())?;
        if matches!(order.status, OrderStatus::Pending | OrderStatus::Paying) {
            goods.insert(format!("g:{}", facts::id(order.placed.goods.number())), name.to_owned());
        }
        for payment in &order.payments {
            payments.insert(format!("p:{}", facts::id(payment.id.0)), name.to_owned());
        }
        fading.extend(fades(&order).map(|at| (name.to_owned(), (-at).to_string())));
    }
    let under = |prefix: &str| {
        let all = kept.iter().filter(|(field, _)| field.starts_with(prefix));
        all.map(|(field, name)| (field.clone(), name.clone())).collect()
    };
    same("goods in orders", &under("g:"), &goods)?;
    same("payments of orders", &under("p:"), &payments)?;
    kept_for_days(state)?;
    let over = texts(&state.open).into_iter().filter(|(_, score)| score.starts_with('-')).collect();
    same("orders that will be forgotten", &over, &fading)
}

/// Awards and places that were paid for are remembered with their first end, places that were bought with their order.
fn kept_for_days(state: &State) -> Result<(), String> {
    let (mut first, mut bought) = (BTreeMap::new(), BTreeMap::new());
    let orders = image(state).map_err(|error| error.to_string())?;
    for order in orders.map_or(Vec::new(), |image| image.orders) {
        let goods = &order.placed.goods;
        let of = facts::id(goods.number());
        let (is_kept, is_place) = match goods {
            OrderedGoods::Hold { .. } | OrderedGoods::Checkout { .. } => (false, false),
            OrderedGoods::Award { .. } => (true, false),
            OrderedGoods::Entry { .. } => (true, true),
        };
        if is_kept && !order.payments.is_empty() {
            first.insert(format!("f:{of}{}", order.placed.buyer.as_str()), goods.placed_at().to_string());
        }
        if is_place && matches!(order.status, OrderStatus::Confirmed | OrderStatus::Refunded) {
            bought.insert(format!("e:{of}"), facts::id(order.placed.order.0));
        }
    }
    let kept = |prefix: &str| {
        let all = texts(&state.orders).into_iter();
        all.filter(|(field, _)| field.starts_with(prefix)).collect::<BTreeMap<_, _>>()
    };
    same("first ends", &kept("f:"), &first)?;
    same("places that orders bought", &kept("e:"), &bought)
}

/// Orders with something left: those that will be forgotten stand among them, by minus the time of their end.
pub(crate) fn open(state: &State) -> BTreeMap<String, String> {
    texts(&state.open).into_iter().filter(|(_, score)| !score.starts_with('-')).collect()
}
