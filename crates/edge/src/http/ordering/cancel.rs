//! `POST /v1/orders/{order}/cancel`: the goods are their buyer's again, for as long as they are kept.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use onsale_domain::Command;
use onsale_domain::order::OrderCommand;
use onsale_domain::order::command::OrderKey;

use super::OrderPath;
use super::wire::OrderBody;
use crate::app::App;
use crate::http::extract::Caller;
use crate::http::problem::Problem;
use crate::http::reply;

/// Cancel an order that nobody is paying
///
/// The goods are the buyer's again, for as long as their own deadline lets them be. The answer is the order as it is now, under the same
/// key, too.
#[utoipa::path(post, path = "/v1/orders/{order}/cancel", tag = "orders",
    params(("Order-Key" = String, Header), ("Onsale-Buyer" = Option<String>, Header)),
    responses((status = 200, body = OrderBody), (status = 410), (status = 412)))]
pub async fn cancel(
    State(app): State<Arc<App>>,
    path: OrderPath,
    caller: Caller,
) -> Result<Response, Problem> {
    let buyer = path.buyer(&app, caller.buyer.as_ref()).await?;
    let origin = caller.origin(&path.listing, &path.key());
    let command = Command::Order(OrderCommand::Cancel(OrderKey { order: path.order, buyer }));
    let answer = reply::submit(&app, path.listing, command, origin, None).await?;
    path.changed(&app, &answer).await
}
