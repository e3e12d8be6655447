//! `GET …/availability`: how much is left, by section and tier, and of every general-admission area.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use onsale_domain::event::{EventDetails, EventStatus};
use onsale_domain::seats::SeatsView;
use serde::Serialize;
use utoipa::ToSchema;

use super::events::StatusBody;
use super::extract::EventPath;
use super::names::Names;
use super::problem::Problem;
use super::reply;
use super::wire::At;
use crate::app::App;

#[derive(Clone, Copy, Debug, Default, Serialize, ToSchema)]
pub struct Counts {
    available: u32,
    held: u32,
    sold: u32,
    blocked: u32,
    total: u32,
}

impl Counts {
    fn of(counts: [u32; 4]) -> Counts {
        let [available, held, sold, blocked] = counts;
        Counts { available, held, sold, blocked, total: available + held + sold + blocked }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Availability<'a> {
    event: String,
    status: StatusBody,
    #[schema(value_type = String, example = "1-57")]
    position: At,
    /// Seats and general-admission places together.
    totals: Counts,
    /// Seats by section and, inside it, by tier.
    sections: Vec<SectionCounts<'a>>,
    /// Seats by tier over all sections.
    tiers: Vec<TierCounts<'a>>,
    areas: Vec<AreaCounts<'a>>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct SectionCounts<'a> {
    section: &'a str,
    #[serde(flatten)]
    counts: Counts,
    tiers: Vec<TierCounts<'a>>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct TierCounts<'a> {
    tier: &'a str,
    price_minor: i64,
    #[serde(flatten)]
    counts: Counts,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct AreaCounts<'a> {
    area: &'a str,
    section: &'a str,
    tier: &'a str,
    price_minor: i64,
    #[serde(flatten)]
    counts: Counts,
}

/// What is left
///
/// Counts of seats and places by section, tier and area, all at one position.
#[utoipa::path(get, path = "/v1/events/{event}/availability", tag = "seats",
    responses((status = 200, body = Availability)))]
pub async fn show(State(app): State<Arc<App>>, at: EventPath) -> Result<Response, Problem> {
    let names = Names::of(&*app.engine, &at.listing)?;
    let mut response = reply::json(StatusCode::OK, &count(&names));
    response.headers_mut().insert(reply::POSITION, reply::position_value(names.view.position));
    Ok(response)
}

/// The least price of the seats and places that are available, as long as the event sells or will.
pub fn price_from(event: &SeatsView) -> Option<i64> {
    match event.status {
        EventStatus::Draft | EventStatus::Scheduled | EventStatus::OnSale | EventStatus::Postponed => {}
        EventStatus::Closed | EventStatus::Completed | EventStatus::Cancelled => return None,
    }
    let chart = &event.chart;
    let sections = 0..chart.sections.len() as u16;
    let cells = sections.flat_map(|section| (0..chart.tiers).map(move |tier| (section, tier)));
    let seats = cells.filter(|(section, tier)| {
        let cell = event.cells.get(chart.cell(*section, *tier));
        cell.is_some_and(|[available, ..]| *available > 0)
    });
    let areas = chart.areas.iter().zip(&event.areas);
    let areas = areas.filter(|(area, state)| !area.retired && state.available() > 0);
    let tiers = seats.map(|(_, tier)| tier).chain(areas.map(|(area, _)| area.tier));
    least_price(&event.details, tiers)
}

/// The least price of these tiers.
pub fn least_price(details: &EventDetails, tiers: impl Iterator<Item = u16>) -> Option<i64> {
    tiers.filter_map(|tier| details.tiers.get(usize::from(tier))).map(|tier| tier.price_minor).min()
}

/// Nothing is left at this moment: `Some(true)` if no hold can give anything back either.
pub fn sold_out(event: &SeatsView) -> Option<bool> {
    let [available, held, ..] = event.totals();
    (available == 0).then_some(held == 0)
}

fn add(into: &mut [u32; 4], more: [u32; 4]) {
    for (sum, count) in into.iter_mut().zip(more) {
        *sum += count;
    }
}

fn count(names: &Names) -> Availability<'_> {
    let event = names.event();
    let chart = &event.chart;
    let tier_of = |tier: u16| {
        let tier = event.details.tiers.get(usize::from(tier));
        tier.map_or(("", 0), |tier| (tier.name.as_str(), tier.price_minor))
    };
    let mut by_tier = vec![[0; 4]; usize::from(chart.tiers)];
    let mut sections = Vec::with_capacity(chart.sections.len());
    for (s, section) in chart.sections.iter().enumerate() {
        let (mut whole, mut tiers) = ([0; 4], Vec::new());
        for tier in 0..chart.tiers {
            let cell = event.cells.get(chart.cell(s as u16, tier)).copied().unwrap_or_default();
            if cell == [0; 4] {
                continue;
            }
            add(&mut whole, cell);
            add(&mut by_tier[usize::from(tier)], cell);
            let (name, price_minor) = tier_of(tier);
            tiers.push(TierCounts { tier: name, price_minor, counts: Counts::of(cell) });
        }
        // A section that only holds areas has no seats to count.
        if !tiers.is_empty() {
            sections.push(SectionCounts { section, counts: Counts::of(whole), tiers });
        }
    }
    let tiers = by_tier.iter().enumerate().filter(|(_, counts)| **counts != [0; 4]).map(|(tier, counts)| {
        let (name, price_minor) = tier_of(tier as u16);
        TierCounts { tier: name, price_minor, counts: Counts::of(*counts) }
    });
    let areas =
        chart.areas.iter().zip(&event.areas).filter(|(area, _)| !area.retired).map(|(area, state)| {
            let (tier, price_minor) = tier_of(area.tier);
            let section = chart.sections.get(usize::from(area.section)).map_or("", String::as_str);
            let counts = Counts::of([state.available(), state.held, state.sold, state.blocked]);
            AreaCounts { area: &area.id, section, tier, price_minor, counts }
        });
    Availability {
        event: names.view.listing.to_string(),
        status: event.status.into(),
        position: At(names.view.position),
        totals: Counts::of(event.totals()),
        tiers: tiers.collect(),
        areas: areas.collect(),
        sections,
    }
}
