//! `POST /v1/orders/{order}/pay`: pins the goods and has the provider asked; or confirms at once if there is nothing to
//! pay, or if the merchant says that the money was taken elsewhere: the API key has scope `settle`.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use onsale_domain::order::command::{OrderKey, PayOrder};
use onsale_domain::order::{OrderCommand, OrderFact};
use onsale_domain::{Command, Fact, PaymentId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::OrderPath;
use crate::app::App;
use crate::http::extract::{Caller, Json};
use crate::http::problem::{Problem, ProblemBody};
use crate::http::reply::{self, find_fact};
use crate::http::time::Time;
use crate::http::wire::At;
use onsale_payments::payment_text;

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"method": "succeed"}))]
pub struct Pay {
    /// What to take the money from, in the provider's words. The simulated provider takes `succeed`, `decline`, `action`,
    /// `delay`, `duplicate`, `reorder`, `lost`, `silent` and `down`.
    pub method: Option<String>,
    /// The money was taken elsewhere: confirmed at once.
    #[serde(default)]
    pub settled: bool,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Paying {
    #[schema(example = "ord_default_01kz0000000000000000000000_01kz0000000000000000000002")]
    id: String,
    /// `paying`, or `confirmed`.
    #[schema(example = "paying")]
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "pay_default_01kz0000000000000000000003")]
    payment: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    amount_minor: Option<i64>,
    /// Until when the goods are pinned.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<Time>,
    /// How long that is after the answer was first given.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_in_seconds: Option<u64>,
    #[schema(value_type = String, example = "1-9")]
    position: At,
}

/// Pay an order, by its key
#[utoipa::path(post, path = "/v1/orders/{order}/pay", tag = "orders", request_body = Pay,
    params(("order" = String, Path, description = "The order's key"), ("Onsale-Buyer" = Option<String>, Header),
           ("Idempotency-Key" = Option<String>, Header)),
    responses((status = 202, description = "The provider is asked", body = Paying),
              (status = 200, description = "Nothing had to be asked: confirmed", body = Paying),
              (status = "4XX", body = ProblemBody)))]
pub async fn pay(
    State(app): State<Arc<App>>,
    path: OrderPath,
    caller: Caller,
    Json(body): Json<Pay>,
) -> Result<Response, Problem> {
    let buyer = path.buyer(&app, caller.buyer.as_ref()).await?;
    let origin = caller.origin(&path.listing, &body);
    let command = Command::Order(OrderCommand::Pay(PayOrder {
        key: OrderKey { order: path.order, buyer },
        payment: PaymentId(app.new_number()),
        pay_until: app.engine.now() + app.config.pay_ms,
        method: body.method.clone(),
        settled: body.settled,
    }));
    let answer = reply::submit(&app, path.listing, command, origin, None).await?;
    let asked = find_fact(&answer, |fact| {
        if let Fact::Order(OrderFact::PaymentAsked { payment, amount_minor, until, .. }) = fact {
            return Some((*payment, *amount_minor, *until));
        }
        None
    });
    let asked = asked.map(|(_, asked)| asked);
    let expires_at = asked.map(|(.., until)| Time(until));
    let told = Paying {
        id: path.id(),
        status: if asked.is_some() { "paying" } else { "confirmed" },
        payment: asked.map(|(payment, ..)| payment_text(path.listing.tenant, payment)),
        amount_minor: asked.map(|(_, amount_minor, _)| amount_minor),
        expires_at,
        expires_in_seconds: expires_at.map(|at| at.seconds_after(reply::time_of(&answer))),
        position: At(reply::position_of(&answer)),
    };
    app.payments.nudge();
    let status = if asked.is_some() { StatusCode::ACCEPTED } else { StatusCode::OK };
    Ok(reply::yes(status, &answer, &told))
}
