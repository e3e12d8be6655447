//! Orders as JSON.

use std::sync::Arc;

use onsale_domain::id::write_inside;
use onsale_domain::listing::BodyView;
use onsale_domain::order::fact::OrderedGoods;
use onsale_domain::order::{BookedOrder, BookedPayment, OrderStatus};
use onsale_domain::time::is_over;
use onsale_domain::{Code, ListingId, ListingKind, Millis, OrderId, PaymentId, PaymentName};
use onsale_engine::{Engine, View};
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::names::Names;
use crate::http::problem::Problem;
use crate::http::sales::names::Skus;
use crate::http::sales::wire::LinePriced;
use crate::http::time::Time;
use crate::http::wire::{AreaPriced, At, SeatPriced, areas_priced, seats_priced};
use crate::http::words::{self, AttemptStatus, RefundCause};

/// The names of what an order pays.
#[derive(Debug)]
pub enum Labels {
    Seats(Names),
    Skus(Skus),
    /// An auction or a registration: what an order pays there has no parts.
    Whole(Arc<View>),
}

impl Labels {
    pub fn of(engine: &dyn Engine, listing: &ListingId) -> Result<Labels, Problem> {
        if let ListingKind::Auction | ListingKind::Registration = listing.kind {
            let view = engine.view(listing).ok_or_else(|| Problem::code(Code::ListingUnknown))?;
            return Ok(Labels::Whole(view));
        }
        match Names::of(engine, listing) {
            Ok(names) => Ok(Labels::Seats(names)),
            Err(_) => Skus::of(engine, listing).map(Labels::Skus),
        }
    }

    pub fn view(&self) -> &Arc<View> {
        match self {
            Labels::Seats(names) => &names.view,
            Labels::Skus(skus) => &skus.view,
            Labels::Whole(view) => view,
        }
    }
}

/// Whether the listing's end has passed: what is confirmed is completed then.
pub fn is_ended(view: &View, now: Millis) -> bool {
    match &view.body {
        BodyView::Event(event) => is_over(event.details.ends_at, now),
        BodyView::Sale(sale) => is_over(sale.details.ends_at, now),
        BodyView::Registration(registration) => is_over(registration.details.starts_at, now),
        // There is nothing to order before it is over.
        BodyView::Auction(_) => true,
        BodyView::Venue(_) | BodyView::Series(_) | BodyView::Desk(_) => false,
    }
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Order)]
pub struct OrderBody<'a> {
    pub id: String,
    /// Pays and cancels this order, in the header `Order-Key`; shown to its buyer only, in the answer that places it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The event, the sale, the auction or the registration.
    listing: String,
    buyer: &'a str,
    status: words::OrderStatus,
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
    placed_at: Time,
    /// When its hold or code is over, while it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_in_seconds: Option<u64>,
    /// When it was confirmed, or was over.
    #[serde(skip_serializing_if = "Option::is_none")]
    closed_at: Option<Time>,
    /// True if whatever it costs was paid elsewhere.
    paid_elsewhere: bool,
    /// The payment that a provider is asked for now; in the answer to paying, the one that this has asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "pay_00000a5kq1zxj2tp0f3e8m9w0qhs7v")]
    pub payment: Option<String>,
    payments: Vec<PaymentBody>,
    /// The listing's position of what placed or changed it; present in the answer to that.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, example = "1-8")]
    pub position: Option<At>,
}

/// What an order pays: seats and places of a hold, the lines of a code, what an auction sold, or a place.
#[derive(Debug, Default, Serialize, ToSchema)]
pub struct GoodsBody<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    hold: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    checkout: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    auction: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    entry: Option<String>,
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
    id: String,
    status: AttemptStatus,
    amount_minor: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    captured_minor: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    declined: Option<String>,
    expires_at: Time,
    /// While the provider is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_in_seconds: Option<u64>,
    refunds: Vec<RefundBody>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct RefundBody {
    pub amount_minor: i64,
    pub why: RefundCause,
    pub paid: bool,
}

