//! `GET /v1/orders/{order}`: an order with its goods, its payments and what became of them.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use onsale_domain::registration::{RegistrationFound, RegistrationQuery};
use onsale_domain::seats::{EventFound, EventQuery};
use onsale_domain::stock::{SaleFound, SaleQuery};
use onsale_domain::{Code, ListingKind};
use onsale_domain::{Found, Query};

use super::OrderPath;
use super::wire::{Labels, OrderBody};
use crate::app::App;
use crate::http::problem::Problem;
use crate::http::reply;

/// Show an order
///
/// One that was confirmed or purchased directly has no payments: the money was taken elsewhere.
#[utoipa::path(get, path = "/v1/orders/{order}", tag = "orders", responses((status = 200, body = OrderBody)))]
pub async fn show(State(app): State<Arc<App>>, path: OrderPath) -> Result<Response, Problem> {
    let labels = Labels::of(&*app.engine, &path.listing)?;
    let now = app.engine.now();
    if let Some(order) = path.booked(&app).await? {
        return Ok(reply::json(StatusCode::OK, &OrderBody::new(&order, &labels, now)));
    }
    let query = match &labels {
        Labels::Seats(_) => Query::Event(EventQuery::Order(path.order)),
        Labels::Skus(_) => Query::Sale(SaleQuery::Order(path.order)),
        Labels::Whole(view) if view.listing.kind == ListingKind::Registration => {
            Query::Registration(RegistrationQuery::PaidBy(path.order))
        }
        // What an auction sold is ordered in its book, or settled without an order.
        Labels::Whole(_) => return Err(Problem::code(Code::OrderUnknown)),
    };
    let found = app.engine.ask(path.listing, query).await?;
    let body = if let Found::Event(EventFound::Order(order)) = &found {
        OrderBody::of_seats(order, &labels, now)
    } else if let Found::Sale(SaleFound::Purchase(purchase)) = &found {
        OrderBody::of_purchase(purchase, &labels, now)
    } else if let Found::Registration(RegistrationFound::Paid(entry, price_minor)) = &found {
        OrderBody::of_entry((path.order, entry, *price_minor), &labels, now)
    } else {
        None
    };
    Ok(reply::json(StatusCode::OK, &body.ok_or_else(|| Problem::code(Code::OrderUnknown))?))
}
