//! The naive second opinion: reads a log from its beginning, knows no book, and looks where every coin is.

use std::collections::BTreeMap;

use onsale_domain::order::OrderFact;
use onsale_domain::seats::EventFact;
use onsale_domain::stock::SaleFact;
use onsale_domain::{Fact, Millis, OrderId, PaymentId};

#[derive(Default)]
struct Sold {
    price: i64,
    units: u32,
    returned: i64,
    returned_units: u32,
    confirmed: bool,
    settled: bool,
    captured: BTreeMap<PaymentId, i64>,
    refunded: BTreeMap<PaymentId, i64>,
}

/// Captured minus refunded must be what confirmed orders come to, order by order and in all; no payment gives back more
/// than it took, and what is confirmed was paid for once.
pub(crate) fn audit(log: &[(Millis, Fact)]) -> Result<(), String> {
    let mut orders: BTreeMap<OrderId, Sold> = BTreeMap::new();
    for (_, fact) in log {
        note(&mut orders, fact);
    }
    let mut all = 0;
    for (id, order) in &orders {
        let captured: i64 = order.captured.values().sum();
        let refunded: i64 = order.refunded.values().sum();
        for (payment, back) in &order.refunded {
            let took = order.captured.get(payment).copied().unwrap_or(0);
            if *back > took {
                return Err(format!("{payment:?} took {took} and gives back {back}"));
            }
        }
        let gone = order.returned_units == order.units;
        let worth = if order.confirmed && !gone { order.price - order.returned } else { 0 };
        let ours = if order.settled { 0 } else { worth };
        if captured - refunded != ours {
            return Err(format!("order {id:?}: {captured} - {refunded} is not {ours}"));
        }
        if order.confirmed && !order.settled && order.price > 0 && captured < order.price {
            return Err(format!("order {id:?} has its goods for {captured} of {}", order.price));
        }
        all += captured - refunded - ours;
    }
    (all == 0).then_some(()).ok_or_else(|| format!("{all} too much"))
}

fn note(orders: &mut BTreeMap<OrderId, Sold>, fact: &Fact) {
    if let Fact::Event(EventFact::HoldConfirmed { order, .. })
    | Fact::Sale(SaleFact::Purchased { order, .. } | SaleFact::TakenBack { order, .. })
    | Fact::Order(OrderFact::SeatsTakenBack { order }) = fact
    {
        if let Some(order) = orders.get_mut(order) {
            assert!(!order.confirmed, "sold twice");
            order.confirmed = true;
        }
    } else if let Fact::Event(EventFact::OrderRefunded { order, seats, amount_minor, .. }) = fact {
        returned(orders, *order, seats.len() as u32, *amount_minor);
    } else if let Fact::Sale(SaleFact::Refunded { order, lines, amount_minor, .. }) = fact {
        returned(orders, *order, lines.iter().map(|line| line.count).sum(), *amount_minor);
    } else if let Fact::Order(OrderFact::Placed(placed)) = fact {
        let price = placed.goods_minor + placed.fee_minor;
        orders.insert(placed.order, Sold { price, units: placed.goods.units(), ..Sold::default() });
    } else if let Fact::Order(OrderFact::Settled { order }) = fact {
        orders.entry(*order).or_default().settled = true;
    } else if let Fact::Order(OrderFact::PaymentCaptured { order, payment, amount_minor, .. }) = fact {
        let before = orders.entry(*order).or_default().captured.insert(*payment, *amount_minor);
        assert_eq!(before, None, "{payment:?} captured twice");
    } else if let Fact::Order(OrderFact::RefundOwed { order, payment, amount_minor, .. }) = fact {
        *orders.entry(*order).or_default().refunded.entry(*payment).or_default() += amount_minor;
    }
}

fn returned(orders: &mut BTreeMap<OrderId, Sold>, order: OrderId, units: u32, amount_minor: i64) {
    if let Some(order) = orders.get_mut(&order) {
        order.returned += amount_minor;
        order.returned_units += units;
    }
}