pub fn goods_body<'a>(goods: &OrderedGoods, labels: &'a Labels) -> GoodsBody<'a> {
    let listing = &labels.view().listing;
    let mut body = GoodsBody::default();
    match (goods, labels) {
        (OrderedGoods::Hold { hold, seats, areas, .. }, Labels::Seats(names)) => {
            body.hold = Some(write_inside("hld", listing, hold.0));
            body.seats = seats_priced(seats, names);
            body.areas = areas_priced(areas, names);
        }
        (OrderedGoods::Checkout { checkout, lines, .. }, Labels::Skus(skus)) => {
            body.checkout = Some(write_inside("cod", listing, checkout.0));
            body.lines = skus.priced(lines);
        }
        (OrderedGoods::Award { .. }, _) => body.auction = Some(listing.to_string()),
        (OrderedGoods::Entry { entry, .. }, _) => body.entry = Some(write_inside("ent", listing, entry.0)),
        (OrderedGoods::Hold { .. } | OrderedGoods::Checkout { .. }, _) => {}
    }
    body
}

impl<'a> OrderBody<'a> {
    pub fn new(order: &'a BookedOrder, labels: &'a Labels, now: Millis) -> OrderBody<'a> {
        let view = labels.view();
        let asked = order.payments.last().filter(|_| order.status == OrderStatus::Paying);
        OrderBody {
            id: order_text(&view.listing, order.order),
            key: None,
            listing: view.listing.to_string(),
            buyer: order.buyer.as_str(),
            status: status_of(order, view, now),
            goods: goods_body(&order.goods, labels),
            goods_minor: order.goods_minor,
            fee_minor: order.fee_minor,
            total_minor: order.total_minor(),
            returned_minor: order.returned_minor,
            currency: order.currency.as_str(),
            placed_at: Time(order.placed_at),
            expires_at: order.until.map(Time),
            expires_in_seconds: order.until.map(|until| Time(until).seconds_after(now)),
            closed_at: order.closed_at.map(Time),
            paid_elsewhere: order.settled,
            payment: asked.map(|payment| payment_text(&view.listing, payment.payment)),
            payments: order
                .payments
                .iter()
                .map(|payment| payment_body(&view.listing, payment, now))
                .collect(),
            position: None,
        }
    }
}

/// As everybody is told: `completed` is `confirmed` once the listing's end has passed.
pub fn status_of(order: &BookedOrder, view: &View, now: Millis) -> words::OrderStatus {
    match order.status == OrderStatus::Confirmed && is_ended(view, now) {
        true => words::OrderStatus::Completed,
        false => order.status.into(),
    }
}

fn payment_body(listing: &ListingId, payment: &BookedPayment, now: Millis) -> PaymentBody {
    let status = match (&payment.captured_minor, &payment.declined) {
        (Some(_), _) => AttemptStatus::Captured,
        (None, Some(_)) => AttemptStatus::Declined,
        (None, None) => AttemptStatus::Asked,
    };
    PaymentBody {
        id: payment_text(listing, payment.payment),
        status,
        amount_minor: payment.amount_minor,
        captured_minor: payment.captured_minor,
        declined: payment.declined.clone().filter(|_| payment.captured_minor.is_none()),
        expires_at: Time(payment.until),
        expires_in_seconds: matches!(status, AttemptStatus::Asked)
            .then(|| Time(payment.until).seconds_after(now)),
        refunds: payment
            .refunds
            .iter()
            .map(|refund| RefundBody {
                amount_minor: refund.amount_minor,
                why: refund.why.into(),
                paid: refund.paid,
            })
            .collect(),
    }
}

pub fn payment_text(listing: &ListingId, payment: PaymentId) -> String {
    PaymentName { listing: *listing, payment }.text()
}

pub fn order_text(listing: &ListingId, order: OrderId) -> String {
    write_inside("ord", listing, order.0)
}
