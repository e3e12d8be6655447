//! Sales and series on two engines at once: one slot has one sale, deadlines of codes are swept, and what follows from
//! facts is written for pages of others.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use onsale_domain::money::Currency;
use onsale_domain::series::command::{OpenSlot, SeriesCommand};
use onsale_domain::series::details::{ItemTemplate, SaleTemplate, SeriesDetails, sale_of};
use onsale_domain::series::schedule::{Schedule, Slot};
use onsale_domain::stock::SaleCommand;
use onsale_domain::stock::command::{Checkout, CheckoutKey, Purchase};
use onsale_domain::stock::details::StockRules;
use onsale_domain::stock::fact::SkuCount;
use onsale_domain::{CheckoutId, Code, Command, ListingId, ListingKind, Millis, OrderId, Outcome, Tenant};
use onsale_domain::{Found, Query};
use onsale_engine::engine::BodyView;
use onsale_engine::{Engine, Position};
use onsale_engine_redis::live::{Options, RedisEngine};

use super::house::{buyer, open, submit, until};
use super::support::{Brand, Server};

const HOUR: Millis = 3_600_000;
/// A full hour.
const SLOT: Millis = 1_699_999_200_000;

fn series() -> ListingId {
    ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Series, number: 1 }
}

pub(crate) fn hourly() -> SeriesDetails {
    let template = SaleTemplate {
        name: "hourly".into(),
        description: String::new(),
        currency: Currency::parse("EUR").expect("three letters"),
        rules: StockRules::default(),
        length_ms: HOUR,
        items: vec![ItemTemplate { stock: 2, ..ItemTemplate::default() }],
    };
    SeriesDetails { name: "every hour".into(), schedule: Schedule::Hourly, from: 0, template }
}

fn opening() -> Command {
    let slot = Slot { at: SLOT, offset_s: 0 };
    Command::Series(SeriesCommand::OpenSlot(OpenSlot { slot, skipped: Vec::new() }))
}

/// What a server does at the top of the hour: opens the slot, then makes the sale that the series names.
async fn top_of_the_hour(engine: RedisEngine) -> (Outcome, Outcome) {
    let opened = submit(&engine, series(), opening()).await.expect("an answer").outcome;
    until("this server knows the slot", || to_make(&engine).len() == 1).await;
    let (sale, create) = to_make(&engine).remove(0);
    let create = Command::Sale(SaleCommand::Create(Box::new(create)));
    (opened, submit(&engine, sale, create).await.expect("an answer").outcome)
}

fn to_make(engine: &RedisEngine) -> Vec<(ListingId, onsale_domain::stock::command::CreateSale)> {
    let Some(view) = engine.view(&series()) else { return Vec::new() };
    let BodyView::Series(series) = &view.body else { panic!("no series") };
    series.sales_to_make(engine.now())
}

async fn facts(engine: &RedisEngine, listing: ListingId) -> Vec<&'static str> {
    let epoch = engine.view(&listing).map_or(0, |view| view.position.epoch);
    let page = engine.facts_after(listing, Position { epoch, offset: 0 }, 100).await.expect("facts");
    page.steps.iter().flat_map(|step| step.facts.iter().map(onsale_domain::Fact::kind)).collect()
}

fn available(engine: &RedisEngine, sale: ListingId) -> Option<u32> {
    let view = engine.view(&sale)?;
    let BodyView::Sale(sale) = &view.body else { panic!("no sale") };
    Some(sale.levels[0].available())
}

fn checkout(number: u64, name: &str) -> Command {
    let lines = vec![SkuCount { sku: 0, count: 1 }];
    let checkout = CheckoutId(number);
    Command::Sale(SaleCommand::Checkout(Checkout { checkout, buyer: buyer(name), lines, checkout_ms: None }))
}

async fn pair(server: &Server, clock: &Arc<AtomicI64>) -> (RedisEngine, RedisEngine) {
    let options = Options { clock: Some(clock.clone()), ..Options::default() };
    (open(&server.url(), options.clone()).await, open(&server.url(), options).await)
}

