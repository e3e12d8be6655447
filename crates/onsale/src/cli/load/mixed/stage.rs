//! What is on sale in a mixed run: two events, one of which is cancelled in the middle, a sale, and auctions. All of it is
//! made for the run, so that nobody else's is bought empty.

use anyhow::Context;
use hyper::Method;
use serde_json::{Value, json};

use super::record::{Event, Record, Sale};
use crate::cli::client::refused;
use crate::cli::instant;
use crate::cli::load::connection::Connection;
use crate::cli::load::export::all_facts;
use crate::cli::load::hall::{list, text};

/// The shortest life of a hold and of a code, so that lapses come back soon.
const HOLD_SECONDS: i64 = 30;
const HOUR_MS: i64 = 3_600_000;
const SEATS_PER_ROW: u32 = 20;
const FLOOR: &str = "floor";

#[derive(Debug)]
pub(super) struct Stage {
    pub night: String,
    /// Cancelled before everybody has gone home.
    pub doomed: String,
    pub sale: String,
    /// Seats by row, the same in both events.
    pub rows: Vec<Vec<String>>,
    pub skus: Vec<String>,
}

impl Stage {
    /// Room for about half of the buyers: the others fight for it.
    pub(super) async fn make(client: &mut Connection, buyers: u32) -> anyhow::Result<Stage> {
        let now = instant::ms(&client.get("/v1/time").await?["now"]).context("the server's time")?;
        let row = |r: u32| (1..=SEATS_PER_ROW).map(|n| format!("A-{r}-{n}")).collect::<Vec<_>>();
        let rows: Vec<_> = (1..=(buyers / 2).div_ceil(SEATS_PER_ROW).clamp(2, 500)).map(row).collect();
        let night = event(client, now, "Mixed night", &rows, buyers / 10 + 1).await?;
        let doomed = event(client, now, "Mixed night that is called off", &rows[..2], 20).await?;
        let skus: Vec<_> = (1..=4).map(|n| format!("thing-{n}")).collect();
        let sku = |(n, id): (usize, &String)| json!({"id": id, "name": id, "price_minor": 990 + 510 * n, "stock": buyers / 16 + 2});
        let wish = json!({
            "name": "Mixed", "starts_at": instant::text(now - 1), "ends_at": instant::text(now + HOUR_MS), "currency": "EUR", "buyer_limit": 4,
            "checkout_seconds": HOLD_SECONDS, "skus": skus.iter().enumerate().map(sku).collect::<Vec<_>>(),
        });
        let sale = create(client, "/v1/sales", &wish).await?;
        Ok(Stage { night, doomed, sale, rows, skus })
    }

    fn seats_of(&self, event: &str) -> Vec<String> {
        let rows = if event == self.doomed { &self.rows[..2] } else { &self.rows[..] };
        rows.iter().flatten().cloned().collect()
    }

    /// What can be read about all of it at the end. What is served is read first: the facts must reach it.
    pub(super) async fn record(&self, client: &mut Connection) -> anyhow::Result<Record> {
        let mut record = Record::default();
        for id in [&self.night, &self.doomed] {
            let shown = client.get(&format!("/v1/events/{id}/seats")).await?;
            let chart = client.get(&format!("/v1/events/{id}/chart")).await?;
            let area = |area: &Value| (text(area, "id"), area["capacity"].as_u64().unwrap_or_default());
            let areas = list(&chart, "areas").iter().map(area).collect();
            let facts = all_facts(client, "events", id).await?;
            record.events.push(Event { id: id.clone(), seats: self.seats_of(id), areas, facts, shown });
        }
        let path = format!("/v1/sales/{}", self.sale);
        let reply = client.send(Method::GET, &path, &[], None).await?;
        let position = reply.headers.get("onsale-position").and_then(|value| value.to_str().ok());
        let (position, shown) = (position.unwrap_or_default().to_owned(), reply.json());
        let facts = all_facts(client, "sales", &self.sale).await?;
        record.sales.push(Sale { id: self.sale.clone(), facts, shown, position });
        Ok(record)
    }
}

async fn event(
    client: &mut Connection,
    now: i64,
    name: &str,
    rows: &[Vec<String>],
    floor: u32,
) -> anyhow::Result<String> {
    let row = |(r, seats): (usize, &Vec<String>)| {
        let seat = |(n, id): (usize, &String)| json!({"id": id, "label": (n + 1).to_string(), "tier": 0, "x": n, "y": r});
        json!({"label": (r + 1).to_string(), "seats": seats.iter().enumerate().map(seat).collect::<Vec<_>>()})
    };
    let wish = json!({
        "name": name, "starts_at": instant::text(now + 24 * HOUR_MS), "ends_at": instant::text(now + 27 * HOUR_MS), "currency": "EUR",
        "status": "on_sale", "hold_seconds": HOLD_SECONDS,
        "tiers": [{"name": "Stalls", "price_minor": 4_500}, {"name": "Floor", "price_minor": 2_000}],
        "layout": {
            "sections": [{"name": "A", "rows": rows.iter().enumerate().map(row).collect::<Vec<_>>()}],
            "areas": [{"id": FLOOR, "label": "Standing", "section": "A", "tier": 1, "capacity": floor}],
        },
    });
    create(client, "/v1/events", &wish).await
}

async fn create(client: &mut Connection, path: &str, wish: &Value) -> anyhow::Result<String> {
    let reply = client.send(Method::POST, path, &[], Some(wish.to_string())).await?;
    match reply.status {
        201 => Ok(text(&reply.json(), "id")),
        _ => Err(refused(path, &reply)),
    }
}

/// What somebody wants to hold: neighbours, or places to stand.
pub(super) fn wish(rows: &[Vec<String>], rng: &mut impl rand::RngExt) -> Value {
    let count = rng.random_range(1..=3);
    if rng.random_ratio(1, 12) {
        return json!({"areas": [{"area": FLOOR, "count": count}]});
    }
    let row = &rows[rng.random_range(0..rows.len())];
    let first = rng.random_range(0..=row.len() - count);
    json!({"seats": row[first..first + count]})
}
