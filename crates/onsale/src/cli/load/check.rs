//! The check after a run: the exported facts, booked again by the ledger, must show no place held or sold twice,
//! agree with the seats as served, and contain everything that was promised.

use std::collections::HashMap;
use std::sync::Arc;

use onsale_domain::id::read_inside;
use onsale_domain::listing::FENCE_EPOCH_SHIFT;
use serde::Serialize;
use serde_json::Value;

use super::buyer::Promise;
use super::hall::{Hall, list, text};
use crate::cli::instant;
use crate::cli::ledger::{Ledger, Line};
use crate::cli::load::connection::Connection;

const FACTS_PER_PAGE: usize = 500;
/// ServerAnswer in full; the rest is only counted.
const BROKEN_TOLD: usize = 10;

type Name = Arc<str>;
/// Every seat, and every area with its places.
pub(super) type Chart = (Vec<Name>, Vec<(Name, u64)>);

#[derive(Debug, Default, Serialize)]
pub(super) struct Verdict {
    pub exact: bool,
    pub facts: u64,
    pub promises: u64,
    pub seats_compared: u64,
    pub holds: u64,
    pub places_held: u64,
    pub orders: u64,
    pub places_sold: u64,
    pub broken: Vec<String>,
    pub broken_count: u64,
}

/// What the facts say about holds and places, by their id.
#[derive(Default)]
struct HoldFacts {
    placed: HashMap<String, (u64, String, Vec<String>)>,
    extended: HashMap<(String, i64), ()>,
    released: HashMap<String, ()>,
    confirmed: HashMap<String, String>,
    queued: HashMap<String, (String, String)>,
}

pub(super) async fn check(
    client: &mut Connection,
    hall: &Hall,
    promises: &[Promise],
) -> anyhow::Result<Verdict> {
    let mut verdict = Verdict { promises: promises.len() as u64, ..Verdict::default() };
    let mut ledger = Ledger::default();
    let mut found = HoldFacts::default();
    let seats = client.get(&format!("/v1/events/{}/seats", hall.event)).await?;
    // The seats are compared at exactly the position they were read at.
    let upto = text(&seats, "position");
    let mut compared = false;
    let mut after = "0".to_owned();
    loop {
        let path = format!("/v1/events/{}/facts?limit={FACTS_PER_PAGE}&after={after}", hall.event);
        let page = client.get(&path).await?;
        for fact in list(&page, "data") {
            verdict.facts += 1;
            found.note(fact);
            if let Some(line) = line(fact, || (hall.seats().cloned().collect(), hall.areas.clone()))
                && let Err(why) = ledger.take(line)
            {
                verdict.broken(format!("fact {}: {why}", fact["offset"]));
            }
            if !compared && format!("{}-{}", fact["epoch"], fact["offset"]) == upto {
                compared = true;
                compare(&seats, &ledger, &mut verdict);
            }
        }
        after = text(&page, "next");
        if page["more"] != true {
            break;
        }
    }
    if !compared {
        verdict.broken(format!("the facts do not reach position {upto}, at which the seats were served"));
    }
    for promise in promises {
        if let Err(why) = found.keeps(promise) {
            verdict.broken(why);
        }
    }
    let totals = ledger.totals();
    (verdict.holds, verdict.places_held) = (totals.holds, totals.held);
    (verdict.orders, verdict.places_sold) = (totals.orders, totals.sold);
    verdict.exact = verdict.broken_count == 0;
    Ok(verdict)
}

impl Verdict {
    fn broken(&mut self, why: String) {
        self.broken_count += 1;
        if self.broken.len() < BROKEN_TOLD {
            self.broken.push(why);
        }
    }
}

fn compare(seats: &Value, ledger: &Ledger<Name, Name>, verdict: &mut Verdict) {
    let Some(seats) = seats.get("seats").and_then(Value::as_object) else { return };
    for (seat, status) in seats {
        verdict.seats_compared += 1;
        let (served, booked) =
            (status.as_str().unwrap_or_default(), ledger.status(&Name::from(seat.as_str())));
        if booked != Some(served) {
            verdict.broken(format!(
                "seat {seat} is served as {served}, the facts say {}",
                booked.unwrap_or("none")
            ));
        }
    }
}

