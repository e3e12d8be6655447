//! Start checks and the doctor against real servers: what is refused, what is told, and what durable means.

mod support;

use onsale_engine_redis::inspect::{Depth, Level, Report, at_start, inspect};
use onsale_engine_redis::link::config::{Durability, Notify, Sentinel, Topology};
use onsale_engine_redis::link::{Config, Link};
use support::counter::join;
use support::{Brand, Server, Setup, Six, Trio, sentinel};

async fn report(config: Config, depth: Depth) -> Report {
    let link = Link::open(config).await.expect("a link");
    inspect(&link, depth).await.expect("a report")
}

fn codes(report: &Report, level: Level) -> Vec<&'static str> {
    let mut codes: Vec<_> = report.of(level).map(|finding| finding.code).collect();
    codes.dedup();
    codes
}

fn enough(server: &Server) -> Config {
    Config { durability: Some(Durability::Redis), ..Config::from(&server.url()) }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_start_is_refused_where_the_truth_may_be_evicted_or_nobody_said_that_redis_is_enough() {
    for brand in Brand::BOTH {
        let server = Server::with(brand, Setup::default().with("appendonly yes"));
        let link = Link::open(&server.url()).await.expect("a link");
        let refused = at_start(&link, false).await.expect_err("refused").to_string();
        assert!(refused.contains("redis.durability"), "{refused}");
        assert!(at_start(&link, true).await.is_ok(), "records are behind it");

        let link = Link::open(enough(&server)).await.expect("a link");
        let durable = at_start(&link, false).await.expect("fine");
        assert_eq!(
            durable,
            "a yes is in Redis' log, which reaches the disk once a second: a crash may lose the last second."
        );
        for policy in ["allkeys-lru", "allkeys-lfu", "allkeys-random", "volatile-lru", "volatile-ttl"] {
            server.tell(&format!("CONFIG SET maxmemory-policy {policy}"));
            let refused = at_start(&link, false).await.expect_err("refused").to_string();
            assert!(refused.contains(policy) && refused.contains("noeviction"), "{refused}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_missing_is_told_with_what_to_change() {
    for brand in Brand::BOTH {
        let server = Server::start(brand);
        let found = report(enough(&server), Depth::Start).await;
        assert_eq!(codes(&found, Level::Problem), ["persistence"], "{:?}", found.findings);
        assert!(found.durable.contains("loses everything"), "{}", found.durable);
        server.tell("CONFIG SET appendonly yes");
        server.tell("CONFIG SET appendfsync no");
        let found = report(enough(&server), Depth::Start).await;
        assert_eq!(codes(&found, Level::Problem), ["fsync"], "{:?}", found.findings);
        server.tell("CONFIG SET appendfsync always");
        let found = report(enough(&server), Depth::Start).await;
        assert!(found.is_sound(), "{:?}", found.findings);
        assert_eq!(found.durable, "a yes is on Redis' disk before it is sent.");
        let product = format!("{brand:?}").to_lowercase();
        assert_eq!(found.nodes[0].product, product);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_doctor_compares_with_our_file_measures_and_looks_for_the_scripts() {
    let server = Server::with(Brand::Redis, Setup::default().with("appendonly yes").with("timeout 7"));
    let found = report(enough(&server), Depth::Doctor).await;
    assert!(found.is_sound(), "{:?}", found.findings);
    let advice: Vec<String> = found.of(Level::Advice).map(|finding| finding.sentence()).collect();
    for text in
        ["timeout is 7, ours is 0", "no generation of scripts", "notify-keyspace-events is \"\", ours is Ex"]
    {
        assert!(advice.iter().any(|line| line.contains(text)), "{text}: {advice:#?}");
    }
    let latency = found.nodes[0].latency.expect("measured");
    assert!(latency.p50_us > 0 && latency.p50_us <= latency.p99_us && latency.p99_us <= latency.max_us);
    assert!(found.nodes[0].clock_ahead_ms.expect("asked").abs() < 1_000);

    let config = Config { notify: Notify::Set, ..enough(&server) };
    server.tell("CONFIG SET notify-keyspace-events K$");
    let _server = join::<1>(&config).await;
    let flags: Vec<String> = server.say("CONFIG GET notify-keyspace-events").expect("flags");
    assert!("K$Ex".chars().all(|flag| flags[1].contains(flag)), "{flags:?}");
    let found = report(config.clone(), Depth::Doctor).await;
    let scripts = found.nodes[0].scripts.clone().expect("asked");
    assert!(scripts.believed && scripts.generation.is_some(), "{scripts:?}");
    drop(_server);
    server.tell("SCRIPT FLUSH");
    let found = report(config, Depth::Doctor).await;
    assert_eq!(codes(&found, Level::Problem), ["forgotten"], "{:?}", found.findings);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_may_not_read_the_configuration_is_told_so() {
    let server = Server::with(Brand::Valkey, Setup::default().with("appendonly yes"));
    server.tell("ACL SETUSER seller on >secret ~* &* +@all -@dangerous +role +info");
    let config =
        Config { user: Some("seller".to_owned()), password: Some("secret".to_owned()), ..enough(&server) };
    let found = report(config, Depth::Doctor).await;
    assert!(codes(&found, Level::Advice).contains(&"config_hidden"), "{:?}", found.findings);
    assert!(found.is_sound() && found.durable.contains("once a second"), "{}", found.durable);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sentinels_and_clusters_have_their_own_troubles() {
    let setup = Setup::default().with("appendonly yes");
    let mut trio = Trio::with(Brand::Redis, 1, &setup);
    let config = Config {
        url: trio.urls(),
        topology: Topology::Sentinel,
        sentinel: Sentinel { master: sentinel::MASTER.to_owned(), ..Sentinel::default() },
        ..Config::default()
    };
    let found = report(config.clone(), Depth::Doctor).await;
    assert_eq!(codes(&found, Level::Problem), ["min_replicas"], "{:?}", found.findings);
    assert_eq!(found.nodes.len(), 2, "the replica is looked at, too");
    trio.data[0].tell("CONFIG SET min-replicas-to-write 1");
    let found = report(config.clone(), Depth::Doctor).await;
    assert!(
        found.is_sound() && found.durable.contains("at most its last 10 s"),
        "{} {:?}",
        found.durable,
        found.findings
    );
    trio.sentinels[1].kill();
    trio.sentinels[2].kill();
    let found = report(config, Depth::Doctor).await;
    assert!(codes(&found, Level::Problem).contains(&"sentinel"), "{:?}", found.findings);
    drop(trio);

    let mut six = Six::with(Brand::Valkey, &setup.with("cluster-require-full-coverage no"));
    let config = Config { url: six.urls(), topology: Topology::Cluster, ..Config::default() };
    let found = report(config.clone(), Depth::Doctor).await;
    assert_eq!((found.nodes.len(), found.slots_without_master), (6, 0));
    assert_eq!(codes(&found, Level::Problem), ["min_replicas"], "{:?}", found.findings);
    six.nodes[0].tell("CLUSTER DELSLOTSRANGE 0 99");
    let link = Link::open(config).await.expect("a link");
    let gone = std::time::Instant::now();
    while link.map().uncovered() == 0 && gone.elapsed().as_secs() < 20 {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    let found = inspect(&link, Depth::Doctor).await.expect("a report");
    assert!(codes(&found, Level::Problem).contains(&"slots"), "{:?}", found.findings);
    six.nodes[4].kill();
    let found = inspect(&link, Depth::Doctor).await.expect("a report");
    assert!(codes(&found, Level::Problem).contains(&"unreachable"), "{:?}", found.findings);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_single_server_that_wants_a_replica_it_does_not_have_is_told_before_the_first_start() {
    for brand in Brand::BOTH {
        let setup = Setup::default().with("appendonly yes").with("min-replicas-to-write 1");
        let server = Server::with(brand, setup);
        for depth in [Depth::Start, Depth::Doctor] {
            let found = report(enough(&server), depth).await;
            assert_eq!(codes(&found, Level::Problem), ["replicas_behind"], "{:?}", found.findings);
            let told = found.of(Level::Problem).next().expect("a problem").sentence();
            assert!(
                told.contains("refuses every write") && told.contains("min-replicas-to-write 0"),
                "{told}"
            );
        }
        server.tell("CONFIG SET min-replicas-to-write 0");
        assert!(report(enough(&server), Depth::Doctor).await.is_sound());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_foreign_key_in_the_place_of_one_of_the_deployment_is_named() {
    let server = Server::with(Brand::Redis, Setup::default().with("appendonly yes"));
    let keys = [
        "generation:{onsale}",
        "generation:{onsale}:reserved",
        "recovery:{onsale}",
        "recovery:owed:{onsale}",
        "listings",
        "due",
        "derived:writer",
    ];
    for key in keys {
        server.tell(&format!("RPUSH onsale:{key} foreign"));
        let found = report(enough(&server), Depth::Doctor).await;
        let foreign = found.of(Level::Problem).filter(|finding| finding.code == "foreign");
        let told: Vec<String> = foreign.map(|finding| finding.sentence()).collect();
        assert!(told.len() == 1 && told[0].contains(&format!("`onsale:{key}`")), "{key}: {told:?}");
        server.tell(&format!("DEL onsale:{key}"));
    }
}
