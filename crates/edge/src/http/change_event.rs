//! `PATCH /v1/events/{event}`: details, status or layout, one kind of change at a time, because each is its own
//! command with its own place in the log.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use onsale_domain::seats::command::ChangeEvent;
use onsale_domain::seats::{EventCommand, EventFact};
use onsale_domain::{Command, Fact};
use onsale_engine::Answer;
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use super::events::{DetailsBody, StatusBody, TierBody, chart_of};
use super::extract::{Caller, EventPath, LargeJson};
use super::layout::LayoutBody;
use super::names::Names;
use super::problem::Problem;
use super::reply::{self, find_fact};
use super::time::Time;
use super::wire::{At, seconds};
use crate::app::App;

/// Details (any of them), or `status`, or `layout_version`/`venue`/`layout`: one kind at a time.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
#[schema(min_properties = 1)]
pub struct EventChange {
    pub name: Option<String>,
    pub description: Option<String>,
    pub starts_at: Option<Time>,
    pub ends_at: Option<Time>,
    /// `null` takes it away.
    #[serde(deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Time>)]
    pub sale_opens_at: Option<Option<Time>>,
    /// `null` takes it away.
    #[serde(deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Time>)]
    pub sale_closes_at: Option<Option<Time>>,
    pub tiers: Option<Vec<TierBody>>,
    pub hold_seconds: Option<i64>,
    /// `null` takes it away: an extension then adds the hold's own length.
    #[serde(deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<i64>)]
    pub extension_seconds: Option<Option<i64>>,
    pub extensions_max: Option<u8>,
    pub buyer_limit: Option<u32>,
    pub refuse_single_seats: Option<bool>,
    pub status: Option<StatusBody>,
    /// Adopts this version of the venue's layout; with `venue`, of another venue's.
    pub layout_version: Option<u32>,
    pub venue: Option<String>,
    pub layout: Option<LayoutBody>,
}

/// What one change did; only what it touched is there.
#[derive(Debug, Serialize, ToSchema)]
pub struct EventChanged {
    id: String,
    /// False if everything was like this before.
    changed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<DetailsBody>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<StatusBody>,
    #[serde(skip_serializing_if = "Option::is_none")]
    layout_version: Option<u32>,
    #[schema(value_type = String, example = "1-4")]
    position: At,
}

/// Present and `null` is not the same as absent.
fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(from).map(Some)
}

/// Change an event's details, status or layout
///
/// One kind of change at a time: details, status or layout. What holds and orders have keeps its price.
#[utoipa::path(patch, path = "/v1/events/{event}", tag = "events", request_body = EventChange,
    responses((status = 200, body = EventChanged)))]
pub async fn change(
    State(app): State<Arc<App>>,
    at: EventPath,
    caller: Caller,
    LargeJson(body): LargeJson<EventChange>,
) -> Result<Response, Problem> {
    let names = Names::of(&*app.engine, &at.listing)?;
    let command = command(&app, &names, &body)?;
    let origin = caller.origin(&at.listing, &body);
    let answer = reply::submit(&app, at.listing, command, origin, Some(&names)).await?;
    Ok(reply::yes(StatusCode::OK, &answer, &told(&at, &answer)))
}

fn command(app: &App, names: &Names, body: &EventChange) -> Result<Command, Problem> {
    let adopts = body.layout_version.is_some() || body.venue.is_some() || body.layout.is_some();
    let details = ChangeEvent {
        name: body.name.clone(),
        description: body.description.clone(),
        starts_at: body.starts_at.map(Time::ms),
        ends_at: body.ends_at.map(Time::ms),
        sale_opens_at: body.sale_opens_at.map(|at| at.map(Time::ms)),
        sale_closes_at: body.sale_closes_at.map(|at| at.map(Time::ms)),
        tiers: body.tiers.as_ref().map(|tiers| tiers.iter().map(TierBody::to_domain).collect()),
        hold_ms: body.hold_seconds.map(seconds),
        extension_ms: body.extension_seconds.map(|extension| extension.map(seconds)),
        extensions_max: body.extensions_max,
        buyer_limit: body.buyer_limit,
        refuse_single_seats: body.refuse_single_seats,
    };
    let changes_details = details != ChangeEvent::default();
    match (changes_details, body.status, adopts) {
        (true, None, false) => Ok(Command::Event(EventCommand::ChangeEvent(Box::new(details)))),
        (false, Some(status), false) => Ok(Command::Event(EventCommand::ChangeStatus(status.into_domain()))),
        (false, None, true) => {
            let own = names.event().details.venue.map(|venue| venue.to_string());
            let venue = if body.layout.is_some() { None } else { body.venue.clone().or(own) };
            let chart = chart_of(app, venue.as_deref(), body.layout_version, body.layout.clone())?;
            Ok(Command::Event(EventCommand::AdoptChart(Box::new(chart))))
        }
        (false, None, false) => Err(Problem::invalid("body", "names at least one thing to change")),
        (true, Some(_), _) | (_, Some(_), true) => {
            Err(Problem::invalid("status", "one kind of change at a time: details, status or layout"))
        }
        (true, None, true) => {
            Err(Problem::invalid("layout_version", "one kind of change at a time: details, status or layout"))
        }
    }
}

/// Staff's own change comes after what the calendar brought, so the last fact of each kind is the one meant.
fn told(at: &EventPath, answer: &Answer) -> EventChanged {
    let last = answer.step().and_then(|step| step.facts.last());
    let status = match last {
        Some(Fact::Event(EventFact::StatusChanged { status, by_schedule: false })) => Some((*status).into()),
        Some(_) | None => None,
    };
    let details = find_fact(answer, |fact| {
        if let Fact::Event(EventFact::EventChanged(details)) = fact {
            Some(DetailsBody::from(&**details))
        } else {
            None
        }
    });
    let version = find_fact(answer, |fact| {
        if let Fact::Event(EventFact::ChartAdopted(adopted)) = fact { Some(adopted.version) } else { None }
    });
    EventChanged {
        id: at.listing.to_string(),
        changed: details.is_some() || version.is_some() || status.is_some(),
        details: details.map(|(_, details)| details),
        status,
        layout_version: version.map(|(_, version)| version),
        position: At(reply::position_of(answer)),
    }
}
