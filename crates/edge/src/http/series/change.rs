//! `PATCH /v1/series/{series}`: what its sales are like from the next slot on, or pause, resume and end it.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use onsale_domain::Command;
use onsale_domain::series::command::ChangeSeries;
use onsale_domain::series::details::SeriesDetails;
use onsale_domain::series::{SeriesCommand, SeriesStatus};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{ItemBody, SeriesBody, find, series_of, which_name};
use crate::app::App;
use crate::http::about::{self, CardBody, Metadata};
use crate::http::extract::{Caller, LargeJson, SeriesPath};
use crate::http::problem::Problem;
use crate::http::reply;
use crate::http::wire::seconds;

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

/// Change what sales to come are like, or pause, resume or end a series
///
/// One kind of change at a time: what sales to come are like, the status, or what is said of it. The answer is the series as it is
/// now. A sale that is open stays as it is.
#[utoipa::path(patch, path = "/v1/series/{series}", tag = "series", request_body = SeriesChange,
    responses((status = 200, body = SeriesBody)))]
pub async fn change(
    State(app): State<Arc<App>>,
    at: SeriesPath,
    caller: Caller,
    LargeJson(body): LargeJson<SeriesChange>,
) -> Result<Response, Problem> {
    let (_, series) = find(&app, &at.listing)?;
    let command = command(series.details(), &body)?;
    let origin = caller.origin(&at.listing, &body);
    let submitted = reply::submit(&app, at.listing, command, origin, None).await;
    let answer = submitted.map_err(|problem| which_name(problem, body.sale_name.as_deref()))?;
    let view = reply::seen(&app, &at.listing, &answer).await?;
    let series = series_of(&view).map(|series| SeriesBody::of(&view, series, app.engine.now()));
    Ok(reply::changed(&answer, &view, &series))
}

fn command(known: &SeriesDetails, body: &SeriesChange) -> Result<Command, Problem> {
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
    let changes_sales = change != ChangeSeries::default();
    let others = changes_sales || body.status.is_some();
    if let Some(describe) = about::change(&body.metadata, &body.card, others)? {
        return Ok(describe);
    }
    let own = match (changes_sales, body.status) {
        (true, None) => Ok(SeriesCommand::Change(Box::new(change))),
        (false, Some(StatusBody::Running)) => Ok(SeriesCommand::Resume),
        (false, Some(StatusBody::Paused)) => Ok(SeriesCommand::Pause),
        (false, Some(StatusBody::Ended)) => Ok(SeriesCommand::End),
        (false, None) => Err(Problem::invalid("body", "names at least one thing to change")),
        (true, Some(_)) => {
            Err(Problem::invalid("status", "one kind of change at a time: its sales or its status"))
        }
    };
    own.map(Command::Series)
}
