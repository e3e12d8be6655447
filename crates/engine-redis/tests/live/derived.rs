//! Keys that follow from facts: one server writes them, behind whoever decided; a cache for them may go at any moment.

use onsale_domain::Tenant;
use onsale_engine::Engine;
use onsale_engine_redis::link::Config;
use onsale_engine_redis::live::{Options, RedisEngine};

use super::house::{SEATS, buyer, create, event, hold, open, until};
use super::support::{Brand, Server, Setup};

const WRITER: &str = "onsale:derived:writer";

fn hinted(server: &Server, name: &str) -> bool {
    server.say::<u64>(&format!("EXISTS onsale:user:locks:0:{name}")).is_ok_and(|known| known == 1)
}

fn count(server: &Server, field: &str) -> Option<u64> {
    server.say(&format!("HGET onsale:event:stats:{{{}}} {field}", event(1))).ok()?
}

async fn held(engine: &RedisEngine, seat: u32, name: &str) {
    let answer = hold(engine, event(1), seat, name, 600_000).await.expect("an answer");
    assert!(answer.outcome.refused().is_none(), "{:?}", answer.outcome);
    let holds = engine.holds_of(Tenant::DEFAULT, buyer(name)).await.expect("an answer");
    assert_eq!(holds.len(), 1, "{name}: {holds:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_has_the_lease_writes_and_who_decides_does_not() {
    let server = Server::start(Brand::Redis);
    server.tell(&format!("SET {WRITER} another"));
    let engine = open(&server.url(), Options::default()).await;
    create(&engine, event(1)).await;
    held(&engine, 1, "ann").await;
    // The lease is free: the counts tell of all that happened, the hints of what happens from now on.
    server.tell(&format!("DEL {WRITER}"));
    until("the counts are written", || count(&server, "held") == Some(1)).await;
    assert!(!hinted(&server, "ann"), "the server that decides has written a hint");
    held(&engine, 2, "bob").await;
    until("the hint is written", || hinted(&server, "bob")).await;
    until("the counts follow", || count(&server, "available") == Some(SEATS as u64 - 2)).await;
    assert_eq!(count(&server, "section:stalls"), Some(SEATS as u64 - 2));
    assert_eq!(count(&server, "tier:all"), Some(SEATS as u64 - 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn one_server_writes_what_another_decided_and_a_third_goes_on_after_it() {
    let server = Server::start(Brand::Redis);
    let writer = open(&server.url(), Options::default()).await;
    until("the lease is taken", || server.say::<u64>(&format!("EXISTS {WRITER}")).ok() == Some(1)).await;
    let other = open(&server.url(), Options::default()).await;
    create(&other, event(1)).await;
    // Hints follow from facts: a listing that is first read whole brings none of those before.
    until("the writer follows it", || writer.view(&event(1)).is_some()).await;
    held(&other, 1, "ann").await;
    until("the hint is written", || hinted(&server, "ann")).await;
    writer.close();
    let lease = || server.say::<Option<String>>(&format!("GET {WRITER}")).ok().flatten();
    let before = lease();
    until("the other has the lease", || lease().is_some_and(|holder| Some(holder) != before)).await;
    until("the other writes", || count(&server, "held") == Some(1)).await;
    held(&other, 2, "bob").await;
    until("the hint is written", || hinted(&server, "bob")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cache_may_go_at_any_moment() {
    let truth = Server::start(Brand::Redis);
    let small = Setup::default().with("maxmemory 2mb").with("maxmemory-policy allkeys-lru");
    let mut cache = Server::with(Brand::Redis, small);
    let config = Config { cache_url: Some(cache.url()), ..Config::from(&truth.url()) };
    let engine = open(config, Options::default()).await;
    create(&engine, event(1)).await;
    held(&engine, 1, "ann").await;
    // The first hint may have been too early for the lease.
    held(&engine, 2, "bob").await;
    until("the cache has the counts", || count(&cache, "held") == Some(2)).await;
    held(&engine, 3, "cleo").await;
    until("the cache has the hint", || hinted(&cache, "cleo")).await;
    assert!(!hinted(&truth, "cleo") && count(&truth, "held").is_none(), "the truth has what may be dropped");
    cache.tell("FLUSHALL");
    held(&engine, 4, "dora").await;
    cache.kill();
    for (seat, name) in (10..40).zip((0..30).map(|n| format!("guest-{n}"))) {
        held(&engine, seat, &name).await;
    }
    assert!(!engine.is_stale(Some(&event(1))) && engine.status().store_down.is_none());
    // It comes back empty, and fills again with what happens.
    cache.start_again();
    until("the cache is used again", || count(&cache, "held") == Some(34)).await;
    held(&engine, 50, "zoe").await;
    until("the cache has the hint", || hinted(&cache, "zoe")).await;
}
