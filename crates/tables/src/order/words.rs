//! The words in which the tables of orders tell a fact.

use onsale_domain::order::OrderFact;
use onsale_domain::seats::EventFact;
use onsale_domain::stock::fact::SaleFact;
use onsale_domain::{Fact, Millis};

use super::START;

/// A fact in few words; what the clock alone does is left out.
pub(super) fn told(fact: &Fact) -> Option<String> {
    let s = |at: &Millis| (*at - START) as f64 / 1_000.0;
    Some(match fact {
        Fact::Event(EventFact::StatusChanged { status, by_schedule: false }) => status.as_str().into(),
        Fact::Sale(SaleFact::StatusChanged { status, by_schedule: false }) => status.as_str().into(),
        Fact::Event(EventFact::HoldPlaced { until, .. }) => format!("held until {}", s(until)),
        Fact::Event(EventFact::HoldExtended { until, .. }) => format!("extended until {}", s(until)),
        Fact::Event(EventFact::HoldExpired { hold, .. }) => format!("h{} expired", hold.0),
        Fact::Event(EventFact::HoldReleased { hold, .. }) => format!("h{} released", hold.0),
        Fact::Event(EventFact::HoldOverridden { hold, .. }) => format!("h{} overridden", hold.0),
        Fact::Event(EventFact::HoldConfirmed { hold, order }) => format!("h{} sold to o{}", hold.0, order.0),
        Fact::Event(EventFact::SeatOffered { place, .. }) => format!("h{} offered", place.0),
        Fact::Event(EventFact::OrderRefunded { order, amount_minor, .. }) => {
            format!("o{} returned {amount_minor}", order.0)
        }
        Fact::Sale(SaleFact::CheckedOut { until, .. }) => format!("reserved until {}", s(until)),
        Fact::Sale(SaleFact::CheckoutOrdered { checkout, until, .. }) => {
            format!("c{} ordered until {}", checkout.0, s(until))
        }
        Fact::Sale(SaleFact::CheckoutReturned { checkout, until }) => {
            format!("c{} free until {}", checkout.0, s(until))
        }
        Fact::Sale(SaleFact::CheckoutExpired { checkout }) => format!("c{} expired", checkout.0),
        Fact::Sale(SaleFact::CheckoutCancelled { checkout, .. }) => format!("c{} cancelled", checkout.0),
        Fact::Sale(SaleFact::Purchased { checkout, order }) => {
            format!("c{} sold to o{}", checkout.0, order.0)
        }
        Fact::Sale(SaleFact::TakenBack { order, .. }) => format!("o{} took back", order.0),
        Fact::Sale(SaleFact::Refunded { order, amount_minor, .. }) => {
            format!("o{} returned {amount_minor}", order.0)
        }
        Fact::Listing(fact) => fact.kind().into(),
        Fact::Order(fact) => told_of_order(fact, START),
        Fact::Event(EventFact::StatusChanged { by_schedule: true, .. })
        | Fact::Sale(SaleFact::StatusChanged { by_schedule: true, .. }) => return None,
        other => other.kind().into(),
    })
}

/// A fact of an order in few words; its times are in seconds after `start`.
pub fn told_of_order(fact: &OrderFact, start: Millis) -> String {
    let s = |at: &Millis| (*at - start) as f64 / 1_000.0;
    match fact {
        OrderFact::Placed(placed) => {
            format!("o{} for {}", placed.order.0, placed.goods_minor + placed.fee_minor)
        }
        OrderFact::PaymentAsked { payment, amount_minor, until, .. } => {
            format!("p{} asks {amount_minor} until {}", payment.0, s(until))
        }
        OrderFact::PaymentCaptured { payment, amount_minor, .. } => {
            format!("p{} has {amount_minor}", payment.0)
        }
        OrderFact::PaymentDeclined { payment, until, .. } => {
            let until = until.map_or(String::new(), |until| format!(", again until {}", s(&until)));
            format!("p{} declined{until}", payment.0)
        }
        OrderFact::Settled { order } => format!("o{} settled", order.0),
        OrderFact::Cancelled { order } => format!("o{} cancelled", order.0),
        OrderFact::SeatsTakenBack { order } => format!("o{} took back", order.0),
        OrderFact::RefundOwed { payment, refund, amount_minor, why, .. } => {
            format!("p{} owes {amount_minor} ({} {refund})", payment.0, why.as_str())
        }
        OrderFact::RefundPaid { payment, refund, .. } => format!("p{} paid back {refund}", payment.0),
    }
}
