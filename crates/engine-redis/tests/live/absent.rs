//! A start while one master of a Cluster is away: the others are sold meanwhile, and its listings come when it returns.

use std::time::Duration;

use onsale_domain::{ListingId, ListingKind, Tenant};
use onsale_engine::{Engine, EngineError};
use onsale_engine_redis::Keys;
use onsale_engine_redis::inspect::at_start;
use onsale_engine_redis::link::config::{Durability, Topology};
use onsale_engine_redis::link::slot::slot;
use onsale_engine_redis::link::{Config, Link};
use onsale_engine_redis::live::{Options, RedisEngine};

use super::house::{PATIENCE_MS, create, event, hold, open, until};
use super::support::{Brand, Setup, Six};

const EVENTS: u64 = 24;

/// The place of the master that has a key.
fn master(six: &Six, key: &str) -> usize {
    six.master_of(slot(key.as_bytes())).expect("a master")
}

fn place(six: &Six, listing: ListingId) -> usize {
    master(six, Keys::new("onsale:", &listing).meta())
}

async fn held(engine: &RedisEngine, listing: ListingId) -> Result<bool, EngineError> {
    let answer = hold(engine, listing, rand::random_range(0..90), "ann", 60_000).await?;
    Ok(answer.outcome.refused().is_none())
}

/// `away`: the place of the master that is killed before the start.
async fn starts_without(brand: Brand, away: impl Fn(&Six) -> usize) {
    let setup = Setup::default()
        .with("cluster-require-full-coverage no")
        .with("cluster-replica-no-failover yes")
        .with("appendonly yes")
        .with("appendfsync always");
    let mut six = Six::with(brand, &setup);
    let config = Config {
        url: six.urls(),
        topology: Topology::Cluster,
        durability: Some(Durability::Redis),
        command_ms: PATIENCE_MS,
        ..Config::default()
    };
    let first = open(config.clone(), Options::default()).await;
    let events: Vec<ListingId> = (1..=EVENTS).map(event).collect();
    for listing in &events {
        create(&first, *listing).await;
    }
    let away = away(&six);
    let gone = |listing: &&ListingId| place(&six, **listing) == away;
    let lost: Vec<ListingId> = events.iter().filter(gone).copied().collect();
    let here: Vec<ListingId> = events.iter().filter(|listing| !lost.contains(listing)).copied().collect();
    assert!(!lost.is_empty() && !here.is_empty());
    until("all are in the index", || {
        let place = master(&six, "onsale:listings");
        six.nodes[place].say::<u64>("ZCARD onsale:listings").is_ok_and(|count| count == EVENTS)
    })
    .await;
    first.close();
    drop(first);
    six.nodes[away].kill();

    let link = Link::open(config).await.expect("the others lead the way");
    at_start(&link, false).await.expect("one that is away is no reason to refuse");
    let engine = RedisEngine::open(link, Options::default()).await.expect("a start");
    for listing in &here {
        assert!(engine.view(listing).is_some(), "{listing} is on a master that lives");
        assert!(held(&engine, *listing).await.expect("an answer"));
        assert!(!engine.is_stale(Some(listing)));
    }
    for listing in &lost {
        let error = held(&engine, *listing).await.expect_err("nobody can decide");
        assert!(matches!(error, EngineError::Unavailable(_)), "{error}");
        let error = engine.look_up(*listing).await.expect_err("never: there is no such listing");
        assert!(matches!(error, EngineError::Unavailable(_)), "{error}");
        assert!(engine.is_stale(Some(listing)));
    }
    assert!(engine.status().store_down.is_some() && engine.is_stale(None));

    six.nodes[away].start_again();
    until("its listings come", || lost.iter().all(|listing| engine.view(listing).is_some())).await;
    let all = engine.listings(Tenant::DEFAULT, ListingKind::Event, None, EVENTS as usize + 1);
    assert_eq!(all.len(), events.len());
    for listing in &lost {
        let mut tries = 0;
        while !held(&engine, *listing).await.unwrap_or_default() {
            tries += 1;
            assert!(tries < 2_000, "{listing} cannot be decided about");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
    until("all is well", || engine.status().store_down.is_none()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_goes_on_without_the_master_of_the_index() {
    starts_without(Brand::Redis, |six| master(six, "onsale:listings")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_goes_on_without_the_master_of_the_lease() {
    starts_without(Brand::Valkey, |six| master(six, "onsale:recovery:{onsale}")).await;
}
