//! `GET …/seats`: the status of every seat at one position, as JSON or as two bits a seat; `…/seats/{seat}`: one of them.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use onsale_domain::Code;
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
use super::words::SeatStatus;
use crate::app::App;

/// How many seats the binary form has bits for.
const SEATS: HeaderName = HeaderName::from_static("onsale-seats");

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Form {
    format: Option<FormName>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
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
    #[schema(value_type = std::collections::HashMap<String, SeatStatus>, example = json!({"A-1-1": "held", "A-1-2": "available"}))]
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
    params(("format" = inline(Option<FormName>), Query), ("If-None-Match" = Option<String>, Header)),
    responses((status = 200, content((SeatStatuses = "application/json"), (Vec<u8> = "application/octet-stream")),
               headers(("Onsale-Seats" = u32, description = "How many seats the binary form has bits for"))), (status = 304, description = "Nothing has changed")))]
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

/// One seat: where it is, what it costs, whether it is free.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Seat)]
pub struct OneSeat<'a> {
    id: &'a str,
    event: String,
    status: SeatStatus,
    /// The name of its tier.
    tier: &'a str,
    /// What a hold placed now would cost.
    price_minor: i64,
    currency: &'a str,
    section: &'a str,
    row: &'a str,
    label: &'a str,
    x: i32,
    y: i32,
    accessible: bool,
    companion: bool,
    #[schema(value_type = String, example = "1-57")]
    position: At,
}

/// One seat: where it is, what it costs, whether it is free
///
/// What a hold placed now would cost, and where the seat stands in the chart.
#[utoipa::path(get, path = "/v1/events/{event}/seats/{seat}", tag = "seats",
    params(("If-None-Match" = Option<String>, Header)),
    responses((status = 200, body = OneSeat), (status = 304, description = "Nothing has changed")))]
pub async fn show_one(
    State(app): State<Arc<App>>,
    at: EventPath,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let names = Names::of(&*app.engine, &at.listing)?;
    let (event, position) = (names.event(), At(names.view.position));
    let chart = &*event.chart;
    let known = chart.seat_named(at.inner()).and_then(|index| Some((index, chart.seat(index)?)));
    let (index, seat) = known.ok_or_else(|| Problem::code(Code::SeatUnknown).of_seat_in_path())?;
    let tier = event.details.tiers.get(usize::from(seat.tier));
    let body = OneSeat {
        id: chart.seat_id(index),
        event: at.listing.to_string(),
        status: event.seat_status(index).into(),
        tier: tier.map_or("", |tier| &tier.name),
        price_minor: tier.map_or(0, |tier| tier.price_minor),
        currency: names.currency(),
        section: chart.sections.get(usize::from(seat.section)).map_or("", String::as_str),
        row: chart.rows.get(seat.row as usize).map_or("", |row| &row.label),
        label: chart.label(index),
        x: seat.x,
        y: seat.y,
        accessible: seat.accessible,
        companion: seat.companion,
        position,
    };
    let etag = format!("W/\"{position}\"");
    let mut response = match matches(&headers, &etag) {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => reply::json(StatusCode::OK, &body),
    };
    let headers = response.headers_mut();
    headers.insert(reply::POSITION, reply::position_value(names.view.position));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
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
