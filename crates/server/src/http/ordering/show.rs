//! `GET /v1/orders/{order}`: an order with its goods, its payments and what became of them.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use onsale_domain::Code;

use super::OrderPath;
use super::wire::{Labels, OrderBody};
use crate::app::App;
use crate::http::problem::{Problem, Told};
use crate::http::reply;

/// Show an order
///
/// One that was confirmed or purchased directly is shown by its event or its checkout.
#[utoipa::path(get, path = "/v1/orders/{order}", tag = "orders", params(("order" = String, Path)),
    responses((status = 200, body = OrderBody), (status = 404, body = Told), (status = 501, body = Told)))]
pub async fn show(State(app): State<Arc<App>>, path: OrderPath) -> Result<Response, Problem> {
    let labels = Labels::of(&*app.engine, &path.listing)?;
    let order = path.booked(&app).await?.ok_or_else(|| Problem::code(Code::OrderUnknown))?;
    Ok(reply::json(StatusCode::OK, &OrderBody::new(&order, &labels, app.engine.now())))
}
