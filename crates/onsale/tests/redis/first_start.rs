//! `onsale serve` on a Redis that cannot take a write yet: it waits, says what for, and does not fill its log.

use std::fs::OpenOptions;
use std::io::Write;

use crate::server::Deployment;
use onsale_redis_servers::{Brand, Server as Redis, Setup, eventually};

/// Tries of a start that Redis must have refused before its log is read: two seconds of them.
const TRIES: u64 = 40;
/// Two seconds hold two or three sentences; a busy machine may take longer for as many tries.
const SENTENCES_MAX: usize = 8;

#[test]
fn a_first_start_without_the_replicas_that_redis_wants_says_so_and_does_not_fill_the_log() {
    let _alone = crate::alone();
    let redis = Redis::with(Brand::Redis, Setup::default().with("min-replicas-to-write 1"));
    let mut server = Deployment::single(&redis.url()).begin();
    eventually("Redis refuses many writes", || {
        server.lives();
        // `count=7`
        let refused =
            redis.info("errorstat_NOREPLICAS").and_then(|told| told.strip_prefix("count=")?.parse().ok());
        refused.is_some_and(|refused: u64| refused >= TRIES)
    });
    let log = server.log();
    assert!(log.contains("it refuses every write"), "the check of the start says it first: {log}");
    let waits = log.lines().filter(|line| line.contains("the start waits for redis")).count();
    assert!((1..=SENTENCES_MAX).contains(&waits), "{waits} times: {log}");
    assert!(log.contains("too few replicas in step (min-replicas-to-write)"), "{log}");
    redis.tell("CONFIG SET min-replicas-to-write 0");
    let server = server.ready();
    server.create_event(1);
}

#[test]
fn a_server_that_starts_while_redis_is_loading_waits_for_it() {
    let _alone = crate::alone();
    let mut redis = Redis::start(Brand::Redis);
    redis.tell("DEBUG POPULATE 30000 filler 100");
    redis.tell("SAVE");
    redis.kill();
    // A minute for all keys, until the test says otherwise; about every ten of them it answers.
    let conf = OpenOptions::new().append(true).open(redis.folder().join("conf"));
    let slow = "key-load-delay 2000\nloading-process-events-interval-bytes 1024\n";
    conf.and_then(|mut conf| conf.write_all(slow.as_bytes())).expect("its configuration");
    redis.spawn_again();
    eventually("it is loading", || redis.info("loading").as_deref() == Some("1"));
    let mut server = Deployment::single(&redis.url()).begin();
    eventually("the server says that it waits", || {
        server.lives();
        server.log().contains("the start waits for redis")
    });
    assert!(server.log().contains("loading"), "{}", server.log());
    redis.tell("CONFIG SET key-load-delay 0");
    server.ready().create_event(1);
}

#[test]
fn a_second_server_with_accounts_of_its_own_does_not_start() {
    let _alone = crate::alone();
    let redis = Redis::start(Brand::Redis);
    let own = Deployment::single(&redis.url()).without("ONSALE_ACCESS__DATABASE");
    let first = own.start();
    let second = own.refused();
    assert!(second.contains("the accounts of this Redis are elsewhere (sqlite)"), "{second}");
    assert!(second.contains("access.database = postgres://"), "it says what to do: {second}");
    // Without accounts a second one is welcome.
    let other = Deployment::single(&redis.url()).start();
    first.create_event(1);
    drop(other);
}
