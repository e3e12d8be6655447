//! `GET …/seats`: the status of every seat at one position, as JSON or as two bits a seat.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use onsale_domain::seats::SeatsView;
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use utoipa::ToSchema;

use super::extract::EventPath;
use super::names::Names;
use super::problem::Problem;
use super::query::Query;
use super::reply;
use super::wire::At;
use crate::app::App;

/// How many seats the binary form has bits for.
const SEATS: HeaderName = HeaderName::from_static("onsale-seats");

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Form {
    format: Option<FormName>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum FormName {
    Json,
    Binary,
}

/// Every seat by its id. Areas are in `…/availability`.
#[derive(Debug, Serialize, ToSchema)]
pub struct SeatStatuses<'a> {
    event: String,
    #[schema(value_type = String, example = "1-57")]
    position: At,
    #[schema(value_type = std::collections::HashMap<String, String>, example = json!({"A-1-1": "held", "A-1-2": "available"}))]
    seats: Statuses<'a>,
}

#[derive(Debug)]
struct Statuses<'a>(&'a SeatsView);

impl Serialize for Statuses<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let chart = &self.0.chart;
        let mut map = serializer.serialize_map(None)?;
        for (index, _) in chart.all_seats().filter(|(_, seat)| !seat.retired) {
            map.serialize_entry(chart.seat_id(index), self.0.seat_status(index).as_str())?;
        }
        map.end()
    }
}

/// The status of all seats
///
/// `Accept: application/octet-stream` or `?format=binary`: two bits a seat, four seats a byte, the first in the
/// lowest bits, by the chart's `index`: 0 available, 1 held, 2 sold, 3 blocked.
#[utoipa::path(get, path = "/v1/events/{event}/seats", tag = "seats",
    params(("event" = String, Path), ("format" = Option<String>, Query, description = "`json` or `binary`"),
           ("If-None-Match" = Option<String>, Header)),
    responses((status = 200, body = SeatStatuses), (status = 304, description = "Nothing has changed"),
              (status = 404, body = super::problem::ProblemBody)))]
pub async fn show(
    State(app): State<Arc<App>>,
    at: EventPath,
    Query(form): Query<Form>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let names = Names::of(&*app.engine, &at.listing)?;
    let position = At(names.view.position);
    let etag = format!("W/\"{position}\"");
    let binary = match form.format {
        Some(name) => name == FormName::Binary,
        None => accepts_binary(&headers),
    };
    let mut response = if matches(&headers, &etag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else if binary {
        let event = names.event();
        let mut response = Response::new(Body::from(event.bits.to_vec()));
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
        headers.insert(SEATS, HeaderValue::from(event.chart.seats_len()));
        response
    } else {
        let event = at.listing.to_string();
        reply::json(StatusCode::OK, &SeatStatuses { event, position, seats: Statuses(names.event()) })
    };
    let headers = response.headers_mut();
    headers.insert(reply::POSITION, reply::position_value(names.view.position));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(header::VARY, HeaderValue::from_static("accept"));
    if let Ok(etag) = HeaderValue::from_str(&etag) {
        headers.insert(header::ETAG, etag);
    }
    Ok(response)
}

fn accepts_binary(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    accept
        .is_some_and(|accept| accept.split(',').any(|one| one.trim().starts_with("application/octet-stream")))
}

/// Whether the caller has this very version, compared weakly.
pub fn matches(headers: &HeaderMap, etag: &str) -> bool {
    let bare = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    let known = headers.get(header::IF_NONE_MATCH).and_then(|known| known.to_str().ok());
    known.is_some_and(|known| known.split(',').any(|tag| tag.trim() == "*" || bare(tag) == bare(etag)))
}
