//! `POST /v1/orders/{order}/pay`: pins the goods and has the provider asked; or confirms at once if there is nothing to
//! pay, or if the merchant says that the money was taken elsewhere: the API key has scope `settle`.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use onsale_domain::order::command::{OrderKey, PayOrder};
use onsale_domain::order::{OrderCommand, OrderFact};
use onsale_domain::{Command, Fact, PaymentId, PaymentName};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::OrderPath;
use crate::app::App;
use crate::http::extract::{Caller, Json};
use crate::http::problem::Problem;
use crate::http::reply::{self, find_fact};
use crate::http::time::Time;
use crate::http::wire::At;
use crate::http::words::OrderStatus;

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"method": "succeed"}))]
pub struct Pay {
    /// What to take the money from, in the provider's words. The simulated provider takes `succeed`, `decline`, `action`,
    /// `delay`, `duplicate`, `reorder`, `lost`, `silent` and `down`.
    pub method: Option<String>,
    /// The money was taken elsewhere: confirmed at once.
    #[serde(default)]
    pub paid_elsewhere: bool,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Paying {
    id: String,
    /// `paying`, or `confirmed` if nothing had to be asked.
    status: OrderStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
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

/// Pay an order
///
/// The goods are kept while the provider is asked. Ask for the order to see how it ends.
#[utoipa::path(post, path = "/v1/orders/{order}/pay", tag = "orders", request_body = Pay,
    params(("Order-Key" = String, Header), ("Onsale-Buyer" = Option<String>, Header)),
    responses((status = 202, description = "The provider is asked", body = Paying), (status = 200, description = "Nothing had to be asked: confirmed", body = Paying), (status = 410), (status = 412)))]
pub async fn pay(
    State(app): State<Arc<App>>,
    path: OrderPath,
    caller: Caller,
    Json(body): Json<Pay>,
) -> Result<Response, Problem> {
    let buyer = path.buyer(&app, caller.buyer.as_ref()).await?;
    let origin = caller.origin(&path.listing, &(path.key(), &body));
    let (pay_until, settled) = (app.engine.now() + app.config.pay_ms, body.paid_elsewhere);
    let pay = |number| {
        let key = OrderKey { order: path.order, buyer: buyer.clone() };
        let (payment, method) = (PaymentId(number), body.method.clone());
        Command::Order(OrderCommand::Pay(PayOrder { key, payment, pay_until, method, settled }))
    };
    let tell = |refusal: &_| Problem::refused(refusal, None);
    let answer = reply::submit_new(&app, path.listing, origin, tell, pay).await?;
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
        status: if asked.is_some() { OrderStatus::Paying } else { OrderStatus::Confirmed },
        payment: asked.map(|(payment, ..)| PaymentName { listing: path.listing, payment }.text()),
        amount_minor: asked.map(|(_, amount_minor, _)| amount_minor),
        expires_at,
        expires_in_seconds: expires_at.map(|at| at.seconds_after(reply::time_of(&answer))),
        position: At(reply::position_of(&answer)),
    };
    app.payments.nudge();
    let status = if asked.is_some() { StatusCode::ACCEPTED } else { StatusCode::OK };
    Ok(reply::yes(status, &answer, &told))
}
