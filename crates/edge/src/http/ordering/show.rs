//! `GET /v1/orders/{order}` and `GET /v1/orders?listing=`: orders with their goods, their payments and what became of them.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use onsale_domain::order::{BookedOrder, OrderStatus, OrdersFound, OrdersQuery};
use onsale_domain::{Code, ListingId, Question};
use serde::Deserialize;

use super::wire::{Labels, OrderBody, is_ended};
use super::{KINDS, OrderPath};
use crate::app::App;
use crate::http::extract::look_up;
use crate::http::gate::Visitor;
use crate::http::list::{self, Cursors, List};
use crate::http::problem::Problem;
use crate::http::query::Query;
use crate::http::{reply, words};

/// Show an order
///
/// One that was confirmed or purchased directly has no payments: the money was taken elsewhere.
#[utoipa::path(get, path = "/v1/orders/{order}", tag = "orders", responses((status = 200, body = OrderBody)))]
pub async fn show(
    State(app): State<Arc<App>>,
    path: OrderPath,
    Visitor(visitor): Visitor,
) -> Result<Response, Problem> {
    let labels = Labels::of(&*app.engine, &path.listing)?;
    let order = path.booked(&app).await?;
    let order = order.filter(|order| visitor.knows(&order.buyer) || path.is_for(&app.tokens, &order.buyer));
    let order = order.ok_or_else(|| Problem::code(Code::OrderUnknown))?;
    Ok(reply::json(StatusCode::OK, &OrderBody::new(&order, &labels, app.engine.now())))
}

/// Which orders are wanted.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OrdersPage {
    listing: Option<String>,
    status: Option<words::OrderStatus>,
    after: Option<String>,
    limit: Option<usize>,
}

/// The orders of a listing
///
/// Of an event, a sale, a registration or an auction, in the order in which they were made; those that were confirmed or purchased directly
/// are among them.
#[utoipa::path(get, path = "/v1/orders", tag = "orders",
    params(("listing" = String, Query), ("status" = Option<words::OrderStatus>, Query), ("after" = Option<String>, Query), ("limit" = Option<usize>, Query)),
    responses((status = 200, body = List<OrderBody>), (status = 404)))]
pub async fn list(
    State(app): State<Arc<App>>,
    Visitor(visitor): Visitor,
    Query(page): Query<OrdersPage>,
) -> Result<Response, Problem> {
    let (limit, named) = (list::limit(page.limit)?, page.listing.as_deref());
    let named = named.ok_or_else(|| {
        Problem::parameter(
            "listing",
            "name the event, sale, registration or auction whose orders are wanted: \
                                       orders of all listings together cannot be listed yet",
        )
    })?;
    let listing = ListingId::parse(named).filter(|listing| KINDS.contains(&listing.kind));
    let listing = listing.ok_or_else(|| Problem::code(Code::ListingUnknown))?;
    look_up(&app, &visitor, listing).await?;
    let labels = Labels::of(&*app.engine, &listing)?;
    let now = app.engine.now();
    let name = listing.to_string();
    let cursors = Cursors::new("orders.list", &name);
    let after = cursors.read(page.after.as_deref(), |place| place.parse().ok())?.unwrap_or(0);
    let found = match page.status.map(|status| in_the_rules(status, is_ended(labels.view(), now))) {
        // No order of this listing can stand there now.
        Some(None) => Vec::new(),
        status => {
            let status = status.flatten();
            let all = OrdersQuery::All { after, status, limit: limit + 1 };
            let answer = OrdersQuery::answer(app.engine.ask(listing, all.into()).await?);
            if let Some(OrdersFound::All(found)) = answer { found } else { Vec::new() }
        }
    };
    let page = list::cut(found, limit, |(fence, _): &(u64, BookedOrder)| cursors.write(&fence.to_string()));
    Ok(reply::json(StatusCode::OK, &page.map(|(_, order)| OrderBody::new(order, &labels, now))))
}

/// A status as the rules know it: `completed` is `confirmed` once the listing's end has passed.
fn in_the_rules(status: words::OrderStatus, is_ended: bool) -> Option<OrderStatus> {
    match status {
        words::OrderStatus::Pending => Some(OrderStatus::Pending),
        words::OrderStatus::Paying => Some(OrderStatus::Paying),
        words::OrderStatus::Confirmed => (!is_ended).then_some(OrderStatus::Confirmed),
        words::OrderStatus::Completed => is_ended.then_some(OrderStatus::Confirmed),
        words::OrderStatus::Expired => Some(OrderStatus::Expired),
        words::OrderStatus::Cancelled => Some(OrderStatus::Cancelled),
        words::OrderStatus::Refunded => Some(OrderStatus::Refunded),
    }
}
