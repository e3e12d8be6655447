//! A node that forgot its scripts may have forgotten more: its listings go on under a new epoch, and until then the
//! answer is "try again", never "no such listing".

#[path = "recovery/first_start.rs"]
mod first_start;
mod support;

use std::time::{Duration, Instant};

use onsale_domain::{ListingId, ListingKind, Tenant};
use onsale_engine_redis::deployment::{Deployment, knowledge};
use onsale_engine_redis::layout::Layout;
use onsale_engine_redis::link::config::Topology;
use onsale_engine_redis::link::{Config, Link, LinkError};
use onsale_engine_redis::scripts::Name;
use onsale_engine_redis::{Keys, Scripts};
use redis::Value;
use support::counter::{CountReply, Release, count, join, keys};
use support::{Brand, Server, Setup, Six};

/// Longer than anything here takes on a machine whose cores are all taken.
const SOON: Duration = Duration::from_secs(60);

fn told(epoch: u64, offset: u64, again: bool) -> CountReply {
    CountReply { epoch, offset, again }
}

/// Asks until it is answered; every other answer on the way must be "try again".
async fn patiently<const N: usize>(
    server: &Deployment<Release<N>>,
    listing: u32,
    operation: &str,
) -> CountReply {
    let begun = Instant::now();
    loop {
        match count(server, listing, operation).await {
            Ok(told) => return told,
            Err(error) => assert!(error.is_retryable(), "{error}"),
        }
        assert!(begun.elapsed() < SOON, "never answered");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_server_makes_a_generation_and_the_second_joins_it() {
    for brand in Brand::BOTH {
        let server = Server::start(brand);
        let config = Config { prefix: "house:".to_owned(), ..Config::from(&server.url()) };
        let one = join::<1>(&config).await;
        let two = join::<1>(&config).await;
        assert_eq!(one.current().generation.number, 1);
        assert_eq!(one.current().generation, two.current().generation);
        assert!(one.is_whole() && two.is_whole());
        assert_eq!(count(&one, 1, "a").await, Ok(told(1, 1, false)));
        assert_eq!(count(&two, 1, "a").await, Ok(told(1, 1, true)), "the same operation, the first answer");
        assert_eq!(count(&two, 1, "b").await, Ok(told(1, 2, false)));
        let keys: Vec<String> = server.say("KEYS house:*{onsale}*").expect("keys");
        assert_eq!(keys.len(), 2, "the generation and how far we counted: {keys:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restarted_server_is_recovered_with_its_state_under_a_new_epoch() {
    for brand in Brand::BOTH {
        let mut server =
            Server::with(brand, Setup::default().with("appendonly yes").with("appendfsync always"));
        let config = Config::from(&server.url());
        let one = join::<1>(&config).await;
        let two = join::<1>(&config).await;
        for listing in 0..40 {
            assert_eq!(count(&one, listing, "a").await, Ok(told(1, 1, false)));
        }
        server.kill();
        server.start_again();
        // Whether a server is refused meanwhile is luck: the recovery may be over before it asks. The epoch proves it.
        assert_eq!(
            patiently(&one, 3, "b").await,
            told(2, 2, false),
            "the state is kept, and it was not simply believed"
        );
        assert_eq!(patiently(&two, 3, "b").await, told(2, 2, true));
        for listing in 0..40 {
            assert_eq!(
                patiently(&two, listing, "a").await,
                told(1, 1, true),
                "what was answered stays answered"
            );
            assert_eq!(count(&two, listing, "c").await.expect("an answer").epoch, 2);
        }
        assert_eq!(
            patiently(&one, 99, "new").await,
            told(2, 1, false),
            "a new listing starts under the new epoch"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_epoch_that_was_forgotten_is_never_used_again() {
    for brand in Brand::BOTH {
        let mut server = Server::start(brand);
        let one = join::<1>(&Config::from(&server.url())).await;
        assert_eq!(count(&one, 1, "a").await, Ok(told(1, 1, false)));
        server.tell("SAVE");
        server.tell("SCRIPT FLUSH");
        assert_eq!(patiently(&one, 1, "b").await, told(2, 2, false));
        // All since the snapshot is gone: the decision, and that there ever was an epoch 2.
        server.kill();
        server.start_again();
        assert_eq!(
            patiently(&one, 1, "c").await,
            told(3, 2, false),
            "the position (2, 2) has a meaning already"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_loads_its_data_is_waited_for() {
    let mut server = Server::with(
        Brand::Redis,
        Setup::default().with("key-load-delay 300").with("loading-process-events-interval-bytes 1024"),
    );
    let one = join::<1>(&Config::from(&server.url())).await;
    let mut pipe = redis::pipe();
    (0..20_000).for_each(|number| {
        pipe.cmd("SET").arg(format!("other:{number}")).arg(number).ignore();
    });
    pipe.query::<()>(&mut server.connect().expect("a connection")).expect("written");
    assert_eq!(count(&one, 1, "a").await, Ok(told(1, 1, false)));
    server.tell("SAVE");
    server.kill();
    server.spawn_again();
    let begun = Instant::now();
    let mut loading = 0;
    let after = loop {
        match count(&one, 1, "b").await {
            Ok(told) => break told,
            Err(LinkError::Loading { .. }) => loading += 1,
            Err(error) => assert!(error.is_retryable(), "{error}"),
        }
        assert!(begun.elapsed() < SOON, "never answered");
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    println!("{loading} times: it is loading");
    assert!(loading > 0 && after == told(2, 2, false), "{after:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scripts_of_two_releases_stand_side_by_side() {
    let server = Server::start(Brand::Redis);
    let config = Config::from(&server.url());
    let old = join::<1>(&config).await;
    assert_eq!(count(&old, 1, "a").await, Ok(told(1, 1, false)));
    let new = join::<2>(&config).await;
    assert_eq!(count(&new, 1, "b").await, Ok(told(1, 2, false)), "a new release is no reason to recover");
    server.tell("SCRIPT FLUSH");
    assert_eq!(patiently(&new, 1, "c").await, told(2, 3, false));
    assert_eq!(patiently(&old, 1, "d").await, told(2, 4, false), "whoever recovered, both go on");
    assert_eq!(old.current().generation, new.current().generation);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_promoted_replica_is_not_believed_even_if_it_has_the_scripts() {
    // A master that followed another one for a while has all its old scripts, but not its old history.
    let server = Server::start(Brand::Redis);
    let other = Server::start(Brand::Redis);
    let one = join::<1>(&Config::from(&server.url())).await;
    assert_eq!(count(&one, 1, "a").await, Ok(told(1, 1, false)));
    server.tell(&format!("REPLICAOF 127.0.0.1 {}", other.port));
    support::eventually("it follows", || server.info("master_link_status").as_deref() == Some("up"));
    let mut recoveries = one.recoveries();
    server.tell("REPLICAOF NO ONE");
    let noticed = recoveries.wait_for(|number| *number > 1);
    tokio::time::timeout(SOON, noticed).await.expect("soon").expect("its other history is noticed");
    let after = patiently(&one, 1, "b").await;
    assert!(after.epoch > 1, "{after:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_missing_listing_key_starts_a_recovery() {
    let server = Server::start(Brand::Valkey);
    let one = join::<1>(&Config::from(&server.url())).await;
    assert_eq!(count(&one, 1, "a").await, Ok(told(1, 1, false)));
    assert_eq!(count(&one, 2, "a").await, Ok(told(1, 1, false)));
    let keys = keys(one.link().config(), 1);
    server.tell(&format!("DEL {} {}", keys.meta(), keys.head()));
    let mut recoveries = one.recoveries();
    recoveries.mark_unchanged();
    assert_eq!(one.suspect(keys.meta()), LinkError::Recovering);
    recoveries.changed().await.expect("a recovery");
    assert_eq!(patiently(&one, 2, "b").await, told(2, 2, false));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_node_of_a_cluster_is_recovered_while_the_others_go_on() {
    let six = Six::start(Brand::Redis);
    let config = Config { url: six.urls(), topology: Topology::Cluster, ..Config::default() };
    let one = join::<1>(&config).await;
    let two = join::<1>(&config).await;
    for listing in 0..30 {
        assert_eq!(count(&one, listing, "a").await, Ok(told(1, 1, false)));
    }
    six.nodes[0].say::<Value>("SCRIPT FLUSH").expect("done");
    let mut epochs = Vec::new();
    for listing in 0..30 {
        let told = patiently(&two, listing, "b").await;
        assert_eq!(told.offset, 2);
        epochs.push(told.epoch);
    }
    let raised = epochs.iter().filter(|epoch| **epoch == 2).count();
    println!("{raised} of 30 listings went on under a new epoch");
    assert!(raised > 0 && raised < 30, "{epochs:?}");
    let told = patiently(&one, 0, "c").await;
    assert_eq!(told.offset, 3);
    let mut recoveries = one.recoveries();
    let adopted = recoveries.wait_for(|number| *number == 2);
    tokio::time::timeout(SOON, adopted).await.expect("soon").expect("the other server adopts it");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_master_gets_a_script_when_it_is_first_called_there() {
    for brand in Brand::BOTH {
        let six = Six::start(brand);
        let config = Config { url: six.urls(), topology: Topology::Cluster, ..Config::default() };
        let link = Link::open(config).await.expect("a link");
        let server: Deployment<Scripts> = Deployment::join(&link).await.expect("a deployment");
        assert!(server.is_whole());
        let masters = link.map().masters.clone();
        let known = async |times: usize| {
            let mut counts = Vec::new();
            for master in &masters {
                let known = knowledge(&link, master).await.expect("told");
                assert!(known.believed && known.of > 10, "{known:?}");
                counts.push(known.scripts);
            }
            assert_eq!(counts.iter().sum::<usize>(), times, "{counts:?}");
        };
        known(0).await;
        let listing = ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Event, number: 1 };
        let keys = Keys::new(&link.config().prefix, &listing);
        // Many at once miss it, and every one is answered.
        let calls =
            (0..50).map(|_| server.call(|all| all.get(Name::READ_STATE, Layout::Hash), keys.all(), &[]));
        for answer in futures_util::future::join_all(calls).await {
            answer.expect("an answer");
        }
        known(1).await;
        assert_eq!(server.current().generation.number, 1, "a new script is no reason to recover");
    }
}

/// The line of docs/operating/redis.md, as it stands there.
fn documented_user() -> String {
    let text = include_str!("../../../docs/operating/redis.md");
    let line = text.lines().find(|line| line.starts_with("ACL SETUSER onsale")).expect("the line is there");
    line.replace(">…", ">secret")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_documented_user_may_do_all_that_is_needed() {
    for brand in Brand::BOTH {
        let server = Server::start(brand);
        server.tell(&documented_user());
        let config = Config {
            user: Some("onsale".to_owned()),
            password: Some("secret".to_owned()),
            ..Config::from(&server.url())
        };
        let one = join::<1>(&config).await;
        let head = keys(&config, 1).head().to_owned();
        server.tell(&format!("HSET {} name counter", keys(&config, 1).meta()));
        server.tell(&format!("HSET {head} head hash|1|5|0|on_sale|0|0|0|0|0|0"));
        server.tell("SCRIPT FLUSH");
        let mut recoveries = one.recoveries();
        let second = recoveries.wait_for(|number| *number == 2);
        tokio::time::timeout(SOON, second).await.expect("soon").expect("a recovery");
        let line: String = server.say(&format!("HGET {head} head")).expect("its head");
        assert_eq!(line, "hash|2|5|0|on_sale|0|0|0|0|0|0");
    }
}
