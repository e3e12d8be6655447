//! Facts of a sale. A checkout is told by its id; what makes a code of it is known to its buyer only.

use onsale_domain::OrderId;
use onsale_domain::id::{CheckoutId, SkuIndex, write_inside};
use onsale_domain::stock::SaleFact;
use onsale_domain::stock::details::Sku;
use onsale_domain::stock::fact::{CancelCause, SkuCount, SkuLine};
use serde_json::{Value, json};

use super::Teller;
use crate::http::sales::wire::DetailsBody;
use crate::http::time::Time;

impl Teller<'_> {
    pub(super) fn sale(&self, fact: &SaleFact, fence: u64) -> Value {
        match fact {
            SaleFact::Created(created) => {
                let mut told = serde_json::to_value(DetailsBody::from(&created.details)).unwrap_or_default();
                told["skus"] = created.skus.iter().map(new_sku).collect();
                told
            }
            SaleFact::Changed(details) => {
                serde_json::to_value(DetailsBody::from(&**details)).unwrap_or_default()
            }
            SaleFact::StatusChanged { status, by_schedule } => {
                json!({"status": status.as_str(), "by_schedule": by_schedule})
            }
            SaleFact::SkuAdded(sku) => new_sku(sku),
            SaleFact::StockAdded { sku, count } | SaleFact::StockWithdrawn { sku, count } => {
                json!({"sku": self.sku(*sku), "count": count})
            }
            SaleFact::PriceChanged { sku, price_minor } => {
                json!({"sku": self.sku(*sku), "price_minor": price_minor})
            }
            SaleFact::CheckedOut { checkout, buyer, lines, until } => json!({
                "checkout": self.checkout(*checkout), "buyer": buyer.as_str(), "fence": fence,
                "expires_at": Time(*until), "lines": self.lines(lines),
            }),
            SaleFact::CheckoutCancelled { checkout, why } => {
                let why = match why {
                    CancelCause::Buyer => "buyer",
                    CancelCause::SaleCancelled => "sale_cancelled",
                };
                json!({"checkout": self.checkout(*checkout), "why": why})
            }
            SaleFact::CheckoutExpired { checkout } => json!({"checkout": self.checkout(*checkout)}),
            SaleFact::CheckoutOrdered { checkout, order, until } => json!({
                "checkout": self.checkout(*checkout), "order": self.order_of(*order), "expires_at": Time(*until),
            }),
            SaleFact::CheckoutReturned { checkout, until } => {
                json!({"checkout": self.checkout(*checkout), "expires_at": Time(*until)})
            }
            SaleFact::Purchased { checkout, order } => {
                json!({"checkout": self.checkout(*checkout), "order": self.order_of(*order)})
            }
            SaleFact::TakenBack { checkout, order, buyer, lines } => json!({
                "checkout": self.checkout(*checkout), "order": self.order_of(*order),
                "buyer": buyer.as_str(), "lines": self.lines(lines),
            }),
            SaleFact::Refunded { order, lines, amount_minor, restock, reason } => json!({
                "order": self.order_of(*order), "lines": self.counts(lines), "amount_minor": amount_minor,
                "restock": restock, "reason": reason,
            }),
        }
    }

    pub(super) fn checkout(&self, checkout: CheckoutId) -> String {
        write_inside("cod", &self.listing, checkout.0)
    }

    fn order_of(&self, order: OrderId) -> String {
        write_inside("ord", &self.listing, order.0)
    }

    fn sku(&self, sku: SkuIndex) -> &str {
        let sku = self.sale.and_then(|sale| sale.skus.get(usize::from(sku)));
        sku.map_or("", |sku| sku.id.as_str())
    }

    fn lines(&self, lines: &[SkuLine]) -> Vec<Value> {
        let line = |line: &SkuLine| json!({"sku": self.sku(line.sku), "count": line.count, "price_minor": line.price_minor});
        lines.iter().map(line).collect()
    }

    fn counts(&self, lines: &[SkuCount]) -> Vec<Value> {
        lines.iter().map(|line| json!({"sku": self.sku(line.sku), "count": line.count})).collect()
    }
}

fn new_sku(sku: &Sku) -> Value {
    json!({"sku": sku.id, "name": sku.name, "price_minor": sku.price_minor, "stock": sku.stock})
}
