//! `POST …/blocks`: take seats, rows, sections and free places off sale, or with `"unblock": true` put them back.
//! One route for both, because a DELETE with a body does not survive every proxy.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use onsale_domain::id::SeatIndex;
use onsale_domain::seats::command::{BlockSeats, UnblockSeats};
use onsale_domain::seats::{EventCommand, EventFact};
use onsale_domain::{Command, Fact};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::extract::{Caller, EventPath, LargeJson};
use super::names::Names;
use super::problem::Problem;
use super::reply::{self, find_fact};
use super::wire::{AreaPlaces, At};
use crate::app::App;

/// What to block. A held or sold seat stays with its buyer and is blocked when it comes back.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"rows": [{"section": "A", "row": "1"}], "reason": "camera position"}))]
#[schema(min_properties = 1)]
pub struct Block {
    #[serde(default)]
    pub seats: Vec<String>,
    #[serde(default)]
    pub rows: Vec<RowName>,
    #[serde(default)]
    pub sections: Vec<String>,
    #[serde(default)]
    pub areas: Vec<AreaPlaces>,
    /// Needed to block.
    pub reason: Option<String>,
    /// Puts them back on sale instead.
    #[serde(default)]
    pub unblock: bool,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RowName {
    #[schema(example = "A")]
    pub section: String,
    #[schema(example = "1")]
    pub row: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct BlockChanged<'a> {
    /// False if everything was like this before.
    changed: bool,
    blocked: bool,
    /// The seats whose block really changed.
    seats: Vec<&'a str>,
    areas: Vec<AreaPlaces>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[schema(value_type = String, example = "1-8")]
    position: At,
}

/// Block or unblock seats, rows, sections and free places
///
/// A blocked seat is not on sale. A held or sold one stays with its buyer and is blocked when it comes back.
#[utoipa::path(post, path = "/v1/events/{event}/blocks", tag = "staff", request_body = Block,
    responses((status = 200, body = BlockChanged)))]
pub async fn change(
    State(app): State<Arc<App>>,
    at: EventPath,
    caller: Caller,
    LargeJson(body): LargeJson<Block>,
) -> Result<Response, Problem> {
    let mut names = Names::of(&*app.engine, &at.listing)?;
    let seats = spell_out(&mut names, &body)?;
    let areas = names.areas(&body.areas);
    let command = if body.unblock {
        Command::Event(EventCommand::UnblockSeats(UnblockSeats { seats, areas }))
    } else {
        let reason = body.reason.clone().unwrap_or_default();
        Command::Event(EventCommand::BlockSeats(BlockSeats { seats, areas, reason }))
    };
    let origin = caller.origin(&at.listing, &body);
    let answer = reply::submit(&app, at.listing, command, origin, Some(&names)).await?;
    let fact = find_fact(&answer, |fact| {
        if let Fact::Event(EventFact::SeatsBlocked { seats, areas, reason }) = fact {
            return Some((seats, areas, Some(reason.as_str())));
        }
        if let Fact::Event(EventFact::SeatsUnblocked { seats, areas }) = fact {
            return Some((seats, areas, None));
        }
        None
    });
    let mut told = BlockChanged {
        changed: fact.is_some(),
        blocked: !body.unblock,
        seats: Vec::new(),
        areas: Vec::new(),
        reason: None,
        position: At(reply::position_of(&answer)),
    };
    if let Some((_, (seats, areas, reason))) = fact {
        told.seats = seats.iter().map(|seat| names.seat_text(*seat)).collect();
        let area = |line: &onsale_domain::seats::fact::AreaCount| AreaPlaces {
            area: names.area_text(line.area).to_owned(),
            count: line.count,
        };
        told.areas = areas.iter().map(area).collect();
        told.reason = reason;
    }
    Ok(reply::yes(StatusCode::OK, &answer, &told))
}

/// Rows and sections become the seats in them.
fn spell_out(names: &mut Names, body: &Block) -> Result<Vec<SeatIndex>, Problem> {
    let mut seats = names.seats(&body.seats);
    let chart = &names.event().chart;
    let section = |name: &str| chart.sections.iter().position(|known| known == name);
    for (n, row) in body.rows.iter().enumerate() {
        let section = section(&row.section);
        let mut found = false;
        for known in &chart.rows {
            if Some(usize::from(known.section)) == section && known.label == row.row {
                seats.extend_from_slice(&known.seats);
                found = true;
            }
        }
        if !found {
            return Err(Problem::invalid(format!("rows[{n}]"), "no such row"));
        }
    }
    for (n, name) in body.sections.iter().enumerate() {
        let section =
            section(name).ok_or_else(|| Problem::invalid(format!("sections[{n}]"), "no such section"))?;
        for row in chart.rows.iter().filter(|row| usize::from(row.section) == section) {
            seats.extend_from_slice(&row.seats);
        }
    }
    Ok(seats)
}
