//! `PATCH /v1/registrations/{registration}`: details, capacity, or its close or cancellation, one kind at a time.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use onsale_domain::Command;
use onsale_domain::ListingKind;
use onsale_domain::registration::RegistrationCommand;
use onsale_domain::registration::command::ChangeRegistration;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{RegistrationBody, described, existing, find};
use crate::app::App;
use crate::http::about::{self, CardBody, Metadata, given};
use crate::http::extract::{Caller, Json, RegistrationPath};
use crate::http::problem::Problem;
use crate::http::reply;
use crate::http::time::Time;
use crate::http::wire::seconds;

/// Details (any of them), or `capacity`, or `status`: one kind at a time.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
#[schema(example = json!({"capacity": 60}))]
#[schema(min_properties = 1)]
pub struct RegistrationChange {
    pub name: Option<String>,
    pub description: Option<String>,
    pub opens_at: Option<Time>,
    pub starts_at: Option<Time>,
    pub cut_off_seconds: Option<i64>,
    pub price_minor: Option<i64>,
    pub checkout_seconds: Option<i64>,
    /// `null` takes it away.
    #[serde(deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Time>)]
    pub ends_at: Option<Option<Time>>,
    /// The event it belongs to; `null` takes it away.
    #[serde(deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub event: Option<Option<String>>,
    /// Where it takes place; `null` takes it away.
    #[serde(deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub venue: Option<Option<String>>,
    /// More places promote as many from the waiting list.
    pub capacity: Option<u32>,
    /// `closed`: nobody registers any more. `cancelled`: all places are taken back and refunded.
    pub status: Option<RegistrationEnd>,
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
pub enum RegistrationEnd {
    Closed,
    Cancelled,
}

/// Change a registration's details or capacity, close it or cancel it
///
/// One kind of change at a time: details, capacity, status, or what is said of it. The answer is the registration as it is now. More places promote as many from the waiting list.
#[utoipa::path(patch, path = "/v1/registrations/{registration}", tag = "registrations",
    request_body = RegistrationChange, responses((status = 200, body = RegistrationBody)))]
pub async fn change(
    State(app): State<Arc<App>>,
    at: RegistrationPath,
    caller: Caller,
    Json(body): Json<RegistrationChange>,
) -> Result<Response, Problem> {
    find(&app, &at.listing)?;
    let command = command(&app, &caller, &body).await?;
    let origin = caller.origin(&at.listing, &body);
    let answer = reply::submit(&app, at.listing, command, origin, None).await?;
    let view = reply::seen(&app, &at.listing, &answer).await?;
    Ok(reply::changed(&answer, &view, &described(&app, &view)))
}

async fn command(app: &App, caller: &Caller, body: &RegistrationChange) -> Result<Command, Problem> {
    let event = match &body.event {
        None => None,
        Some(id) => Some(existing(app, caller, ("event", ListingKind::Event), id.as_deref()).await?),
    };
    let venue = match &body.venue {
        None => None,
        Some(id) => Some(existing(app, caller, ("venue", ListingKind::Venue), id.as_deref()).await?),
    };
    let details = ChangeRegistration {
        name: body.name.clone(),
        description: body.description.clone(),
        opens_at: body.opens_at.map(Time::ms),
        starts_at: body.starts_at.map(Time::ms),
        cut_off_ms: body.cut_off_seconds.map(seconds),
        price_minor: body.price_minor,
        checkout_ms: body.checkout_seconds.map(seconds),
        ends_at: body.ends_at.map(|at| at.map(Time::ms)),
        event,
        venue,
    };
    let changes_details = details != ChangeRegistration::default();
    let others = changes_details || body.capacity.is_some() || body.status.is_some();
    if let Some(describe) = about::change(&body.metadata, &body.card, others)? {
        return Ok(describe);
    }
    let own = match (changes_details, body.capacity, body.status) {
        (true, None, None) => Ok(RegistrationCommand::Change(Box::new(details))),
        (false, Some(capacity), None) => Ok(RegistrationCommand::ChangeCapacity { capacity }),
        (false, None, Some(RegistrationEnd::Closed)) => Ok(RegistrationCommand::Close),
        (false, None, Some(RegistrationEnd::Cancelled)) => Ok(RegistrationCommand::Cancel),
        (false, None, None) => Err(Problem::invalid("body", "names at least one thing to change")),
        (true, Some(_), None) => {
            Err(Problem::invalid("capacity", "one kind of change at a time: details, capacity or status"))
        }
        (true, _, Some(_)) | (false, Some(_), Some(_)) => {
            Err(Problem::invalid("status", "one kind of change at a time: details, capacity or status"))
        }
    };
    own.map(Command::Registration)
}
