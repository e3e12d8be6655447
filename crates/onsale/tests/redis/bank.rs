//! Two workers on one Redis with one bank between them, and the one with the lease stops in the middle of anything, as a
//! process does that is killed. The bank's own books and the listing's must agree afterwards.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::time::{Duration, Instant};

use onsale_domain::event::{EventDetails, EventStatus, SaleRules, Tier};
use onsale_domain::layout::{Layout, Row, Seat, Section};
use onsale_domain::listing::fence;
use onsale_domain::money::Currency;
use onsale_domain::order::command::{GoodsKey, OrderKey, PayOrder, PlaceOrder};
use onsale_domain::order::{BookedOrder, Fees, OrderCommand, OrderStatus, OrdersFound, OrdersQuery};
use onsale_domain::seats::EventCommand;
use onsale_domain::seats::command::{AdoptChart, CreateEvent, HoldKey, Pick, PlaceHold};
use onsale_domain::{
    BuyerId, Command, HoldId, ListingId, ListingKind, OrderId, PaymentId, PaymentName, Tenant,
};
use onsale_domain::{Found, Query};
use onsale_engine::{Answer, Engine, Request};
use onsale_engine_redis::link::{Config, Link};
use onsale_engine_redis::live::{Options, RedisEngine};
use onsale_payments::ask_key;
use onsale_payments::simulated::{Bank, SimulatedProvider};
use onsale_payments::worker::{Patience, Worker};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use onsale_redis_servers::{Brand, Server as Redis, Setup};

const EVENT: ListingId = ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Event, number: 9 };
const ORDERS: u32 = 48;
pub(crate) const TOTAL: i64 = 4_321;
const METHODS: [&str; 6] = ["succeed", "duplicate", "decline", "lost", "delay", "reorder"];
/// Far more than all of it takes on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(90);

pub(crate) fn payment_of(n: u32) -> PaymentName {
    PaymentName { listing: EVENT, payment: PaymentId(u64::from(n) + 1) }
}

pub(crate) fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime")
}

/// A clock that is moved by hand, or the servers' own.
pub(crate) type Clock = Option<Arc<AtomicI64>>;

pub(crate) async fn open(url: &str, clock: Clock) -> RedisEngine {
    let link =
        Link::open(Config { url: vec![url.to_owned()], ..Config::default() }).await.expect("a way to redis");
    RedisEngine::open(link, Options { clock, ..Options::default() }).await.expect("an engine")
}

/// A server as far as payments are concerned; dropping its runtime is its sudden end.
pub(crate) fn start(url: &str, bank: &Arc<Bank>, clock: Clock) -> Runtime {
    let runtime = runtime();
    let (url, bank) = (url.to_owned(), bank.clone());
    runtime.spawn(async move {
        let engine: Arc<dyn Engine> = Arc::new(open(&url, clock).await);
        let provider = Arc::new(SimulatedProvider::new(bank, b"secret"));
        // Whoever is never answered is given up for now after a second, and asked again.
        let patience = Patience { answer: Duration::from_secs(1), again_ms: 100, again_ms_max: 500 };
        Arc::new(Worker::new(engine, provider, patience)).run(CancellationToken::new()).await;
    });
    runtime
}

fn buyer(n: u32) -> BuyerId {
    BuyerId::parse(&format!("buyer {n}")).expect("a name")
}

pub(crate) fn create(now: i64) -> Command {
    let seat = |n: u32| Seat { id: format!("S{n}"), label: n.to_string(), ..Seat::default() };
    let rows = vec![Row { label: "r".into(), seats: (0..ORDERS).map(seat).collect() }];
    let layout = Layout { sections: vec![Section { name: "s".into(), rows }], areas: Vec::new() };
    Command::Event(EventCommand::CreateEvent(Box::new(CreateEvent {
        details: EventDetails {
            name: "small".into(),
            description: String::new(),
            venue: None,
            starts_at: now + 80_000_000,
            ends_at: now + 90_000_000,
            sale_opens_at: None,
            sale_closes_at: None,
            time_zone: "UTC".into(),
            currency: Currency::parse("EUR").expect("three letters"),
            tiers: vec![Tier { name: "t".into(), price_minor: 4_000 }],
            rules: SaleRules::default(),
        },
        status: EventStatus::OnSale,
        chart: AdoptChart { venue: None, version: 1, layout: layout.into() },
    })))
}

pub(crate) async fn submit(engine: &RedisEngine, command: Command) -> Answer {
    let answer =
        engine.submit(Request { listing: EVENT, command, key: None, by: None }).await.expect("decides");
    assert_eq!(answer.outcome.refused(), None);
    answer
}

