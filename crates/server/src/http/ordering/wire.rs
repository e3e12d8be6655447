//! Orders as JSON.

use std::sync::Arc;

use onsale_domain::id::write_inside;
use onsale_domain::listing::BodyView;
use onsale_domain::order::fact::Goods;
use onsale_domain::order::{BookedOrder, BookedPayment, OrderStatus};
use onsale_domain::time::is_over;
use onsale_domain::{ListingId, Millis, OrderId, Tenant};
use onsale_engine::{Engine, View};
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::names::Names;
use crate::http::problem::Problem;
use crate::http::sales::names::Skus;
use crate::http::sales::wire::LinePriced;
use crate::http::wire::{AreaPriced, SeatPriced, areas_priced, seats_priced};
use crate::payments::payment_text;

/// The names of what an order pays.
#[derive(Debug)]
pub enum Labels {
    Seats(Names),
    Skus(Skus),
}

impl Labels {
    pub fn of(engine: &dyn Engine, listing: &ListingId) -> Result<Labels, Problem> {
        match Names::of(engine, listing) {
            Ok(names) => Ok(Labels::Seats(names)),
            Err(_) => Skus::of(engine, listing).map(Labels::Skus),
        }
    }

    pub fn view(&self) -> &Arc<View> {
        match self {
            Labels::Seats(names) => &names.view,
            Labels::Skus(skus) => &skus.view,
        }
    }
}

/// Whether the listing's end has passed: what is confirmed is completed then.
pub fn is_ended(view: &View, now: Millis) -> bool {
    match &view.body {
        BodyView::Event(event) => is_over(event.details.ends_at, now),
        BodyView::Sale(sale) => is_over(sale.details.ends_at, now),
        BodyView::Venue(_)
        | BodyView::Series(_)
        | BodyView::Registration(_)
        | BodyView::Auction(_)
        | BodyView::Desk(_) => false,
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct OrderBody<'a> {
    #[schema(example = "ord_default_01kz0000000000000000000000_01kz0000000000000000000002")]
    id: String,
    /// The event or the sale.
    listing: String,
    buyer: &'a str,
    /// `pending`, `paying`, `confirmed`, `completed`, `expired`, `cancelled` or `refunded`.
    #[schema(example = "paying")]
    status: &'static str,
    #[serde(flatten)]
    goods: GoodsBody<'a>,
    #[schema(example = 9000)]
    goods_minor: i64,
    #[schema(example = 100)]
    fee_minor: i64,
    #[schema(example = 9100)]
    total_minor: i64,
    /// The price of what was given back.
    returned_minor: i64,
    #[schema(example = "EUR")]
    currency: &'a str,
    placed_at: Millis,
    /// When its hold or code is over, while it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<Millis>,
    /// When it was confirmed, or was over.
    #[serde(skip_serializing_if = "Option::is_none")]
    closed_at: Option<Millis>,
    /// True if the money was taken elsewhere.
    settled: bool,
    payments: Vec<PaymentBody>,
}

/// What an order pays: seats and places of a hold, or the lines of a code.
#[derive(Debug, Serialize, ToSchema)]
pub struct GoodsBody<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    hold: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    checkout: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    seats: Vec<SeatPriced<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    areas: Vec<AreaPriced<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lines: Vec<LinePriced<'a>>,
}

/// An attempt to pay.
#[derive(Debug, Serialize, ToSchema)]
pub struct PaymentBody {
    #[schema(example = "pay_default_01kz0000000000000000000003")]
    id: String,
    /// `asked`, `captured` or `declined`.
    #[schema(example = "asked")]
    status: &'static str,
    amount_minor: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    captured_minor: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    declined: Option<String>,
    until: Millis,
    refunds: Vec<RefundBody>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct RefundBody {
    pub amount_minor: i64,
    /// `returned`, `late`, `twice` or `amount`.
    #[schema(example = "returned")]
    pub why: &'static str,
    pub paid: bool,
}

pub fn goods_body<'a>(goods: &Goods, labels: &'a Labels) -> GoodsBody<'a> {
    let listing = &labels.view().listing;
    let mut body =
        GoodsBody { hold: None, checkout: None, seats: Vec::new(), areas: Vec::new(), lines: Vec::new() };
    match (goods, labels) {
        (Goods::Hold { hold, seats, areas, .. }, Labels::Seats(names)) => {
            body.hold = Some(write_inside("hld", listing, hold.0));
            body.seats = seats_priced(seats, names);
            body.areas = areas_priced(areas, names);
        }
        (Goods::Checkout { checkout, lines, .. }, Labels::Skus(skus)) => {
            body.checkout = Some(write_inside("cod", listing, checkout.0));
            body.lines = skus.priced(lines);
        }
        (Goods::Hold { .. }, Labels::Skus(_)) | (Goods::Checkout { .. }, Labels::Seats(_)) => {}
    }
    body
}

impl<'a> OrderBody<'a> {
    pub fn new(order: &'a BookedOrder, labels: &'a Labels, now: Millis) -> OrderBody<'a> {
        let view = labels.view();
        let completed = order.status == OrderStatus::Confirmed && is_ended(view, now);
        OrderBody {
            id: order_text(&view.listing, order.order),
            listing: view.listing.to_string(),
            buyer: order.buyer.as_str(),
            status: if completed { "completed" } else { order.status.as_str() },
            goods: goods_body(&order.goods, labels),
            goods_minor: order.goods_minor,
            fee_minor: order.fee_minor,
            total_minor: order.total_minor(),
            returned_minor: order.returned_minor,
            currency: order.currency.as_str(),
            placed_at: order.placed_at,
            until: order.until,
            closed_at: order.closed_at,
            settled: order.settled,
            payments: order.payments.iter().map(payment_body).collect(),
        }
    }
}

fn payment_body(payment: &BookedPayment) -> PaymentBody {
    let status = match (&payment.captured_minor, &payment.declined) {
        (Some(_), _) => "captured",
        (None, Some(_)) => "declined",
        (None, None) => "asked",
    };
    PaymentBody {
        id: payment_text(Tenant::DEFAULT, payment.payment),
        status,
        amount_minor: payment.amount_minor,
        captured_minor: payment.captured_minor,
        declined: payment.declined.clone().filter(|_| payment.captured_minor.is_none()),
        until: payment.until,
        refunds: payment
            .refunds
            .iter()
            .map(|refund| RefundBody {
                amount_minor: refund.amount_minor,
                why: refund.why.as_str(),
                paid: refund.paid,
            })
            .collect(),
    }
}

pub fn order_text(listing: &ListingId, order: OrderId) -> String {
    write_inside("ord", listing, order.0)
}
