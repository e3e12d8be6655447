//! `PATCH /v1/sales/{sale}`: details, or its end or cancellation, one kind of change at a time.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use onsale_domain::Command;
use onsale_domain::stock::SaleCommand;
use onsale_domain::stock::command::ChangeSale;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::names::Skus;
use super::sale_of;
use super::wire::SaleBody;
use crate::app::App;
use crate::http::about::{self, CardBody, Metadata};
use crate::http::extract::{Caller, Json, SalePath};
use crate::http::problem::Problem;
use crate::http::reply;
use crate::http::time::Time;
use crate::http::wire::seconds;

/// Details (any of them), or `status`: one kind at a time.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
#[schema(example = json!({"status": "ended"}))]
#[schema(min_properties = 1)]
pub struct SaleChange {
    pub name: Option<String>,
    pub description: Option<String>,
    pub starts_at: Option<Time>,
    pub ends_at: Option<Time>,
    pub buyer_limit: Option<u32>,
    pub checkout_seconds: Option<i64>,
    /// `ended`: nothing more is sold. `cancelled`: all is taken back and refunded. The clock opens a sale.
    pub status: Option<SaleEnd>,
    /// Replaces all of it; `null` takes it away.
    #[serde(deserialize_with = "about::given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub metadata: Option<Option<Metadata>>,
    /// Replaces all of it; `null` takes it away.
    #[serde(deserialize_with = "about::given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<CardBody>)]
    pub card: Option<Option<CardBody>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SaleEnd {
    Ended,
    Cancelled,
}

/// Change a sale's details, end it or cancel it
///
/// One kind of change at a time: details, status, or what is said of it. The answer is the sale as it is now. `ended` sells nothing more, `cancelled` takes everything back.
#[utoipa::path(patch, path = "/v1/sales/{sale}", tag = "sales", request_body = SaleChange,
    responses((status = 200, body = SaleBody)))]
pub async fn change(
    State(app): State<Arc<App>>,
    at: SalePath,
    caller: Caller,
    Json(body): Json<SaleChange>,
) -> Result<Response, Problem> {
    Skus::of(&*app.engine, &at.listing)?;
    let command = command(&body)?;
    let origin = caller.origin(&at.listing, &body);
    let answer = reply::submit(&app, at.listing, command, origin, None).await?;
    let view = reply::seen(&app, &at.listing, &answer).await?;
    let sale = sale_of(&view).map(|sale| SaleBody::of(&view, sale, app.engine.now()));
    Ok(reply::changed(&answer, &view, &sale))
}

fn command(body: &SaleChange) -> Result<Command, Problem> {
    let details = ChangeSale {
        name: body.name.clone(),
        description: body.description.clone(),
        starts_at: body.starts_at.map(Time::ms),
        ends_at: body.ends_at.map(Time::ms),
        buyer_limit: body.buyer_limit,
        checkout_ms: body.checkout_seconds.map(seconds),
    };
    let changes_details = details != ChangeSale::default();
    let others = changes_details || body.status.is_some();
    if let Some(describe) = about::change(&body.metadata, &body.card, others)? {
        return Ok(describe);
    }
    let own = match (changes_details, body.status) {
        (true, None) => Ok(SaleCommand::Change(Box::new(details))),
        (false, Some(SaleEnd::Ended)) => Ok(SaleCommand::Close),
        (false, Some(SaleEnd::Cancelled)) => Ok(SaleCommand::Cancel),
        (false, None) => Err(Problem::invalid("body", "names at least one thing to change")),
        (true, Some(_)) => Err(Problem::invalid("status", "one kind of change at a time: details or status")),
    };
    own.map(Command::Sale)
}