async fn two_servers_at_the_top_of_the_hour(brand: Brand) {
    let server = Server::start(brand);
    let clock = Arc::new(AtomicI64::new(SLOT - 2 * HOUR));
    let (one, other) = pair(&server, &clock).await;
    let created = submit(&one, series(), Command::Series(SeriesCommand::Create(Box::new(hourly())))).await;
    assert_eq!(created.expect("an answer").outcome, Outcome::Done);
    until("the other knows the series", || other.view(&series()).is_some()).await;
    clock.store(SLOT, Ordering::Relaxed);
    let (ours, theirs) = tokio::join!(
        tokio::spawn(top_of_the_hour(one.clone())),
        tokio::spawn(top_of_the_hour(other.clone()))
    );
    let mut outcomes = [ours.expect("no panic"), theirs.expect("no panic")];
    outcomes.sort_by_key(|(opened, _)| *opened != Outcome::Done);
    assert_eq!(outcomes[0].0, Outcome::Done, "somebody opened the slot");
    assert_eq!(outcomes[1].0, Outcome::Unchanged, "the other was told that it is open");
    let made = outcomes.iter().filter(|(_, made)| *made == Outcome::Done).count();
    assert_eq!(made, 1, "one sale was made: {outcomes:?}");
    assert_eq!(facts(&one, series()).await, ["series_created", "slot_opened"]);
    let sale = sale_of(series(), SLOT);
    until("both show the sale", || available(&one, sale).and(available(&other, sale)) == Some(2)).await;
    assert_eq!(facts(&other, sale).await, ["sale_created", "sale_status_changed"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_servers_at_the_top_of_the_hour_open_one_sale_on_redis() {
    two_servers_at_the_top_of_the_hour(Brand::Redis).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_servers_at_the_top_of_the_hour_open_one_sale_on_valkey() {
    two_servers_at_the_top_of_the_hour(Brand::Valkey).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sale_is_shown_swept_and_followed_by_all_servers() {
    let server = Server::start(Brand::Redis);
    let clock = Arc::new(AtomicI64::new(SLOT));
    let (one, other) = pair(&server, &clock).await;
    let sale = sale_of(series(), SLOT);
    let create = hourly().template.sale(series(), Slot { at: SLOT, offset_s: 0 });
    let created = submit(&one, sale, Command::Sale(SaleCommand::Create(Box::new(create)))).await;
    assert_eq!(created.expect("an answer").outcome, Outcome::Done);
    until("the other knows it", || available(&other, sale) == Some(2)).await;
    for (number, name) in [(1, "ann"), (2, "bob")] {
        let answer = submit(&other, sale, checkout(number, name)).await.expect("an answer");
        assert_eq!(answer.outcome, Outcome::Done);
    }
    until("one knows all codes", || available(&one, sale) == Some(0)).await;
    let refused = submit(&one, sale, checkout(3, "cem")).await.expect("an answer").outcome;
    assert_eq!(refused.refused().map(|refusal| refusal.code.as_str()), Some("sold_out_for_now"));
    // No fact tells of it, but every server can.
    let attempts = Query::Attempts(onsale_domain::query::AttemptsQuery { from: 0, limit: 10 });
    let told = one.ask(sale, attempts.clone()).await.expect("an answer");
    let Found::Attempts(found) = &told else { panic!("{told:?}") };
    let (number, attempt) = &found.attempts[0];
    assert_eq!((found.attempts.len(), found.next, *number, attempt.verb), (1, 1, 0, "checkout"));
    assert_eq!((attempt.buyer.as_str(), attempt.code), ("cem", Code::SoldOutForNow));
    assert_eq!(found.counts, [(Code::SoldOutForNow, 1)]);
    assert_eq!(other.ask(sale, attempts).await.expect("an answer"), told);
    let key = CheckoutKey { checkout: CheckoutId(1), buyer: buyer("ann") };
    let purchase = SaleCommand::Purchase(Purchase { key, order: OrderId(1), settled: false });
    let bought = submit(&other, sale, Command::Sale(purchase)).await.expect("an answer");
    assert_eq!(bought.outcome, Outcome::Done);
    // Bob's code lapses; whichever server sweeps, both show it.
    clock.store(SLOT + 600_000, Ordering::Relaxed);
    until("the code has lapsed", || available(&one, sale) == Some(1)).await;
    until("on the other, too", || available(&other, sale) == Some(1)).await;
    assert_eq!(one.image(&sale), other.image(&sale));
    // What pages of others may read.
    let read = |key: &str| server.say::<Option<String>>(&format!("GET {key}")).ok().flatten();
    until("the sale is named", || read("onsale:active_sale_id:0") == Some(sale.to_string())).await;
    clock.store(SLOT + HOUR, Ordering::Relaxed);
    until("no sale is on", || read("onsale:active_sale_id:0").is_none()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_buyers_last_purchase_is_written_behind_the_facts() {
    let server = Server::start(Brand::Redis);
    let engine = open(&server.url(), Options::default()).await;
    until("the lease is taken", || server.say::<u64>("EXISTS onsale:derived:writer").ok() == Some(1)).await;
    let now = engine.now();
    let sale = sale_of(series(), now);
    let create = hourly().template.sale(series(), Slot { at: now - 1_000, offset_s: 0 });
    let created = submit(&engine, sale, Command::Sale(SaleCommand::Create(Box::new(create)))).await;
    assert_eq!(created.expect("an answer").outcome, Outcome::Done);
    // Whoever has just taken the lease may have missed the first one.
    for number in 1..=2 {
        submit(&engine, sale, checkout(number, "ann")).await.expect("an answer");
        let key = CheckoutKey { checkout: CheckoutId(number), buyer: buyer("ann") };
        let purchase = SaleCommand::Purchase(Purchase { key, order: OrderId(number), settled: false });
        let bought = submit(&engine, sale, Command::Sale(purchase)).await.expect("an answer");
        assert_eq!(bought.outcome, Outcome::Done);
    }
    let at = || server.say::<Option<i64>>("GET onsale:user:last_purchase:0:ann").ok().flatten();
    until("it is written", || at().is_some_and(|at| at >= now)).await;
}
