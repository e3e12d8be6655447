//! Orders as JSON.

use std::sync::Arc;

use onsale_domain::id::write_inside;
use onsale_domain::listing::BodyView;
use onsale_domain::money::Minor;
use onsale_domain::order::fact::OrderedGoods;
use onsale_domain::order::{BookedOrder, BookedPayment, OrderStatus};
use onsale_domain::registration::EntryState;
use onsale_domain::seats::OrderState;
use onsale_domain::stock::PurchaseState;
use onsale_domain::time::is_over;
use onsale_domain::{Code, ListingId, ListingKind, Millis, OrderId, PaymentName};
use onsale_engine::{Engine, View};
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::names::Names;
use crate::http::problem::Problem;
use crate::http::sales::names::Skus;
use crate::http::sales::wire::LinePriced;
use crate::http::time::Time;
use crate::http::wire::{AreaPriced, SeatPriced, areas_priced, seats_priced, total};
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
pub struct OrderBody<'a> {
    id: String,
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
    /// Of an order that was confirmed directly on seats or for a place nobody has written it down.
    #[serde(skip_serializing_if = "Option::is_none")]
    placed_at: Option<Time>,
    /// When its hold or code is over, while it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_in_seconds: Option<u64>,
    /// When it was confirmed, or was over.
    #[serde(skip_serializing_if = "Option::is_none")]
    closed_at: Option<Time>,
    /// True if the money was taken elsewhere.
    settled: bool,
    payments: Vec<PaymentBody>,
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
        let completed = order.status == OrderStatus::Confirmed && is_ended(view, now);
        OrderBody {
            id: order_text(&view.listing, order.order),
            listing: view.listing.to_string(),
            buyer: order.buyer.as_str(),
            status: if completed { words::OrderStatus::Completed } else { order.status.into() },
            goods: goods_body(&order.goods, labels),
            goods_minor: order.goods_minor,
            fee_minor: order.fee_minor,
            total_minor: order.total_minor(),
            returned_minor: order.returned_minor,
            currency: order.currency.as_str(),
            placed_at: Some(Time(order.placed_at)),
            expires_at: order.until.map(Time),
            expires_in_seconds: order.until.map(|until| Time(until).seconds_after(now)),
            closed_at: order.closed_at.map(Time),
            settled: order.settled,
            payments: order.payments.iter().map(|payment| payment_body(&view.listing, payment)).collect(),
        }
    }
}

impl<'a> OrderBody<'a> {
    /// Seats that were confirmed without an order in the book: what is left of them.
    pub fn of_seats(order: &'a OrderState, labels: &'a Labels, now: Millis) -> Option<OrderBody<'a>> {
        let Labels::Seats(names) = labels else { return None };
        let total_minor = total(&order.seats, &order.areas);
        let goods = GoodsBody {
            seats: seats_priced(&order.seats, names),
            areas: areas_priced(&order.areas, names),
            ..GoodsBody::default()
        };
        let is_gone = order.seats.is_empty() && order.areas.is_empty();
        let buyer = order.buyer.as_str();
        let direct = OrderBody::direct(labels, order.order, buyer, names.currency(), (is_gone, now));
        Some(OrderBody { goods, goods_minor: total_minor, total_minor, ..direct })
    }

    /// A code that was bought without an order in the book.
    pub fn of_purchase(
        purchase: &'a PurchaseState,
        labels: &'a Labels,
        now: Millis,
    ) -> Option<OrderBody<'a>> {
        let (Labels::Skus(skus), BodyView::Sale(sale)) = (labels, &labels.view().body) else { return None };
        let lines = purchase.lines.iter().zip(&purchase.refunded);
        let returned_minor = lines.clone().map(|(line, back)| line.price_minor * i64::from(*back)).sum();
        let is_gone = lines.clone().all(|(line, back)| line.count == *back);
        let checkout = Some(write_inside("cod", &labels.view().listing, purchase.checkout.0));
        let goods = GoodsBody { checkout, lines: skus.priced(&purchase.lines), ..GoodsBody::default() };
        let (buyer, currency) = (purchase.buyer.as_str(), sale.details.currency.as_str());
        let direct = OrderBody::direct(labels, purchase.order, buyer, currency, (is_gone, now));
        let (goods_minor, total_minor) = (purchase.total_minor, purchase.total_minor);
        let placed_at = Some(Time(purchase.at));
        Some(OrderBody { goods, goods_minor, total_minor, returned_minor, placed_at, ..direct })
    }

    /// A place of a registration that was confirmed without an order in the book. When it is given up the registration
    /// forgets it, and with it this order.
    pub fn of_entry(
        (order, entry, price_minor): (OrderId, &'a EntryState, Minor),
        labels: &'a Labels,
        now: Millis,
    ) -> Option<OrderBody<'a>> {
        let BodyView::Registration(registration) = &labels.view().body else { return None };
        let id = write_inside("ent", &labels.view().listing, entry.entry.0);
        let goods = GoodsBody { entry: Some(id), ..GoodsBody::default() };
        let (buyer, currency) = (entry.buyer.as_str(), registration.details.currency.as_str());
        let direct = OrderBody::direct(labels, order, buyer, currency, (false, now));
        Some(OrderBody { goods, goods_minor: price_minor, total_minor: price_minor, ..direct })
    }

    fn direct(
        labels: &'a Labels,
        order: OrderId,
        buyer: &'a str,
        currency: &'a str,
        (is_gone, now): (bool, Millis),
    ) -> OrderBody<'a> {
        let view = labels.view();
        OrderBody {
            id: order_text(&view.listing, order),
            listing: view.listing.to_string(),
            buyer,
            status: match (is_gone, is_ended(view, now)) {
                (true, _) => words::OrderStatus::Refunded,
                (false, true) => words::OrderStatus::Completed,
                (false, false) => words::OrderStatus::Confirmed,
            },
            goods: GoodsBody::default(),
            goods_minor: 0,
            fee_minor: 0,
            total_minor: 0,
            returned_minor: 0,
            currency,
            placed_at: None,
            expires_at: None,
            expires_in_seconds: None,
            closed_at: None,
            settled: true,
            payments: Vec::new(),
        }
    }
}

fn payment_body(listing: &ListingId, payment: &BookedPayment) -> PaymentBody {
    let status = match (&payment.captured_minor, &payment.declined) {
        (Some(_), _) => AttemptStatus::Captured,
        (None, Some(_)) => AttemptStatus::Declined,
        (None, None) => AttemptStatus::Asked,
    };
    PaymentBody {
        id: PaymentName { listing: *listing, payment: payment.payment }.text(),
        status,
        amount_minor: payment.amount_minor,
        captured_minor: payment.captured_minor,
        declined: payment.declined.clone().filter(|_| payment.captured_minor.is_none()),
        expires_at: Time(payment.until),
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

pub fn order_text(listing: &ListingId, order: OrderId) -> String {
    write_inside("ord", listing, order.0)
}
