//! `PATCH /v1/sales/{sale}`: details, or its end or cancellation, one kind of change at a time.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use onsale_domain::stock::command::ChangeSale;
use onsale_domain::stock::{SaleCommand, SaleFact};
use onsale_domain::{Command, Fact};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::names::Skus;
use super::wire::DetailsBody;
use crate::app::App;
use crate::http::extract::{Caller, Json, SalePath};
use crate::http::problem::Problem;
use crate::http::reply::{self, find_fact};
use crate::http::time::Time;
use crate::http::wire::{At, seconds};
use crate::http::words::SaleStatus;

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
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SaleEnd {
    Ended,
    Cancelled,
}

/// What one change did; only what it touched is there.
#[derive(Debug, Serialize, ToSchema)]
pub struct SaleChanged {
    id: String,
    /// False if everything was like this before.
    changed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<DetailsBody>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<SaleStatus>,
    #[schema(value_type = String, example = "1-4")]
    position: At,
}

/// Change a sale's details, end it or cancel it
///
/// One kind of change at a time: details or status. `ended` sells nothing more, `cancelled` takes everything back.
#[utoipa::path(patch, path = "/v1/sales/{sale}", tag = "sales", request_body = SaleChange,
    responses((status = 200, body = SaleChanged)))]
pub async fn change(
    State(app): State<Arc<App>>,
    at: SalePath,
    caller: Caller,
    Json(body): Json<SaleChange>,
) -> Result<Response, Problem> {
    Skus::of(&*app.engine, &at.listing)?;
    let command = Command::Sale(command(&body)?);
    let origin = caller.origin(&at.listing, &body);
    let answer = reply::submit(&app, at.listing, command, origin, None).await?;
    let details = find_fact(&answer, |fact| {
        if let Fact::Sale(SaleFact::Changed(details)) = fact { Some(&**details) } else { None }
    });
    let status = find_fact(&answer, |fact| {
        let Fact::Sale(SaleFact::StatusChanged { status, by_schedule: false }) = fact else { return None };
        Some(SaleStatus::from(*status))
    });
    let told = SaleChanged {
        id: at.listing.to_string(),
        changed: details.is_some() || status.is_some(),
        details: details.map(|(_, details)| DetailsBody::from(details)),
        status: status.map(|(_, status)| status),
        position: At(reply::position_of(&answer)),
    };
    Ok(reply::yes(StatusCode::OK, &answer, &told))
}

fn command(body: &SaleChange) -> Result<SaleCommand, Problem> {
    let details = ChangeSale {
        name: body.name.clone(),
        description: body.description.clone(),
        starts_at: body.starts_at.map(Time::ms),
        ends_at: body.ends_at.map(Time::ms),
        buyer_limit: body.buyer_limit,
        checkout_ms: body.checkout_seconds.map(seconds),
    };
    match (details != ChangeSale::default(), body.status) {
        (true, None) => Ok(SaleCommand::Change(Box::new(details))),
        (false, Some(SaleEnd::Ended)) => Ok(SaleCommand::Close),
        (false, Some(SaleEnd::Cancelled)) => Ok(SaleCommand::Cancel),
        (false, None) => Err(Problem::invalid("body", "names at least one thing to change")),
        (true, Some(_)) => Err(Problem::invalid("status", "one kind of change at a time: details or status")),
    }
}
