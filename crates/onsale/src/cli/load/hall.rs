//! The event under load as its buyers see it: rows of seats, which of them are known to be sold, and where
//! everybody wants to sit.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use anyhow::{Context, bail};
use rand::RngExt;
use serde_json::Value;

use super::Contention;
use crate::cli::load::connection::Connection;

/// A seat that a refusal calls sold is left alone; another is looked for so many times.
const TRIES: usize = 8;
/// "The front row" is the best rows that still have seats, so many of them.
const FRONT_ROWS: usize = 2;
/// One buyer in so many stands, where there is something to stand on.
const STANDING_ONE_IN: u32 = 20;

#[derive(Debug)]
pub(super) struct Hall {
    pub event: String,
    pub name: String,
    pub areas: Vec<(Arc<str>, u64)>,
    rows: Vec<Vec<Seat>>,
    /// A seat's row and place in it.
    where_is: HashMap<Arc<str>, (usize, usize)>,
    /// Running weights of the rows for `zipf`.
    weights: Vec<f64>,
    /// Rows before this one are sold out.
    front: AtomicUsize,
    contention: Contention,
}

#[derive(Debug)]
struct Seat {
    id: Arc<str>,
    sold: AtomicBool,
}

/// What a buyer asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    Seats(Vec<Arc<str>>),
    Standing(Arc<str>, u32),
}

impl Hall {
    /// The named event, or the first one on sale.
    pub(super) async fn find(
        client: &mut Connection,
        event: Option<&str>,
        contention: Contention,
    ) -> anyhow::Result<Hall> {
        let event = match event {
            Some(event) => event.to_owned(),
            None => first_on_sale(client).await?,
        };
        let about = client.get(&format!("/v1/events/{event}")).await?;
        let status = text(&about, "status");
        if status != "on_sale" {
            bail!("{event} is {status}, not on sale; name another with --event");
        }
        let chart = client.get(&format!("/v1/events/{event}/chart")).await?;
        let mut rows = Vec::new();
        for section in list(&chart, "sections") {
            for row in list(section, "rows") {
                let seat = |seat: &Value| Seat { id: text(seat, "id").into(), sold: AtomicBool::new(false) };
                rows.push(list(row, "seats").iter().map(seat).collect::<Vec<_>>());
            }
        }
        rows.retain(|row| !row.is_empty());
        let area = |area: &Value| (text(area, "id").into(), area["capacity"].as_u64().unwrap_or(0));
        let areas: Vec<_> = list(&chart, "areas").iter().map(area).collect();
        if rows.is_empty() && areas.is_empty() {
            bail!("{event} has no seats");
        }
        let mut where_is = HashMap::new();
        for (r, row) in rows.iter().enumerate() {
            where_is.extend(row.iter().enumerate().map(|(place, seat)| (seat.id.clone(), (r, place))));
        }
        let mut sum = 0.0;
        let weights = (1..=rows.len()).map(|rank| {
            sum += 1.0 / rank as f64;
            sum
        });
        let (weights, name) = (weights.collect(), text(&about, "name"));
        Ok(Hall { event, name, areas, rows, where_is, weights, front: AtomicUsize::new(0), contention })
    }

    pub(super) fn seats(&self) -> impl Iterator<Item = &Arc<str>> {
        self.rows.iter().flatten().map(|seat| &seat.id)
    }

    /// What the next buyer wants: some neighbouring seats, or places to stand.
    pub(super) fn wish(&self, rng: &mut impl RngExt) -> Wish {
        let count = rng.random_range(1..=4);
        let stands = !self.areas.is_empty() && rng.random_ratio(1, STANDING_ONE_IN);
        if stands || self.rows.is_empty() {
            let (area, _) = &self.areas[rng.random_range(0..self.areas.len())];
            return Wish::Standing(area.clone(), count);
        }
        let mut window: &[Seat] = &[];
        for _ in 0..TRIES {
            let row = &self.rows[self.row(rng)];
            let count = (count as usize).min(row.len());
            let first = rng.random_range(0..=row.len() - count);
            window = &row[first..first + count];
            if window.iter().all(|seat| !seat.sold.load(Ordering::Relaxed)) {
                break;
            }
        }
        Wish::Seats(window.iter().map(|seat| seat.id.clone()).collect())
    }

    fn row(&self, rng: &mut impl RngExt) -> usize {
        match self.contention {
            Contention::Uniform => rng.random_range(0..self.rows.len()),
            Contention::Zipf => {
                let at = rng.random_range(0.0..self.weights.last().copied().unwrap_or(1.0));
                self.weights.partition_point(|weight| *weight <= at).min(self.rows.len() - 1)
            }
            Contention::FrontRow => {
                let mut front = self.front.load(Ordering::Relaxed);
                while front + 1 < self.rows.len() && self.is_sold_out(front) {
                    front += 1;
                }
                self.front.fetch_max(front, Ordering::Relaxed);
                (front + rng.random_range(0..FRONT_ROWS)).min(self.rows.len() - 1)
            }
        }
    }

    fn is_sold_out(&self, row: usize) -> bool {
        self.rows[row].iter().all(|seat| seat.sold.load(Ordering::Relaxed))
    }

    /// Remembers that nobody gets this seat any more.
    pub(super) fn is_sold(&self, id: &str) {
        if let Some((row, place)) = self.where_is.get(id) {
            self.rows[*row][*place].sold.store(true, Ordering::Relaxed);
        }
    }
}

async fn first_on_sale(client: &mut Connection) -> anyhow::Result<String> {
    let mut path = "/v1/events?limit=500".to_owned();
    loop {
        let page = client.get(&path).await?;
        let on_sale = list(&page, "data").iter().find(|event| text(event, "status") == "on_sale");
        if let Some(event) = on_sale {
            return Ok(text(event, "id"));
        }
        let next = page.get("next").and_then(Value::as_str);
        let next = next.context("nothing is on sale there; `onsale demo` starts a server with two events")?;
        path = format!("/v1/events?limit=500&after={next}");
    }
}

pub(super) fn text(value: &Value, name: &str) -> String {
    value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}

pub(super) fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
