//! `PATCH /v1/registrations/{registration}`: details, capacity, or its close or cancellation, one kind at a time.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use onsale_domain::registration::command::ChangeRegistration;
use onsale_domain::registration::{RegistrationCommand, RegistrationFact};
use onsale_domain::{Command, Fact};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{DetailsBody, find};
use crate::app::App;
use crate::http::extract::{Caller, Json, RegistrationPath};
use crate::http::problem::Problem;
use crate::http::reply::{self, find_fact};
use crate::http::time::Time;
use crate::http::wire::{At, seconds};
use crate::http::words::RegistrationStatus;

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
    /// More places promote as many from the waiting list.
    pub capacity: Option<u32>,
    /// `closed`: nobody registers any more. `cancelled`: all places are taken back and refunded.
    pub status: Option<RegistrationEnd>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RegistrationEnd {
    Closed,
    Cancelled,
}

/// What one change did; only what it touched is there.
#[derive(Debug, Serialize, ToSchema)]
pub struct RegistrationChanged {
    id: String,
    /// False if everything was like this before.
    changed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<DetailsBody>,
    #[serde(skip_serializing_if = "Option::is_none")]
    capacity: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<RegistrationStatus>,
    #[schema(value_type = String, example = "1-4")]
    position: At,
}

/// Change a registration's details or capacity, close it or cancel it
///
/// One kind of change at a time: details, capacity or status. More places promote as many from the waiting list.
#[utoipa::path(patch, path = "/v1/registrations/{registration}", tag = "registrations",
    request_body = RegistrationChange, responses((status = 200, body = RegistrationChanged)))]
pub async fn change(
    State(app): State<Arc<App>>,
    at: RegistrationPath,
    caller: Caller,
    Json(body): Json<RegistrationChange>,
) -> Result<Response, Problem> {
    find(&app, &at.listing)?;
    let command = Command::Registration(command(&body)?);
    let origin = caller.origin(&at.listing, &body);
    let answer = reply::submit(&app, at.listing, command, origin, None).await?;
    let details = find_fact(&answer, |fact| {
        if let Fact::Registration(RegistrationFact::Changed(details)) = fact {
            Some(&**details)
        } else {
            None
        }
    });
    let capacity = find_fact(&answer, |fact| {
        let Fact::Registration(RegistrationFact::CapacityChanged { capacity }) = fact else { return None };
        Some(*capacity)
    });
    let status = find_fact(&answer, |fact| {
        let Fact::Registration(fact) = fact else { return None };
        let RegistrationFact::StatusChanged { status, by_schedule: false } = fact else { return None };
        Some(RegistrationStatus::from(*status))
    });
    let told = RegistrationChanged {
        id: at.listing.to_string(),
        changed: details.is_some() || capacity.is_some() || status.is_some(),
        details: details.map(|(_, details)| DetailsBody::from(details)),
        capacity: capacity.map(|(_, capacity)| capacity),
        status: status.map(|(_, status)| status),
        position: At(reply::position_of(&answer)),
    };
    Ok(reply::yes(StatusCode::OK, &answer, &told))
}

fn command(body: &RegistrationChange) -> Result<RegistrationCommand, Problem> {
    let details = ChangeRegistration {
        name: body.name.clone(),
        description: body.description.clone(),
        opens_at: body.opens_at.map(Time::ms),
        starts_at: body.starts_at.map(Time::ms),
        cut_off_ms: body.cut_off_seconds.map(seconds),
        price_minor: body.price_minor,
        checkout_ms: body.checkout_seconds.map(seconds),
    };
    match (details != ChangeRegistration::default(), body.capacity, body.status) {
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
    }
}
