//! `PATCH /v1/events/{event}`: details, status or layout, one kind of change at a time, because each is its own
//! command with its own place in the log.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use onsale_access::principal::Principal;
use onsale_domain::Command;
use onsale_domain::seats::EventCommand;
use onsale_domain::seats::command::ChangeEvent;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::about::{self, CardBody, Metadata};
use super::events::{EventBody, StatusBody, TierBody, chart_of, described, zone};
use super::extract::{Caller, EventPath, LargeJson};
use super::layout::LayoutBody;
use super::names::Names;
use super::problem::Problem;
use super::reply;
use super::time::Time;
use super::wire::seconds;
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
    #[serde(deserialize_with = "about::given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Time>)]
    pub sale_opens_at: Option<Option<Time>>,
    /// `null` takes it away.
    #[serde(deserialize_with = "about::given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Time>)]
    pub sale_closes_at: Option<Option<Time>>,
    pub tiers: Option<Vec<TierBody>>,
    pub hold_seconds: Option<i64>,
    /// `null` takes it away: an extension then adds the hold's own length.
    #[serde(deserialize_with = "about::given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<i64>)]
    pub extension_seconds: Option<Option<i64>>,
    pub extensions_max: Option<u8>,
    pub buyer_limit: Option<u32>,
    pub refuse_single_seats: Option<bool>,
    #[schema(example = "Europe/Lisbon")]
    pub time_zone: Option<String>,
    pub status: Option<StatusBody>,
    /// Adopts this version of the venue's layout; with `venue`, of another venue's.
    pub layout_version: Option<u32>,
    pub venue: Option<String>,
    pub layout: Option<LayoutBody>,
    /// Replaces all of it; `null` takes it away.
    #[serde(deserialize_with = "about::given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub metadata: Option<Option<Metadata>>,
    /// Replaces all of it; `null` takes it away.
    #[serde(deserialize_with = "about::given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<CardBody>)]
    pub card: Option<Option<CardBody>>,
}

/// Change an event's details, status or layout
///
/// One kind of change at a time: details, status, layout, or what is said of it. The answer is the event as it is now. What holds and orders have keeps its price.
#[utoipa::path(patch, path = "/v1/events/{event}", tag = "events", request_body = EventChange,
    responses((status = 200, body = EventBody)))]
pub async fn change(
    State(app): State<Arc<App>>,
    at: EventPath,
    caller: Caller,
    LargeJson(body): LargeJson<EventChange>,
) -> Result<Response, Problem> {
    let names = Names::of(&*app.engine, &at.listing)?;
    let command = command(&app, &at.principal, &names, &body)?;
    let origin = caller.origin(&at.listing, &body);
    let answer = reply::submit(&app, at.listing, command, origin, Some(&names)).await?;
    let view = reply::seen(&app, &at.listing, &answer).await?;
    Ok(reply::changed(&answer, &view, &described(&app, &view)))
}

fn command(app: &App, principal: &Principal, names: &Names, body: &EventChange) -> Result<Command, Problem> {
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
        time_zone: body.time_zone.as_deref().map(zone).transpose()?,
    };
    let changes_details = details != ChangeEvent::default();
    let others = changes_details || body.status.is_some() || adopts;
    if let Some(describe) = about::change(&body.metadata, &body.card, others)? {
        return Ok(describe);
    }
    match (changes_details, body.status, adopts) {
        (true, None, false) => Ok(Command::Event(EventCommand::ChangeEvent(Box::new(details)))),
        (false, Some(status), false) => Ok(Command::Event(EventCommand::ChangeStatus(status.into_domain()))),
        (false, None, true) => {
            let own = names.event().details.venue.map(|venue| venue.to_string());
            let venue = if body.layout.is_some() { None } else { body.venue.clone().or(own) };
            let chart = chart_of(app, principal, venue.as_deref(), body.layout_version, body.layout.clone())?;
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
