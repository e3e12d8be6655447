//! Facts of orders as JSON.

use onsale_domain::PaymentId;
use onsale_domain::id::write_inside;
use onsale_domain::order::OrderFact;
use onsale_domain::order::fact::OrderedGoods;
use serde_json::{Value, json};

use super::Teller;
use crate::http::time::Time;
use onsale_payments::payment_text;

impl Teller<'_> {
    pub(super) fn of_order(&self, fact: &OrderFact) -> Value {
        let payment = |payment: &PaymentId| payment_text(self.listing.tenant, *payment);
        let order = self.order(fact.order());
        match fact {
            OrderFact::Placed(placed) => {
                let mut told = json!({
                    "order": order, "buyer": placed.buyer.as_str(), "goods_minor": placed.goods_minor,
                    "fee_minor": placed.fee_minor, "currency": placed.currency.as_str(),
                });
                match &placed.goods {
                    OrderedGoods::Hold { hold, .. } => told["hold"] = self.hold(*hold).into(),
                    OrderedGoods::Checkout { checkout, .. } => {
                        told["checkout"] = self.checkout(*checkout).into()
                    }
                    OrderedGoods::Award { .. } => told["auction"] = self.listing.to_string().into(),
                    OrderedGoods::Entry { entry, .. } => {
                        told["entry"] = write_inside("ent", &self.listing, entry.0).into();
                    }
                }
                told
            }
            OrderFact::PaymentAsked { payment: of, amount_minor, until, .. } => {
                json!({"order": order, "payment": payment(of), "amount_minor": amount_minor, "expires_at": Time(*until)})
            }
            OrderFact::PaymentCaptured { payment: of, amount_minor, reference, .. } => json!({
                "order": order, "payment": payment(of), "amount_minor": amount_minor, "reference": reference,
            }),
            OrderFact::PaymentDeclined { payment: of, reason, until, .. } => {
                json!({"order": order, "payment": payment(of), "reason": reason, "expires_at": until.map(Time)})
            }
            OrderFact::Settled { .. } | OrderFact::Cancelled { .. } | OrderFact::SeatsTakenBack { .. } => {
                json!({"order": order})
            }
            OrderFact::RefundOwed { payment: of, refund, amount_minor, why, .. } => json!({
                "order": order, "payment": payment(of), "refund": refund, "amount_minor": amount_minor,
                "why": why.as_str(),
            }),
            OrderFact::RefundPaid { payment: of, refund, .. } => {
                json!({"order": order, "payment": payment(of), "refund": refund})
            }
        }
    }
}
