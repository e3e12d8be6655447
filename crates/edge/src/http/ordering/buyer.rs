//! `GET /v1/buyers/{buyer}/orders`: a buyer's orders over all events and sales.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use onsale_domain::order::{BookedOrder, OrdersFound, OrdersQuery};
use onsale_domain::{Found, Query, Tenant};
use serde::Serialize;
use utoipa::ToSchema;

use super::KINDS;
use super::wire::{Labels, OrderBody};
use crate::app::App;
use crate::http::extract::BuyerPath;
use crate::http::problem::Problem;
use crate::http::reply;

/// Orders shown of one listing, the latest.
const OF_ONE: usize = 100;

#[derive(Debug, Serialize, ToSchema)]
pub struct BuyerOrders<'a> {
    buyer: &'a str,
    /// The latest first; at most 100 of each listing.
    orders: Vec<OrderBody<'a>>,
}

/// A buyer's orders
#[utoipa::path(get, path = "/v1/buyers/{buyer}/orders", tag = "orders", params(("buyer" = String, Path)),
    responses((status = 200, body = BuyerOrders)))]
pub async fn list(State(app): State<Arc<App>>, BuyerPath(buyer): BuyerPath) -> Result<Response, Problem> {
    let mut found: Vec<(Labels, BookedOrder)> = Vec::new();
    for kind in KINDS {
        let query = OrdersQuery::OrdersOf { buyer: buyer.clone(), limit: OF_ONE };
        for known in app.engine.ask_all(Tenant::DEFAULT, kind, Query::Orders(query)).await? {
            let Found::Orders(OrdersFound::Orders(orders)) = known.found else { continue };
            for order in orders {
                found.push((Labels::of(&*app.engine, &known.listing)?, order));
            }
        }
    }
    found.sort_by_key(|(_, order)| std::cmp::Reverse((order.placed_at, order.order)));
    let now = app.engine.now();
    let orders = found.iter().map(|(labels, order)| OrderBody::new(order, labels, now)).collect();
    Ok(reply::json(StatusCode::OK, &BuyerOrders { buyer: buyer.as_str(), orders }))
}