pub(crate) async fn place(engine: &RedisEngine, n: u32) {
    let (hold, number) = (HoldId(u64::from(n) + 1), u64::from(n) + 1);
    let (pick, areas) = (Pick::Seats(vec![n]), Vec::new());
    let wish = PlaceHold { hold, buyer: buyer(n), pick, areas, hold_ms: Some(900_000) };
    let at = submit(engine, Command::Event(EventCommand::PlaceHold(wish))).await.position;
    let key = HoldKey { hold, fence: fence(at.epoch, at.offset), buyer: buyer(n) };
    let fees = Fees { per_order_minor: 321, ..Fees::default() };
    let place = PlaceOrder { order: OrderId(number), goods: GoodsKey::Hold(key), fees };
    submit(engine, Command::Order(OrderCommand::Place(place))).await;
}

fn method(n: u32) -> &'static str {
    METHODS[n as usize % METHODS.len()]
}

pub(crate) async fn pay(engine: &RedisEngine, n: u32, method: &str) {
    submit(
        engine,
        Command::Order(OrderCommand::Pay(PayOrder {
            key: OrderKey { order: OrderId(u64::from(n) + 1), buyer: buyer(n) },
            payment: PaymentId(u64::from(n) + 1),
            pay_until: engine.now() + 600_000,
            method: Some(method.to_owned()),
            settled: false,
        })),
    )
    .await;
}

pub(crate) async fn order(engine: &RedisEngine, n: u32) -> BookedOrder {
    let query = Query::Orders(OrdersQuery::Order(OrderId(u64::from(n) + 1)));
    let found = engine.ask(EVENT, query).await.expect("an answer");
    let Found::Orders(OrdersFound::Order(order)) = found else { panic!("{found:?}") };
    *order
}

#[test]
fn the_banks_books_and_the_listings_agree_whoever_dies() {
    let _alone = crate::alone();
    let redis = Redis::with(Brand::Redis, Setup::default().with("appendonly yes"));
    let bank = Arc::new(Bank::default());
    let first = start(&redis.url(), &bank, None);
    let house = runtime();
    let engine = house.block_on(open(&redis.url(), None));
    house.block_on(async {
        submit(&engine, create(engine.now())).await;
        for n in 0..ORDERS {
            place(&engine, n).await;
        }
        pay(&engine, 0, method(0)).await;
        let begun = Instant::now();
        while order(&engine, 0).await.status != OrderStatus::Confirmed {
            assert!(begun.elapsed() < PATIENCE, "nobody looks after payments");
        }
    });
    // The first has the lease by now; the other waits for it.
    let second = start(&redis.url(), &bank, None);
    house.block_on(async {
        for n in 1..ORDERS / 2 {
            pay(&engine, n, method(n)).await;
        }
    });
    first.shutdown_background();
    let waited = house.block_on(async {
        for n in ORDERS / 2..ORDERS {
            pay(&engine, n, method(n)).await;
        }
        let begun = Instant::now();
        for n in 0..ORDERS {
            while order(&engine, n).await.status == OrderStatus::Paying {
                assert!(begun.elapsed() < PATIENCE, "{:?} is forgotten", order(&engine, n).await);
            }
        }
        begun.elapsed()
    });
    println!("all settled after {waited:?}");
    let orders: Vec<BookedOrder> = house
        .block_on(async { futures_util::future::join_all((0..ORDERS).map(|n| order(&engine, n))).await });
    let taken: BTreeMap<String, i64> = bank.taken().into_iter().collect();
    assert_eq!(bank.given_back(), [], "nothing was late");
    let mut confirmed = 0;
    for (n, booked) in (0u32..).zip(&orders) {
        let took = taken.get(&ask_key(payment_of(n), 0, 0)).copied();
        let bought = method(n) != "decline";
        assert_eq!(booked.status == OrderStatus::Confirmed, bought, "{} {booked:?}", method(n));
        assert_eq!(took.unwrap_or(0), if bought { TOTAL } else { 0 }, "{} {booked:?}", method(n));
        let captured: i64 = booked.payments.iter().filter_map(|payment| payment.captured_minor).sum();
        assert_eq!(captured, took.unwrap_or(0), "{} {booked:?}", method(n));
        confirmed += if bought { booked.total_minor() } else { 0 };
    }
    assert_eq!(taken.values().sum::<i64>(), confirmed);
    second.shutdown_background();
}
