//! Starts on a server that cannot take a write yet: they wait, say what for, and go on by themselves.

use std::fs::OpenOptions;
use std::io::Write;
use std::time::Duration;

use onsale_engine_redis::deployment::Deployment;
use onsale_engine_redis::link::{Config, Link, LinkError};

use super::SOON;
use super::support::counter::Release;
use super::support::{Brand, Server, Setup};

/// Waits until `done` says yes.
async fn until(what: &str, mut done: impl FnMut() -> bool) {
    let begun = std::time::Instant::now();
    while !done() {
        assert!(begun.elapsed() < SOON, "{what} does not happen");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_first_start_goes_on_as_soon_as_redis_has_the_replicas_it_wants() {
    for brand in Brand::BOTH {
        let server = Server::with(brand, Setup::default().with("min-replicas-to-write 1"));
        let link = Link::open(&server.url()).await.expect("a link");
        let joins = tokio::spawn(async move { Deployment::<Release<1>>::join(&link).await });
        until("a write is refused", || server.info("errorstat_NOREPLICAS").is_some()).await;
        assert!(!joins.is_finished(), "it waits");
        server.tell("CONFIG SET min-replicas-to-write 0");
        let joined = tokio::time::timeout(SOON, joins).await.expect("soon").expect("no panic");
        assert!(joined.is_ok_and(|joined| joined.current().generation.number == 1));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_start_waits_while_redis_is_loading_its_data() {
    for brand in Brand::BOTH {
        let mut server = Server::start(brand);
        server.tell("DEBUG POPULATE 30000 filler 100");
        server.tell("SAVE");
        server.kill();
        // A minute for all keys, until the test says otherwise; about every ten of them it answers.
        let conf = OpenOptions::new().append(true).open(server.folder().join("conf"));
        let slow = "key-load-delay 2000\nloading-process-events-interval-bytes 1024\n";
        conf.and_then(|mut conf| conf.write_all(slow.as_bytes())).expect("its configuration");
        server.spawn_again();
        until("it is loading", || server.info("loading").as_deref() == Some("1")).await;
        let config = Config { command_ms: 10_000, ..Config::from(&server.url()) };
        let refused = Link::open(config.clone()).await.expect_err("it is loading");
        assert!(matches!(refused, LinkError::Loading { .. }), "{refused}");
        let opens = tokio::spawn(Link::open_when_loaded(config));
        until("it was asked", || server.info("errorstat_LOADING").is_some()).await;
        assert!(!opens.is_finished(), "it waits");
        server.tell("CONFIG SET key-load-delay 0");
        let opened = tokio::time::timeout(SOON, opens).await.expect("soon").expect("no panic");
        Box::pin(Deployment::<Release<1>>::join(&opened.expect("a link"))).await.expect("a deployment");
    }
}
