//! What is kept for days, an award or a place, until it is paid: what a payment means for it.

use onsale_domain::Millis;
use onsale_domain::order::OrderFact;

/// A payment is waited for so much longer than the goods were to be kept, however many tries it takes.
pub(super) const PIN_MS: Millis = 15 * 60_000;

/// Until when a payment that is asked for, or was declined, keeps the goods of its order.
pub(super) fn pinned_until(fact: &OrderFact) -> Option<Millis> {
    if let OrderFact::PaymentAsked { until, .. } = fact {
        Some(*until)
    } else if let OrderFact::PaymentDeclined { until, .. } = fact {
        *until
    } else {
        None
    }
}