impl HoldFacts {
    fn note(&mut self, fact: &Value) {
        let hold = text(fact, "hold");
        match text(fact, "kind").as_str() {
            "hold_placed" => {
                let seats = list(fact, "seats").iter().map(|seat| text(seat, "seat")).collect();
                let offset = fact["offset"].as_u64().unwrap_or_default();
                self.placed.insert(hold, (offset, text(fact, "buyer"), seats));
            }
            "hold_extended" => {
                self.extended.insert((hold, instant::ms(&fact["expires_at"]).unwrap_or_default()), ());
            }
            "hold_released" => {
                self.released.insert(hold, ());
            }
            "hold_confirmed" => {
                self.confirmed.insert(hold, text(fact, "order"));
            }
            "queue_joined" => {
                self.queued.insert(text(fact, "place"), (text(fact, "seat"), text(fact, "buyer")));
            }
            // A buyer who asks for an offered seat is told of the offer's hold.
            "seat_offered" => {
                let offset = fact["offset"].as_u64().unwrap_or_default();
                self.placed.insert(hold, (offset, text(fact, "buyer"), vec![text(fact, "seat")]));
            }
            _ => {}
        }
    }

    fn keeps(&self, promise: &Promise) -> Result<(), String> {
        let kept = match promise {
            Promise::Held { hold, fence, buyer, seats } => {
                let offset = fence & ((1 << FENCE_EPOCH_SHIFT) - 1);
                self.placed.get(hold) == Some(&(offset, buyer.clone(), seats.clone()))
            }
            Promise::Extended { hold, until } => self.extended.contains_key(&(hold.clone(), *until)),
            Promise::Released { hold } => self.released.contains_key(hold),
            Promise::Confirmed { hold, order } => self.confirmed.get(hold) == Some(order),
            Promise::Queued { place, seat } => self.queued.get(place).is_some_and(|(known, _)| known == seat),
        };
        kept.then_some(()).ok_or_else(|| format!("answered, but not in the facts: {promise:?}"))
    }
}

/// The number inside a hold's or an order's id.
pub(super) fn number(fact: &Value, name: &str) -> u64 {
    let text = text(fact, name);
    let prefix = text.split('_').next().unwrap_or_default();
    read_inside(prefix, &text).map_or(0, |(_, number)| number)
}

/// Seats by name, whether with their price or without.
fn seats(fact: &Value) -> Vec<Name> {
    let name = |seat: &Value| seat.as_str().map_or_else(|| text(seat, "seat").into(), Name::from);
    list(fact, "seats").iter().map(name).collect()
}

fn areas(fact: &Value) -> Vec<(Name, u64)> {
    let line = |area: &Value| (text(area, "area").into(), area["count"].as_u64().unwrap_or(0));
    list(fact, "areas").iter().map(line).collect()
}

/// An exported fact in the ledger's words; `None` for what moves no place.
pub(super) fn line(fact: &Value, chart: impl FnOnce() -> Chart) -> Option<Line<Name, Name>> {
    let hold = || number(fact, "hold");
    let place = || number(fact, "place");
    Some(match text(fact, "kind").as_str() {
        "chart_adopted" => {
            let (seats, areas) = chart();
            Line::Chart { seats, areas }
        }
        "hold_placed" => Line::Placed { hold: hold(), seats: seats(fact), areas: areas(fact) },
        "hold_grown" => Line::Grown { hold: hold(), seats: seats(fact), areas: areas(fact) },
        "seats_dropped" => Line::Dropped { hold: hold(), seats: seats(fact), areas: areas(fact) },
        "hold_released" | "hold_expired" => Line::Ended { hold: hold() },
        "hold_overridden" if fact["to"].is_null() => Line::Ended { hold: hold() },
        "hold_confirmed" => Line::Confirmed { hold: hold(), order: number(fact, "order") },
        "order_refunded" => {
            Line::Refunded { order: number(fact, "order"), seats: seats(fact), areas: areas(fact) }
        }
        "seats_blocked" => Line::Blocked { seats: seats(fact), areas: areas(fact) },
        "seats_unblocked" => Line::Unblocked { seats: seats(fact), areas: areas(fact) },
        "queue_joined" => Line::Queued { place: place(), seat: text(fact, "seat").into() },
        "queue_left" | "place_expired" | "place_lost" => Line::Unqueued { place: place() },
        "seat_offered" => Line::Offered { place: hold() },
        "status_changed" if !matches!(text(fact, "status").as_str(), "on_sale" | "scheduled" | "draft") => {
            Line::QueuesDissolved
        }
        _ => return None,
    })
}
