//! Two engines on one Redis: what one decides the other shows, whatever gets lost between them.

use std::time::Duration;

use onsale_domain::seats::Status;
use onsale_domain::seats::command::{BestAvailable, Pick, PlaceHold};
use onsale_domain::seats::{EventCommand, EventFound, EventQuery};
use onsale_domain::{Command, HoldId, ListingKind, Tenant};
use onsale_domain::{Found, Query};
use onsale_engine::{Engine, EngineError, Position};
use onsale_engine_redis::live::{Options, RedisEngine};

use super::house::{buyer, create, event, hold, open, status, submit, until};
use super::support::{Brand, Server, Setup, Six};
use onsale_engine_redis::link::Config;
use onsale_engine_redis::link::config::Topology;

async fn pair(config: &Config, options: &Options) -> (RedisEngine, RedisEngine) {
    (open(config.clone(), options.clone()).await, open(config.clone(), options.clone()).await)
}

fn count(engine: &RedisEngine, name: &str) -> u64 {
    engine.counts().into_iter().find(|(known, _)| *known == name).expect("a count").1
}

async fn one_shows_what_the_other_decides(config: Config, options: Options) {
    let (one, other) = pair(&config, &options).await;
    let listing = event(1);
    create(&one, listing).await;
    until("the other knows the event", || other.view(&listing).is_some()).await;
    let start = other.view(&listing).expect("known").position;
    let mut follower = other.follow(listing, start).await.expect("a follower");
    let held = hold(&one, listing, 3, "ann", 60_000).await.expect("held");
    let mut last = start;
    while last < held.position {
        let steps = follower.next().await.expect("steps");
        let step = steps.last().expect("never none");
        last = Position { epoch: step.epoch, offset: step.last() };
    }
    assert_eq!(last, held.position);
    assert_eq!(status(&other, &listing, 3), Some(Status::Held));
    // Both at once, each gapped by the other's facts: both know all of it in the end, and the same.
    let race = |engine: RedisEngine, name: &'static str| async move {
        for seat in 10..40 {
            hold(&engine, listing, seat, name, 60_000).await.expect("an answer");
        }
    };
    tokio::join!(race(one.clone(), "bob"), race(other.clone(), "cleo"));
    until("both are level", || one.image(&listing) == other.image(&listing)).await;
    // A question to either sees every earlier answer of the other.
    hold(&other, listing, 50, "dora", 60_000).await.expect("held");
    let found = one.ask(listing, Query::Event(EventQuery::HoldsOf(buyer("dora")))).await.expect("an answer");
    assert!(matches!(&found, Found::Event(EventFound::Holds(holds)) if holds.len() == 1), "{found:?}");
    let held = one.holds_of(Tenant::DEFAULT, buyer("dora")).await.expect("an answer");
    assert_eq!(held.len(), 1, "{held:?}");
    assert_eq!(other.listings(Tenant::DEFAULT, ListingKind::Event, None, 10).len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hold_on_one_server_is_seen_on_the_other() {
    for brand in Brand::BOTH {
        let server = Server::start(brand);
        one_shows_what_the_other_decides(Config::from(&server.url()), Options::default()).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_wake_ups_polling_is_enough() {
    let server = Server::start(Brand::Redis);
    let options = Options { wakes: false, poll: Duration::from_millis(20), ..Options::default() };
    one_shows_what_the_other_decides(Config::from(&server.url()), options).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hold_on_one_server_is_seen_on_the_other_in_a_cluster() {
    let six = Six::start(Brand::Redis);
    let config = Config { url: six.urls(), topology: Topology::Cluster, ..Config::default() };
    one_shows_what_the_other_decides(config, Options::default()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn best_seats_are_chosen_again_when_another_server_was_faster() {
    let server = Server::start(Brand::Redis);
    let (one, other) = pair(&Config::from(&server.url()), &Options::default()).await;
    let listing = event(1);
    create(&one, listing).await;
    other.look_up(listing).await.expect("known");
    let best = |engine: RedisEngine, name: &'static str| async move {
        let mut held = 0;
        for _ in 0..20 {
            let pick = Pick::Best(BestAvailable { count: 2, section: None, tier: None, accessible: false });
            let (hold, areas) = (HoldId(rand::random()), Vec::new());
            let command = PlaceHold { hold, buyer: buyer(name), pick, areas, hold_ms: None };
            // Five times another was faster: an honest answer, and the buyer asks again.
            let answer = loop {
                match submit(&engine, listing, Command::Event(EventCommand::PlaceHold(command.clone()))).await
                {
                    Err(EngineError::Busy) => {}
                    answer => break answer.expect("an answer"),
                }
            };
            held += usize::from(answer.outcome.refused().is_none());
        }
        held
    };
    let (a, b) = tokio::join!(best(one.clone(), "ann"), best(other.clone(), "bob"));
    assert_eq!(a + b, 40, "a hundred seats are enough for both");
    until("both are level", || one.image(&listing) == other.image(&listing)).await;
    println!("{} retries", count(&one, "retries") + count(&other, "retries"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_trimmed_by_hand_costs_a_reload() {
    let server = Server::start(Brand::Redis);
    // Nothing wakes the other, so that the cut is certain to be in front of it.
    let options = Options { wakes: false, poll: Duration::from_secs(60), ..Options::default() };
    let (one, other) = pair(&Config::from(&server.url()), &options).await;
    let listing = event(1);
    create(&one, listing).await;
    other.look_up(listing).await.expect("known");
    let seen = other.view(&listing).expect("known").position;
    let mut follower = other.follow(listing, seen).await.expect("a follower");
    let mut behind = one.follow(listing, seen).await.expect("a follower");
    for seat in 0..5 {
        hold(&one, listing, seat, "ann", 60_000).await.expect("held");
    }
    assert!(!behind.next().await.expect("steps").is_empty());
    server.tell(&format!("XTRIM onsale:event:facts:{{{listing}}} MAXLEN = 1"));
    assert_eq!(count(&other, "reloads"), 0);
    let found = other.ask(listing, Query::Event(EventQuery::HoldsOf(buyer("ann")))).await.expect("an answer");
    assert!(matches!(&found, Found::Event(EventFound::Holds(holds)) if holds.len() == 5), "{found:?}");
    assert_eq!(count(&other, "reloads"), 1);
    let left = Position { offset: seen.offset + 4, ..seen };
    assert_eq!(follower.next().await.err(), Some(EngineError::Reload(left)));
    assert_eq!(other.facts_after(listing, seen, 10).await.err(), Some(EngineError::Reload(left)));
    assert_eq!(one.image(&listing), other.image(&listing));
    // What is left goes on being told.
    let last = hold(&other, listing, 9, "bob", 60_000).await.expect("held").position;
    let before = Position { offset: last.offset - 1, ..last };
    assert_eq!(one.facts_after(listing, before, 10).await.expect("facts").steps.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn old_facts_are_trimmed_by_whole_steps() {
    let server = Server::start(Brand::Redis);
    let config = Config::from(&server.url());
    let keeps = open(config.clone(), Options::default()).await;
    let listing = event(1);
    create(&keeps, listing).await;
    let last = hold(&keeps, listing, 1, "ann", 60_000).await.expect("held").position;
    let length = || server.say::<u64>(&format!("XLEN onsale:event:facts:{{{listing}}}")).expect("a length");
    keeps.trim().await;
    assert_eq!(length(), last.offset, "nothing is a day old");
    let forgets = open(config, Options { facts_kept_ms: -60_000, ..Options::default() }).await;
    forgets.trim().await;
    assert_eq!(length(), 1, "the newest step stays");
    let held = hold(&keeps, listing, 2, "ann", 60_000).await.expect("held");
    assert_eq!(held.position.offset, last.offset + 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_finds_listings_without_the_index() {
    let server = Server::start(Brand::Redis);
    let one = open(&server.url(), Options::default()).await;
    for number in 1..=3 {
        create(&one, event(number)).await;
    }
    let indexed = || server.say::<u64>("ZCARD onsale:listings").expect("a number");
    until("the index is written", || indexed() == 3).await;
    server.tell("DEL onsale:listings");
    let other = open(&server.url(), Options::default()).await;
    assert_eq!(other.listings(Tenant::DEFAULT, ListingKind::Event, None, 10).len(), 3);
    assert_eq!(indexed(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn reads_are_stale_while_the_server_is_away() {
    // With a busy disk Redis puts off what is to be written once a second, and a killed one forgets it.
    let setup = Setup::default().with("appendonly yes").with("appendfsync always");
    let mut server = Server::with(Brand::Redis, setup);
    let engine = open(&server.url(), Options::default()).await;
    let listing = event(1);
    create(&engine, listing).await;
    hold(&engine, listing, 1, "ann", 600_000).await.expect("held");
    assert!(!engine.is_stale(Some(&listing)));
    server.kill();
    until("the reads are marked", || engine.is_stale(Some(&listing)) && engine.is_stale(None)).await;
    assert_eq!(status(&engine, &listing, 1), Some(Status::Held), "what was known is shown");
    server.start_again();
    until("the mark is gone", || !engine.is_stale(Some(&listing)) && !engine.is_stale(None)).await;
}
