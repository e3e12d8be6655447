//! The link against real servers: every way to reach one, and every bad day told apart.

mod support;

use std::time::{Duration, Instant};

use onsale_engine::EngineError;
use onsale_engine_redis::link::config::{Sentinel, Topology};
use onsale_engine_redis::link::{Config, Link, LinkError};
use onsale_engine_redis::scripts::Script;
use redis::{FromRedisValue, Value};
use support::{Brand, Server, Setup, Six, Trio, certificates, sentinel};

fn count() -> Script {
    Script::new("count", "1", "return redis.call('INCR', KEYS[1])")
}

async fn load(link: &Link, script: &Script) {
    for master in &link.map().masters {
        master.send(redis::cmd("SCRIPT").arg("LOAD").arg(&script.text)).await.expect("loaded");
    }
}

async fn call(link: &Link, script: &Script, key: &str) -> Result<i64, LinkError> {
    let value = link.script(script, &[key.to_owned()], &[]).await?;
    Ok(i64::from_redis_value(value).expect("a number"))
}

/// Waits until `done` says yes, however busy the machine is.
async fn met(what: &str, done: impl AsyncFn() -> bool) {
    let begun = Instant::now();
    while !done().await {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what}: never");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Counts to two over a link of that configuration.
async fn works(config: Config) {
    let link = Link::open(config).await.expect("a link");
    let script = count();
    load(&link, &script).await;
    assert_eq!(call(&link, &script, "a:{1}").await, Ok(1));
    assert_eq!(call(&link, &script, "a:{1}").await, Ok(2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tcp_a_socket_and_a_user_of_its_own_lead_to_a_single_server() {
    for brand in Brand::BOTH {
        let server = Server::start(brand);
        works(Config::from(&server.url())).await;
        server.tell("FLUSHALL");
        works(Config::from(&format!("unix://{}", server.socket().display()))).await;
        server.tell("FLUSHALL");
        server.tell("ACL SETUSER seller on >secret ~a:* &* +@all -@dangerous +role");
        let seller = Config {
            user: Some("seller".to_owned()),
            password: Some("secret".to_owned()),
            ..Config::from(&server.url())
        };
        works(seller.clone()).await;
        let wrong = Link::open(Config { password: Some("guess".to_owned()), ..seller.clone() })
            .await
            .expect_err("refused");
        assert!(matches!(wrong, LinkError::Denied { .. }), "{wrong}");
        let link = Link::open(seller).await.expect("a link");
        let foreign = call(&link, &count(), "b:{1}").await.expect_err("not this user's keys");
        assert!(matches!(foreign, LinkError::Denied { .. }), "{foreign}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_with_a_password_wants_it() {
    for brand in Brand::BOTH {
        let server = Server::with(brand, Setup::default().password("open-sesame"));
        works(Config::from(&server.url())).await;
        let without = Link::open(&format!("redis://{}", server.address())).await.expect_err("refused");
        assert!(matches!(without, LinkError::Denied { .. }), "{without}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tls_needs_the_right_authority() {
    // The Valkey of PyPI is built without TLS, so Redis stands for both here.
    let folder = tempfile::tempdir().expect("a folder");
    let made = certificates::make(folder.path());
    let port = support::server::free_port();
    let setup = Setup::default()
        .with(format!("tls-port {port}"))
        .with(format!("tls-cert-file {}", made.certificate.display()))
        .with(format!("tls-key-file {}", made.key.display()))
        .with(format!("tls-ca-cert-file {}", made.authority.display()))
        .with("tls-auth-clients no");
    let _server = Server::with(Brand::Redis, setup);
    let config =
        Config { tls_ca: Some(made.authority), ..Config::from(&format!("rediss://127.0.0.1:{port}")) };
    works(config.clone()).await;
    let missing = Config { tls_ca: Some("missing.pem".into()), ..config.clone() };
    let error = Link::open(missing).await.expect_err("no such file");
    assert!(error.to_string().contains("missing.pem"), "{error}");
    let stranger = tempfile::tempdir().expect("a folder");
    let other = certificates::make(stranger.path()).authority;
    let error = Link::open(Config { tls_ca: Some(other), ..config }).await.expect_err("refused");
    assert!(matches!(error, LinkError::Untrusted { .. }), "{error:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_cannot_be_reached_at_the_start_is_named() {
    let nobody = format!("redis://127.0.0.1:{}", support::server::free_port());
    let error = Link::open(&nobody).await.expect_err("nobody");
    assert!(matches!(error, LinkError::Unreachable { .. }), "{error}");
    assert!(error.to_string().contains(&nobody[8..]), "{error}");
    let server = Server::start(Brand::Redis);
    for (topology, text) in [(Topology::Sentinel, "sentinel"), (Topology::Cluster, "topology = single")] {
        let sentinel = Sentinel { master: "onsale".to_owned(), ..Sentinel::default() };
        let error =
            Link::open(Config { topology, sentinel, ..Config::from(&server.url()) }).await.expect_err("none");
        assert!(error.to_string().contains(text), "{error}");
    }
}

/// Each bad day has its own error, and the port's error behind it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bad_days_are_told_apart() {
    for brand in Brand::BOTH {
        let server = Server::start(brand);
        let link = Link::open(&server.url()).await.expect("a link");
        let script = count();
        let gone = call(&link, &script, "a").await.expect_err("never loaded");
        assert!(matches!(gone, LinkError::Forgotten { .. }), "{gone}");
        assert_eq!(EngineError::from(gone), EngineError::Recovering);
        load(&link, &script).await;

        server.tell("RPUSH list a");
        let error = call(&link, &script, "list").await.expect_err("no number");
        assert!(matches!(error, LinkError::WrongType { .. }), "{error}");
        assert!(matches!(EngineError::from(error), EngineError::Damaged(_)));

        server.tell("CONFIG SET maxmemory 1");
        let error = call(&link, &script, "a").await.expect_err("no memory");
        assert!(matches!(error, LinkError::OutOfMemory { .. }), "{error}");
        server.tell("CONFIG SET maxmemory 0");

        server.tell("CONFIG SET min-replicas-to-write 1");
        let error = call(&link, &script, "a").await.expect_err("no replica");
        assert!(matches!(error, LinkError::NoReplicas { .. }), "{error}");
        server.tell("CONFIG SET min-replicas-to-write 0");

        server.tell("REPLICAOF 127.0.0.1 1");
        let error = call(&link, &script, "a").await.expect_err("a replica");
        assert!(matches!(error, LinkError::ReadOnly { .. }), "{error}");
        assert!(matches!(EngineError::from(error), EngineError::Unavailable(_)));
        server.tell("REPLICAOF NO ONE");
        assert!(link.look().await);
        assert_eq!(call(&link, &script, "a").await, Ok(1), "nothing of all that counted");

        server.tell("CONFIG SET busy-reply-threshold 50");
        let slow = Script::new("slow", "1", "while true do end");
        load(&link, &slow).await;
        let error = call(&link, &slow, "a").await.expect_err("no answer");
        assert!(matches!(error, LinkError::Unknown { .. } | LinkError::Busy { .. }), "{error}");
        let node = link.node(&server.address());
        let size = redis::cmd("DBSIZE");
        met("it says that it is busy", async || {
            matches!(node.send(&size).await, Err(LinkError::Busy { .. }))
        })
        .await;
        let _ = server.say::<Value>("SCRIPT KILL");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_away_is_told_at_once_and_comes_back_by_itself() {
    for brand in Brand::BOTH {
        let mut server =
            Server::with(brand, Setup::default().with("appendonly yes").with("appendfsync always"));
        let link = Link::open(&server.url()).await.expect("a link");
        let script = count();
        load(&link, &script).await;
        assert_eq!(call(&link, &script, "a").await, Ok(1));
        server.kill();
        let error = call(&link, &script, "a").await.expect_err("away");
        assert!(error.is_retryable(), "{error}");
        let node = link.node(&server.address());
        // From here on nobody knocks at its door but the watch, and who asks is told at once.
        met("the watch knows that it is away", async || !node.is_up()).await;
        let error = call(&link, &script, "a").await.expect_err("away");
        assert!(matches!(error, LinkError::Unreachable { .. }), "{error}");
        server.start_again();
        met("it is back, without its scripts", async || match call(&link, &script, "a").await {
            Err(LinkError::Unreachable { .. } | LinkError::Loading { .. }) => false,
            Err(LinkError::Forgotten { .. }) => true,
            other => panic!("{other:?}"),
        })
        .await;
        met("the watch knows it", async || node.is_up()).await;

        load(&link, &script).await;
        server.pause();
        let error = call(&link, &script, "a").await.expect_err("no answer");
        assert!(matches!(error, LinkError::Unknown { .. }), "what was sent may be done: {error}");
        server.resume();
        assert!(link.look().await);
        assert!(call(&link, &script, "a").await.expect("an answer") >= 2);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sentinels_and_a_cluster_lead_to_their_masters() {
    for brand in Brand::BOTH {
        let trio = Trio::start(brand, 1);
        let config = Config {
            url: trio.urls(),
            topology: Topology::Sentinel,
            sentinel: Sentinel { master: sentinel::MASTER.to_owned(), ..Sentinel::default() },
            ..Config::default()
        };
        works(config.clone()).await;
        let other = Sentinel { master: "nobody".to_owned(), ..Sentinel::default() };
        let error = Link::open(Config { sentinel: other, ..config }).await.expect_err("no such master");
        assert!(error.to_string().contains("redis.sentinel.master"), "{error}");
        drop(trio);

        let six = Six::start(brand);
        let config =
            Config { url: six.urls()[..1].to_vec(), topology: Topology::Cluster, ..Config::default() };
        works(config.clone()).await;
        let link = Link::open(config).await.expect("a link");
        assert_eq!((link.map().masters.len(), link.map().replicas.len(), link.map().uncovered()), (3, 3, 0));
        let script = count();
        load(&link, &script).await;
        for number in 0..50 {
            assert_eq!(call(&link, &script, &format!("b:{{{number}}}")).await, Ok(1));
        }
        let keys = ["a:{1}".to_owned(), "a:{2}".to_owned()];
        let error = link.script(&script, &keys, &[]).await.expect_err("two slots");
        assert!(matches!(error, LinkError::CrossSlot { .. }), "{error}");
    }
}
