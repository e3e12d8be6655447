//! Facts of orders as JSON.

use onsale_domain::id::write_inside;
use onsale_domain::order::OrderFact;
use onsale_domain::order::fact::{OrderPlaced, OrderedGoods};
use onsale_domain::{PaymentId, PaymentName};
use serde::Serialize;
use utoipa::ToSchema;

use super::Teller;
use crate::http::time::Time;
use crate::http::words::RefundCause;

#[derive(Debug, Serialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum OrderFactBody<'a> {
    OrderPlaced(OrderPlacedFields<'a>),
    PaymentAsked {
        order: String,
        payment: String,
        amount_minor: i64,
        expires_at: Time,
    },
    PaymentCaptured {
        order: String,
        payment: String,
        amount_minor: i64,
        /// The provider's own name of the payment.
        reference: &'a str,
    },
    PaymentDeclined {
        order: String,
        payment: String,
        reason: &'a str,
        /// The new deadline of the goods, if the order waited for this payment.
        expires_at: Option<Time>,
    },
    OrderSettled {
        order: String,
    },
    OrderCancelled {
        order: String,
    },
    SeatsTakenBack {
        order: String,
    },
    RefundOwed {
        order: String,
        payment: String,
        refund: u16,
        amount_minor: i64,
        why: RefundCause,
    },
    RefundPaid {
        order: String,
        payment: String,
        refund: u16,
    },
}

/// One of `hold`, `checkout`, `auction` and `entry` says what it is for.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OrderPlacedFields)]
pub struct OrderPlacedFields<'a> {
    order: String,
    buyer: &'a str,
    goods_minor: i64,
    fee_minor: i64,
    currency: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    hold: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    checkout: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    auction: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    entry: Option<String>,
}

impl Teller<'_> {
    pub(super) fn of_order<'a>(&'a self, fact: &'a OrderFact) -> OrderFactBody<'a> {
        use OrderFactBody as Body;
        let payment = |payment: &PaymentId| PaymentName { listing: self.listing, payment: *payment }.text();
        let order = self.order(fact.order());
        match fact {
            OrderFact::Placed(placed) => Body::OrderPlaced(self.placed(order, placed)),
            OrderFact::PaymentAsked { payment: of, amount_minor, until, .. } => Body::PaymentAsked {
                order,
                payment: payment(of),
                amount_minor: *amount_minor,
                expires_at: Time(*until),
            },
            OrderFact::PaymentCaptured { payment: of, amount_minor, reference, .. } => {
                Body::PaymentCaptured { order, payment: payment(of), amount_minor: *amount_minor, reference }
            }
            OrderFact::PaymentDeclined { payment: of, reason, until, .. } => {
                Body::PaymentDeclined { order, payment: payment(of), reason, expires_at: until.map(Time) }
            }
            OrderFact::Settled { .. } => Body::OrderSettled { order },
            OrderFact::Cancelled { .. } => Body::OrderCancelled { order },
            OrderFact::SeatsTakenBack { .. } => Body::SeatsTakenBack { order },
            OrderFact::RefundOwed { payment: of, refund, amount_minor, why, .. } => Body::RefundOwed {
                order,
                payment: payment(of),
                refund: *refund,
                amount_minor: *amount_minor,
                why: (*why).into(),
            },
            OrderFact::RefundPaid { payment: of, refund, .. } => {
                Body::RefundPaid { order, payment: payment(of), refund: *refund }
            }
        }
    }

    fn placed<'a>(&'a self, order: String, placed: &'a OrderPlaced) -> OrderPlacedFields<'a> {
        let mut body = OrderPlacedFields {
            order,
            buyer: placed.buyer.as_str(),
            goods_minor: placed.goods_minor,
            fee_minor: placed.fee_minor,
            currency: placed.currency.as_str(),
            hold: None,
            checkout: None,
            auction: None,
            entry: None,
        };
        match &placed.goods {
            OrderedGoods::Hold { hold, .. } => body.hold = Some(self.hold(*hold)),
            OrderedGoods::Checkout { checkout, .. } => body.checkout = Some(self.checkout(*checkout)),
            OrderedGoods::Award { .. } => body.auction = Some(self.listing.to_string()),
            OrderedGoods::Entry { entry, .. } => {
                body.entry = Some(write_inside("ent", &self.listing, entry.0));
            }
        }
        body
    }
}
