//! However many listings there are, few commands go to Redis: what is asked and done is counted there, not timed.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use onsale_domain::stock::SaleCommand;
use onsale_domain::stock::command::Checkout;
use onsale_domain::stock::fact::SkuCount;
use onsale_domain::stock::{SaleFound, SaleQuery};
use onsale_domain::{CheckoutId, Command, Found, ListingId, ListingKind, Millis, Outcome, Query, Tenant};
use onsale_engine::Engine;
use onsale_engine_redis::live::{Options, RedisEngine};

use super::creations::creation;
use super::house::{buyer, open, submit, until};
use super::support::{Brand, Server};

const NOW: Millis = 1_800_000_000_000;
/// No round of the engine's own falls into a test.
pub(crate) const NEVER: Duration = Duration::from_secs(86_400);

pub(crate) fn sale(number: usize) -> ListingId {
    ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Sale, number: number as u64 }
}

/// How often Redis was asked this since it started.
pub(crate) fn calls(server: &Server, command: &str) -> u64 {
    let told: String = server.say("INFO commandstats").expect("an answer");
    let line = told.lines().find_map(|line| line.strip_prefix(&format!("cmdstat_{command}:calls=")));
    line.and_then(|rest| rest.split(',').next()?.parse().ok()).unwrap_or(0)
}

pub(crate) async fn make(engine: &RedisEngine, count: usize) {
    let all = (0..count).map(|number| async move {
        let made = submit(engine, sale(number), creation(sale(number), engine.now())).await;
        assert_eq!(made.expect("an answer").outcome, Outcome::Done);
    });
    futures_util::stream::iter(all).buffer_unordered(64).collect::<Vec<_>>().await;
}

async fn check_out(engine: &RedisEngine, number: usize, name: &str) {
    let lines = vec![SkuCount { sku: 0, count: 1 }];
    let checkout = CheckoutId(rand::random());
    let command = SaleCommand::Checkout(Checkout { checkout, buyer: buyer(name), lines, checkout_ms: None });
    let told = submit(engine, sale(number), Command::Sale(command)).await.expect("an answer");
    assert_eq!(told.outcome, Outcome::Done);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_buyers_checkouts_cost_as_many_commands_as_there_are_sales_with_something_of_the_buyer() {
    const SALES: usize = 500;
    let server = Server::start(Brand::Redis);
    let clock = Arc::new(AtomicI64::new(NOW));
    let options = Options { clock: Some(clock.clone()), poll: NEVER, ..Options::default() };
    let engine = open(&server.url(), options).await;
    make(&engine, SALES).await;
    for number in 0..SALES {
        check_out(&engine, number, &format!("guest-{number}")).await;
    }
    check_out(&engine, 7, "ann").await;
    // They have come to rest, and the codes are still good.
    clock.fetch_add(60_000, Ordering::Relaxed);
    let ask = async || {
        let query = Query::Sale(SaleQuery::CheckoutsOf(buyer("ann")));
        engine.ask_all(Tenant::DEFAULT, ListingKind::Sale, query).await.expect("an answer")
    };
    // The first question after they moved looks through them, in this server's memory.
    ask().await;
    let before = calls(&server, "hget");
    let found = ask().await;
    let asked = calls(&server, "hget") - before;
    assert_eq!(found.iter().map(|one| one.listing).collect::<Vec<_>>(), [sale(7)]);
    assert!(matches!(&found[0].found, Found::Sale(SaleFound::Checkouts(all)) if all.len() == 1), "{found:?}");
    assert!(asked <= 4, "{asked} positions were asked for");
}

/// Rounds of the engine, by what each asks once, and how many positions and sizes were asked for.
fn rounds(server: &Server) -> [u64; 3] {
    ["time", "hget", "memory|usage"].map(|command| calls(server, command))
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_engine_asks_for_as_much_however_many_listings_there_are() {
    const SALES: usize = 600;
    /// Compared in turn, and what else a round may ask.
    const IN_A_ROUND: u64 = 64 + 8;
    let server = Server::start(Brand::Redis);
    let first = open(&server.url(), Options { poll: NEVER, ..Options::default() }).await;
    make(&first, SALES).await;
    first.close();
    let options = Options { poll: Duration::from_millis(20), ..Options::default() };
    let engine = open(&server.url(), options).await;
    // Each is compared once, when wake-ups begin to be heard, and its facts are measured once.
    until("every listing was looked at", || rounds(&server)[2] >= SALES as u64).await;
    until("the start is over", || rounds(&server)[0] >= 60).await;
    let [time, positions, sizes] = rounds(&server);
    until("thirty rounds have passed", || rounds(&server)[0] >= time + 30).await;
    let [later, positions_later, sizes_later] = rounds(&server);
    let (passed, asked) = (later - time + 1, positions_later - positions);
    assert!(asked <= passed * IN_A_ROUND, "{asked} positions in {passed} rounds");
    assert_eq!(sizes_later, sizes, "what rests is not measured again");
    drop(engine);
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_recovery_an_idle_engine_compares_no_more_than_before() {
    const SALES: usize = 600;
    /// Compared in turn, and what else a round may ask.
    const IN_A_ROUND: u64 = 64 + 8;
    let server = Server::start(Brand::Redis);
    let first = open(&server.url(), Options { poll: NEVER, ..Options::default() }).await;
    make(&first, SALES).await;
    first.close();
    let options = Options { poll: Duration::from_millis(20), ..Options::default() };
    let engine = open(&server.url(), options).await;
    let before = engine.view(&sale(0)).expect("a sale").position.epoch;
    server.tell("SCRIPT FLUSH");
    let raised = |number| engine.view(&sale(number)).is_some_and(|view| view.position.epoch > before);
    until("every listing goes on under the new epoch", || (0..SALES).all(raised)).await;
    let [time, positions, _] = rounds(&server);
    until("thirty rounds have passed", || rounds(&server)[0] >= time + 30).await;
    let [later, positions_later, _] = rounds(&server);
    let (passed, asked) = (later - time + 1, positions_later - positions);
    assert!(asked <= passed * IN_A_ROUND, "{asked} positions in {passed} rounds");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_listing_costs_no_reading_of_the_whole_index() {
    const SALES: usize = 300;
    const NEW: usize = 5;
    /// Sorted sets that each of the two servers reads of a listing that is new to it.
    const IN_A_STATE: u64 = 3;
    let server = Server::start(Brand::Redis);
    let first = open(&server.url(), Options { poll: Duration::from_millis(20), ..Options::default() }).await;
    make(&first, SALES).await;
    // It hears of nothing: what is new it finds in the index.
    let options = Options { poll: Duration::from_millis(20), wakes: false, ..Options::default() };
    let deaf = open(&server.url(), options).await;
    let whole = || calls(&server, "zrange");
    let before = whole();
    for number in SALES..SALES + NEW {
        let made = submit(&first, sale(number), creation(sale(number), first.now())).await;
        assert_eq!(made.expect("an answer").outcome, Outcome::Done);
        until("the other has found it", || deaf.view(&sale(number)).is_some()).await;
    }
    let read = whole() - before;
    let states = 2 * NEW as u64 * IN_A_STATE;
    assert!(read <= states, "the whole index was read again: {read} ranges, {states} of them of new sales");
}
