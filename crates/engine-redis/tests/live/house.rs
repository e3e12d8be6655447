//! A small house on a private server: engines, an event, holds, and conditions to wait for.

use std::time::{Duration, Instant};

use onsale_domain::event::{EventDetails, EventStatus, SaleRules, Tier};
use onsale_domain::layout::{Layout, Row, Seat, Section};
use onsale_domain::money::Currency;
use onsale_domain::seats::EventCommand;
use onsale_domain::seats::Status;
use onsale_domain::seats::command::{AdoptChart, CreateEvent, Pick, PlaceHold};
use onsale_domain::{BuyerId, Command, HoldId, ListingId, ListingKind, Millis, Tenant};
use onsale_engine::engine::BodyView;
use onsale_engine::{Answer, Engine, EngineError, Request};
use onsale_engine_redis::link::{Config, Link};
use onsale_engine_redis::live::{Options, RedisEngine};

pub(crate) const SEATS: usize = 100;

pub(crate) fn event(number: u64) -> ListingId {
    ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Event, number }
}

pub(crate) fn buyer(name: &str) -> BuyerId {
    BuyerId::parse(name).expect("a buyer")
}

/// For an answer of Redis. The tests are about what is right, not about how soon: a busy machine may take its time.
pub(crate) const PATIENCE_MS: u64 = 2_000;

pub(crate) async fn open(config: impl Into<Config>, options: Options) -> RedisEngine {
    let link = Link::open(Config { command_ms: PATIENCE_MS, ..config.into() }).await.expect("a server");
    RedisEngine::open(link, options).await.expect("an engine")
}

pub(crate) async fn submit(
    engine: &RedisEngine,
    listing: ListingId,
    command: Command,
) -> Result<Answer, EngineError> {
    engine.submit(Request { listing, command, key: None, by: None }).await
}

/// An event with one row of seats that is on sale for as long as a test may take.
pub(crate) fn tempest(now: Millis, seats: usize) -> Command {
    let seat = |n: usize| Seat { id: format!("A-{n}"), label: n.to_string(), ..Seat::default() };
    let row = Row { label: "A".into(), seats: (1..=seats).map(seat).collect() };
    let layout =
        Layout { sections: vec![Section { name: "stalls".into(), rows: vec![row] }], areas: Vec::new() };
    let details = EventDetails {
        name: "The Tempest".into(),
        description: String::new(),
        venue: None,
        starts_at: now + 360_000_000,
        ends_at: now + 370_000_000,
        sale_opens_at: None,
        sale_closes_at: None,
        time_zone: "UTC".into(),
        currency: Currency::parse("EUR").expect("three capital letters"),
        tiers: vec![Tier { name: "all".into(), price_minor: 1_000 }],
        rules: SaleRules { buyer_limit: 50, ..SaleRules::default() },
    };
    let chart = AdoptChart { venue: None, version: 1, layout: layout.into() };
    Command::Event(EventCommand::CreateEvent(Box::new(CreateEvent {
        details,
        status: EventStatus::OnSale,
        chart,
    })))
}

pub(crate) async fn create(engine: &RedisEngine, listing: ListingId) {
    let created = submit(engine, listing, tempest(engine.now(), SEATS)).await.expect("an answer");
    assert!(created.outcome.refused().is_none(), "{:?}", created.outcome);
}

pub(crate) async fn hold(
    engine: &RedisEngine,
    listing: ListingId,
    seat: u32,
    name: &str,
    hold_ms: Millis,
) -> Result<Answer, EngineError> {
    let pick = Pick::Seats(vec![seat]);
    let (hold, areas, hold_ms) = (HoldId(rand::random()), Vec::new(), Some(hold_ms));
    submit(
        engine,
        listing,
        Command::Event(EventCommand::PlaceHold(PlaceHold { hold, buyer: buyer(name), pick, areas, hold_ms })),
    )
    .await
}

pub(crate) fn status(engine: &RedisEngine, listing: &ListingId, seat: u32) -> Option<Status> {
    match &engine.view(listing)?.body {
        BodyView::Event(seats) => Some(seats.seat_status(seat)),
        BodyView::Venue(_)
        | BodyView::Sale(_)
        | BodyView::Series(_)
        | BodyView::Registration(_)
        | BodyView::Auction(_)
        | BodyView::Desk(_) => None,
    }
}

/// Waits until `done` says yes; how long that took.
pub(crate) async fn until(what: &str, mut done: impl FnMut() -> bool) -> Duration {
    let started = Instant::now();
    while !done() {
        assert!(started.elapsed() < Duration::from_secs(60), "{what} does not happen");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    started.elapsed()
}
