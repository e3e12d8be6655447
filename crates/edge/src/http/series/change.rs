//! `PATCH /v1/series/{series}`: what its sales are like from the next slot on, or pause, resume and end it.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use onsale_domain::series::command::ChangeSeries;
use onsale_domain::series::details::SeriesDetails;
use onsale_domain::series::{SeriesCommand, SeriesFact, SeriesStatus};
use onsale_domain::{Command, Fact};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{DetailsBody, ItemBody, find};
use crate::app::App;
use crate::http::extract::{Caller, Json, SeriesPath};
use crate::http::problem::Problem;
use crate::http::reply::{self, find_fact};
use crate::http::wire::{At, seconds};

/// What sales are like (any of it), or `status`: one kind at a time. The schedule never changes.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
#[schema(example = json!({"status": "paused"}))]
#[schema(min_properties = 1)]
pub struct SeriesChange {
    pub name: Option<String>,
    pub sale_name: Option<String>,
    pub description: Option<String>,
    pub buyer_limit: Option<u32>,
    pub checkout_seconds: Option<i64>,
    pub length_seconds: Option<i64>,
    pub items: Option<Vec<ItemBody>>,
    pub status: Option<StatusBody>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = SeriesStatus)]
pub enum StatusBody {
    Running,
    Paused,
    Ended,
}

impl From<SeriesStatus> for StatusBody {
    fn from(status: SeriesStatus) -> StatusBody {
        match status {
            SeriesStatus::Running => StatusBody::Running,
            SeriesStatus::Paused => StatusBody::Paused,
            SeriesStatus::Ended => StatusBody::Ended,
        }
    }
}

/// What one change did; only what it touched is there.
#[derive(Debug, Serialize, ToSchema)]
pub struct SeriesChanged {
    id: String,
    /// False if everything was like this before.
    changed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<DetailsBody>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<StatusBody>,
    #[schema(value_type = String, example = "1-4")]
    position: At,
}

/// Change what sales to come are like, or pause, resume or end a series
///
/// One kind of change at a time: what sales to come are like, or the status. A sale that is open stays as it is.
#[utoipa::path(patch, path = "/v1/series/{series}", tag = "series", request_body = SeriesChange,
    responses((status = 200, body = SeriesChanged)))]
pub async fn change(
    State(app): State<Arc<App>>,
    at: SeriesPath,
    caller: Caller,
    Json(body): Json<SeriesChange>,
) -> Result<Response, Problem> {
    let (_, series) = find(&app, &at.listing)?;
    let command = Command::Series(command(series.details(), &body)?);
    let origin = caller.origin(&at.listing, &body);
    let answer = reply::submit(&app, at.listing, command, origin, None).await?;
    let details = find_fact(&answer, |fact| {
        if let Fact::Series(SeriesFact::Changed(details)) = fact { Some(&**details) } else { None }
    });
    let status = find_fact(&answer, |fact| {
        let Fact::Series(fact) = fact else { return None };
        match fact {
            SeriesFact::Paused => Some(StatusBody::Paused),
            SeriesFact::Resumed => Some(StatusBody::Running),
            SeriesFact::Ended => Some(StatusBody::Ended),
            SeriesFact::Created(_)
            | SeriesFact::Changed(_)
            | SeriesFact::SlotOpened { .. }
            | SeriesFact::SlotSkipped { .. } => None,
        }
    });
    let told = SeriesChanged {
        id: at.listing.to_string(),
        changed: details.is_some() || status.is_some(),
        details: details.map(|(_, details)| DetailsBody::from(details)),
        status: status.map(|(_, status)| status),
        position: At(reply::position_of(&answer)),
    };
    Ok(reply::yes(StatusCode::OK, &answer, &told))
}

fn command(known: &SeriesDetails, body: &SeriesChange) -> Result<SeriesCommand, Problem> {
    let mut template = known.template.clone();
    template.name = body.sale_name.clone().unwrap_or(template.name);
    template.description = body.description.clone().unwrap_or(template.description);
    template.rules.buyer_limit = body.buyer_limit.unwrap_or(template.rules.buyer_limit);
    template.rules.checkout_ms = body.checkout_seconds.map_or(template.rules.checkout_ms, seconds);
    template.length_ms = body.length_seconds.map_or(template.length_ms, seconds);
    if let Some(items) = &body.items {
        template.items = items.iter().map(ItemBody::to_domain).collect();
    }
    let named = body.sale_name.is_some()
        || body.description.is_some()
        || body.buyer_limit.is_some()
        || body.checkout_seconds.is_some()
        || body.length_seconds.is_some()
        || body.items.is_some();
    let change = ChangeSeries { name: body.name.clone(), template: named.then_some(template) };
    match (change != ChangeSeries::default(), body.status) {
        (true, None) => Ok(SeriesCommand::Change(Box::new(change))),
        (false, Some(StatusBody::Running)) => Ok(SeriesCommand::Resume),
        (false, Some(StatusBody::Paused)) => Ok(SeriesCommand::Pause),
        (false, Some(StatusBody::Ended)) => Ok(SeriesCommand::End),
        (false, None) => Err(Problem::invalid("body", "names at least one thing to change")),
        (true, Some(_)) => {
            Err(Problem::invalid("status", "one kind of change at a time: its sales or its status"))
        }
    }
}
