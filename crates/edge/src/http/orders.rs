//! `…/orders/{order}` and `POST …/refunds`: what was sold, and how it comes back.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use onsale_domain::id::write_inside;
use onsale_domain::seats::command::RefundOrder;
use onsale_domain::seats::{EventCommand, EventFact, EventFound, EventQuery};
use onsale_domain::{Code, Command, Fact, OrderId};
use onsale_domain::{Found, Query};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::extract::{self, Caller, EventPath, Json};
use super::names::Names;
use super::problem::Problem;
use super::reply::{self, own_fact};
use super::wire::{AreaAsked, AreaPriced, At, SeatPriced, areas_priced, seats_priced, total};
use crate::app::App;

/// What is left of an order after refunds.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Order)]
pub struct OrderBody<'a> {
    id: String,
    event: String,
    buyer: &'a str,
    seats: Vec<SeatPriced<'a>>,
    areas: Vec<AreaPriced<'a>>,
    total_minor: i64,
    currency: &'a str,
    /// True if nothing is left of it.
    refunded: bool,
}

/// Show an order
///
/// What is left of an order that was confirmed, after refunds.
#[utoipa::path(get, path = "/v1/events/{event}/orders/{order}", tag = "orders",
    responses((status = 200, body = OrderBody)))]
pub async fn show(State(app): State<Arc<App>>, at: EventPath) -> Result<Response, Problem> {
    let names = Names::of(&*app.engine, &at.listing)?;
    let id = OrderId(at.inside("ord", Code::OrderUnknown)?);
    let Found::Event(EventFound::Order(order)) =
        app.engine.ask(at.listing, Query::Event(EventQuery::Order(id))).await?
    else {
        return Err(Problem::code(Code::OrderUnknown));
    };
    let body = OrderBody {
        id: write_inside("ord", &at.listing, order.order.0),
        event: at.listing.to_string(),
        buyer: order.buyer.as_str(),
        seats: seats_priced(&order.seats, &names),
        areas: areas_priced(&order.areas, &names),
        total_minor: total(&order.seats, &order.areas),
        currency: names.currency(),
        refunded: order.seats.is_empty() && order.areas.is_empty(),
    };
    Ok(reply::json(StatusCode::OK, &body))
}

/// Nothing named: all that is left of the order.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Refund {
    pub order: String,
    #[serde(default)]
    pub seats: Vec<String>,
    #[serde(default)]
    pub areas: Vec<AreaAsked>,
    #[schema(example = "cannot come")]
    pub reason: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Refunded<'a> {
    order: String,
    seats: Vec<&'a str>,
    areas: Vec<AreaAsked>,
    amount_minor: i64,
    currency: &'a str,
    reason: &'a str,
    #[schema(value_type = String, example = "1-8")]
    position: At,
}

/// Refund an order, wholly or in part
///
/// Nothing named: all that is left of it. The seats are free again at once.
#[utoipa::path(post, path = "/v1/events/{event}/refunds", tag = "orders", request_body = Refund,
    responses((status = 200, body = Refunded)))]
pub async fn refund(
    State(app): State<Arc<App>>,
    at: EventPath,
    caller: Caller,
    Json(body): Json<Refund>,
) -> Result<Response, Problem> {
    let mut names = Names::of(&*app.engine, &at.listing)?;
    let order = OrderId(extract::inside(&at.listing, "ord", &body.order, Code::OrderUnknown)?);
    let (seats, areas) = (names.seats(&body.seats), names.areas(&body.areas));
    let origin = caller.origin(&at.listing, &body);
    let reason = body.reason.clone();
    let command = Command::Event(EventCommand::RefundOrder(RefundOrder { order, seats, areas, reason }));
    let answer = reply::submit(&app, at.listing, command, origin, Some(&names)).await?;
    let (_, (seats, areas, amount_minor, reason)) = own_fact(&answer, |fact| {
        if let Fact::Event(EventFact::OrderRefunded { seats, areas, amount_minor, reason, .. }) = fact {
            return Some((seats, areas, *amount_minor, reason));
        }
        None
    })?;
    let area = |line: &onsale_domain::seats::fact::AreaCount| AreaAsked {
        area: names.area_text(line.area).to_owned(),
        count: line.count,
    };
    let body = Refunded {
        order: write_inside("ord", &at.listing, order.0),
        seats: seats.iter().map(|seat| names.seat_text(*seat)).collect(),
        areas: areas.iter().map(area).collect(),
        amount_minor,
        currency: names.currency(),
        reason,
        position: At(reply::position_of(&answer)),
    };
    Ok(reply::yes(StatusCode::OK, &answer, &body))
}
