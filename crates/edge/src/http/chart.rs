//! `GET …/chart`: where every seat is and what it costs. It changes rarely, so it is made once and kept.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use onsale_domain::ListingId;
use onsale_domain::chart::Chart;
use onsale_domain::event::EventDetails;
use onsale_domain::id::write_base32;
use onsale_domain::seats::SeatsView;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use utoipa::ToSchema;

use super::events::TierBody;
use super::extract::EventPath;
use super::names::Names;
use super::problem::Problem;
use super::query::Query;
use super::seats::matches;
use crate::app::App;

/// Charts kept ready; the largest takes about 10 MB.
const KEPT: usize = 16;

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Chart)]
pub struct ChartBody<'a> {
    event: String,
    currency: &'a str,
    /// A seat's `tier` is a place in this list.
    tiers: Vec<TierBody>,
    sections: Vec<SectionBody<'a>>,
    areas: Vec<AreaBody<'a>>,
    /// How many seats the binary form of `…/seats` has bits for.
    indexes: usize,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ChartSection)]
pub struct SectionBody<'a> {
    name: &'a str,
    rows: Vec<RowBody<'a>>,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ChartRow)]
pub struct RowBody<'a> {
    label: &'a str,
    seats: Vec<SeatBody<'a>>,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ChartSeat)]
pub struct SeatBody<'a> {
    /// The seat's place in the binary form; never given to another seat.
    index: u32,
    id: &'a str,
    label: &'a str,
    tier: u16,
    price_minor: i64,
    x: i32,
    y: i32,
    #[serde(skip_serializing_if = "is_false")]
    accessible: bool,
    #[serde(skip_serializing_if = "is_false")]
    companion: bool,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ChartArea)]
pub struct AreaBody<'a> {
    id: &'a str,
    label: &'a str,
    section: &'a str,
    tier: u16,
    price_minor: i64,
    capacity: u32,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// The written charts, newest last. A chart is known by the very objects it was made from.
#[derive(Debug, Default)]
pub struct Charts {
    kept: Mutex<VecDeque<Arc<RenderedChart>>>,
}

#[derive(Debug)]
pub struct RenderedChart {
    event: ListingId,
    chart: Arc<Chart>,
    details: Arc<EventDetails>,
    json: Bytes,
    version: String,
}

impl Charts {
    fn get(&self, names: &Names) -> Arc<RenderedChart> {
        let (event, view) = (names.view.listing, names.event());
        let is_it = |written: &Arc<RenderedChart>| {
            written.event == event
                && Arc::ptr_eq(&written.chart, &view.chart)
                && Arc::ptr_eq(&written.details, &view.details)
        };
        // Nobody holds the lock while writing a chart: two readers may write the same one, once.
        let lock = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = lock().iter().find(|written| is_it(written)) {
            return found.clone();
        }
        let written = Arc::new(write(event, view));
        let mut kept = lock();
        kept.retain(|old| old.event != event);
        if kept.len() == KEPT {
            kept.pop_front();
        }
        kept.push_back(written.clone());
        written
    }
}

fn write(event: ListingId, view: &SeatsView) -> RenderedChart {
    let json = Bytes::from(serde_json::to_vec(&body(event, view)).unwrap_or_default());
    let mut first = [0; 16];
    first.copy_from_slice(&Sha256::digest(&json)[..16]);
    let version = write_base32(u128::from_be_bytes(first));
    let version = std::str::from_utf8(&version).unwrap_or_default().to_owned();
    RenderedChart { event, chart: view.chart.clone(), details: view.details.clone(), json, version }
}

fn body(event: ListingId, view: &SeatsView) -> ChartBody<'_> {
    let (chart, tiers) = (&*view.chart, &view.details.tiers);
    let price = |tier: u16| tiers.get(usize::from(tier)).map_or(0, |tier| tier.price_minor);
    let name = |section: u16| chart.sections.get(usize::from(section)).map_or("", String::as_str);
    let seat = |index: &u32| {
        let seat = chart.seat(*index)?;
        Some(SeatBody {
            index: *index,
            id: chart.seat_id(*index),
            label: chart.label(*index),
            tier: seat.tier.into(),
            price_minor: price(seat.tier.into()),
            x: seat.x,
            y: seat.y,
            accessible: seat.accessible,
            companion: seat.companion,
        })
    };
    let mut sections: Vec<_> =
        chart.sections.iter().map(|name| SectionBody { name, rows: Vec::new() }).collect();
    for row in &chart.rows {
        let seats = row.seats.iter().filter_map(seat).collect();
        sections[usize::from(row.section)].rows.push(RowBody { label: &row.label, seats });
    }
    let areas = chart.areas.iter().filter(|area| !area.retired).map(|area| AreaBody {
        id: &area.id,
        label: &area.label,
        section: name(area.section),
        tier: area.tier,
        price_minor: price(area.tier),
        capacity: area.capacity,
    });
    ChartBody {
        event: event.to_string(),
        currency: view.details.currency.as_str(),
        tiers: tiers.iter().map(|t| TierBody { name: t.name.clone(), price_minor: t.price_minor }).collect(),
        areas: areas.collect(),
        sections,
        indexes: chart.seats_len(),
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wish {
    version: Option<String>,
}

/// Sections, rows, seats and areas with places and prices
///
/// With `?version=` equal to the ETag's text the answer may be kept for ever; without it, it is checked each time.
#[utoipa::path(get, path = "/v1/events/{event}/chart", tag = "seats",
    params(("version" = Option<String>, Query), ("If-None-Match" = Option<String>, Header)),
    responses((status = 200, body = ChartBody), (status = 304, description = "Nothing has changed")))]
pub async fn show(
    State(app): State<Arc<App>>,
    at: EventPath,
    Query(wish): Query<Wish>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let names = Names::of(&*app.engine, &at.listing)?;
    let written = app.charts.get(&names);
    let etag = format!("W/\"{}\"", written.version);
    let mut response = if matches(&headers, &etag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        let mut response = Response::new(Body::from(written.json.clone()));
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        response
    };
    let keep = if wish.version.as_deref() == Some(&written.version) {
        "private, max-age=31536000, immutable"
    } else {
        "no-cache"
    };
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static(keep));
    if let Ok(etag) = HeaderValue::from_str(&etag) {
        response.headers_mut().insert(header::ETAG, etag);
    }
    Ok(response)
}
