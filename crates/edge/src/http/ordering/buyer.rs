//! `GET /v1/buyers/{buyer}/orders`: a buyer's orders over all events and sales.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use onsale_access::principal::Principal;
use onsale_domain::order::{BookedOrder, OrdersFound, OrdersQuery};
use onsale_domain::{BuyerId, Found, Query};
use serde::Deserialize;

use super::KINDS;
use super::wire::{Labels, OrderBody, order_text, status_of};
use crate::app::App;
use crate::http::extract::BuyerPath;
use crate::http::list::{self, Cursors, List, Page};
use crate::http::problem::Problem;
use crate::http::{self, reply, words};

/// Orders shown of one listing, the latest.
const OF_ONE: usize = 100;

/// Which orders are wanted.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BuyerOrders {
    status: Option<words::OrderStatus>,
    after: Option<String>,
    limit: Option<usize>,
}

/// A buyer's orders
///
/// Over all events, sales, auctions and registrations, the latest first; at most 100 of each listing. What was confirmed or purchased directly
/// is among the orders of its listing.
#[utoipa::path(get, path = "/v1/buyers/{buyer}/orders", tag = "orders",
    params(("status" = Option<words::OrderStatus>, Query), ("after" = Option<String>, Query), ("limit" = Option<usize>, Query)),
    responses((status = 200, body = List<OrderBody>)))]
pub async fn list(
    State(app): State<Arc<App>>,
    BuyerPath(buyer, principal): BuyerPath,
    http::query::Query(wish): http::query::Query<BuyerOrders>,
) -> Result<Response, Problem> {
    let now = app.engine.now();
    let mut found = all_of(&app, &principal, &buyer).await?;
    found.retain(|(labels, order)| {
        wish.status.is_none_or(|status| status == status_of(order, labels.view(), now))
    });
    let cursors = Cursors::new("buyers.orders", buyer.as_str());
    let page = Page { after: wish.after, limit: wish.limit };
    let page = list::of_all(&page, cursors, found, |(labels, order)| {
        // The later it was placed, the smaller.
        format!("{:016x}{}", !order.placed_at, order_text(&labels.view().listing, order.order))
    })?;
    Ok(reply::json(StatusCode::OK, &page.map(|(labels, order)| OrderBody::new(order, labels, now))))
}

/// All that this caller may see of them, the latest hundred of each listing.
pub async fn all_of(
    app: &App,
    principal: &Principal,
    buyer: &BuyerId,
) -> Result<Vec<(Labels, BookedOrder)>, Problem> {
    let mut found = Vec::new();
    for kind in KINDS {
        let query = OrdersQuery::OrdersOf { buyer: buyer.clone(), limit: OF_ONE };
        for known in app.engine.ask_all(principal.tenant, kind, Query::Orders(query)).await? {
            if !principal.sees(&known.listing) {
                continue;
            }
            let Found::Orders(OrdersFound::Orders(orders)) = known.found else { continue };
            for order in orders {
                found.push((Labels::of(&*app.engine, &known.listing)?, order));
            }
        }
    }
    Ok(found)
}
