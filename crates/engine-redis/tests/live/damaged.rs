//! One key that is not what it should be: its listing alone is damaged, named with its key, and all others recover,
//! start and sell.

use std::time::Duration;

use onsale_domain::ListingId;
use onsale_engine::packed::is_packed;
use onsale_engine::{Engine, EngineError};
use onsale_engine_redis::Keys;
use onsale_engine_redis::inspect::{Depth, inspect};
use onsale_engine_redis::live::{Options, RedisEngine};

use super::house::{create, event, hold, open, until};
use super::support::{Brand, Server};

/// The keys of a listing under the engine's own prefix.
fn keys(engine: &RedisEngine, listing: &ListingId) -> Keys {
    Keys::new(&engine.link().config().prefix, listing)
}

/// Asks until the seat is held; every other answer on the way must be "try again".
async fn sells(engine: &RedisEngine, listing: ListingId, seat: u32) {
    let begun = tokio::time::Instant::now();
    loop {
        match hold(engine, listing, seat, "ann", 600_000).await {
            Ok(answer) => return assert!(answer.outcome.refused().is_none(), "{:?}", answer.outcome),
            Err(error) => assert!(error.is_retryable(), "{listing}: {error}"),
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "{listing} never sells again");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Asks until the listing is told to be damaged, by its key.
async fn is_damaged(engine: &RedisEngine, listing: ListingId, key: &str) {
    let begun = tokio::time::Instant::now();
    loop {
        match hold(engine, listing, 90, "bob", 600_000).await {
            Err(EngineError::Damaged(why)) => return assert!(why.contains(key), "{key}: {why}"),
            Err(error) => assert!(error.is_retryable(), "{error}"),
            Ok(answer) => panic!("{listing} was decided: {:?}", answer.outcome),
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "{listing} is never told to be damaged");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// What may happen to the keys of one listing; each with the key that is to be named.
fn harms(keys: &Keys) -> Vec<(&'static str, Vec<String>, String)> {
    let (meta, head) = (keys.meta().to_owned(), keys.head().to_owned());
    vec![
        (
            "another type at its head",
            vec![format!("DEL {head}"), format!("SET {head} foreign")],
            head.clone(),
        ),
        ("a junk head", vec![format!("HSET {head} head junk")], head.clone()),
        ("no head in its hash", vec![format!("HDEL {head} head")], head.clone()),
        ("its meta deleted", vec![format!("DEL {meta}")], meta.clone()),
        ("another type at its meta", vec![format!("DEL {meta}"), format!("SET {meta} foreign")], meta),
        ("its head deleted", vec![format!("DEL {head}")], head),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_listing_does_not_stop_the_recovery_of_the_others() {
    let server = Server::start(Brand::Redis);
    let engine = open(&server.url(), Options::default()).await;
    let healthy = event(100);
    create(&engine, healthy).await;
    for (number, what) in (1..).zip(["type", "junk", "none"]) {
        let listing = event(number);
        create(&engine, listing).await;
        let keys = keys(&engine, &listing);
        let (_, harm, key) = harms(&keys).remove(number as usize - 1);
        harm.iter().for_each(|line| server.tell(line));
        let epoch = engine.view(&healthy).expect("known").position.epoch;
        server.tell("SCRIPT FLUSH");
        sells(&engine, healthy, number as u32).await;
        let after = engine.view(&healthy).expect("known").position.epoch;
        assert!(after > epoch, "{what}: the others go on under a new epoch");
        is_damaged(&engine, listing, &key).await;
        let told = engine.status();
        assert_eq!(told.store_down, None, "{what}: the node is well");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_only_looks_like_ours_is_left_alone_by_a_recovery() {
    let server = Server::start(Brand::Redis);
    let engine = open(&server.url(), Options::default()).await;
    let listing = event(1);
    create(&engine, listing).await;
    let prefix = engine.link().config().prefix.clone();
    server.tell(&format!("SET {prefix}app:meta:{{77}} hello"));
    server.tell(&format!("SET {prefix}event:meta:{{77}} hello"));
    server.tell(&format!("HSET {prefix}app:meta:{{78}} epoch 5"));
    server.tell(&format!("HSET {prefix}other:event:meta:{{{}}} epoch 5", event(9)));
    server.tell(&format!("HSET {prefix}other:seat:locks:{{{}}} head hash|5|1|1||0|0|0|0|0|0", event(9)));
    let names = [
        "app:meta:{77}".to_owned(),
        "event:meta:{77}".to_owned(),
        "app:meta:{78}".to_owned(),
        format!("other:event:meta:{{{}}}", event(9)),
        format!("other:seat:locks:{{{}}}", event(9)),
    ];
    let bytes = || -> Vec<Vec<u8>> {
        let dump = |name: &String| server.say(&format!("DUMP {prefix}{name}")).expect("it is still there");
        names.iter().map(dump).collect()
    };
    let before = bytes();
    server.tell("SCRIPT FLUSH");
    sells(&engine, listing, 1).await;
    assert!(bytes() == before, "a recovery has changed what is not ours");
    let found: Vec<String> = server.say(&format!("KEYS {prefix}*{{{}}}*", event(9))).expect("keys");
    assert_eq!(found.len(), 2, "a house with a longer prefix is another house: {found:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_starts_beside_a_damaged_listing() {
    let server = Server::start(Brand::Redis);
    let first = open(&server.url(), Options::default()).await;
    let healthy = event(100);
    create(&first, healthy).await;
    let mut all = Vec::new();
    for (number, (what, harm, key)) in (1_u64..).zip(harms(&keys(&first, &event(1)))) {
        let own = |text: &str| text.replace(&event(1).to_string(), &event(number).to_string());
        create(&first, event(number)).await;
        all.push((what, event(number), harm.iter().map(|line| own(line)).collect::<Vec<_>>(), own(&key)));
    }
    // A start finds them by the index as well as by a scan.
    let index = format!("ZCARD {}listings", first.link().config().prefix);
    until("all are in the index", || server.say::<usize>(&index).is_ok_and(|count| count == all.len() + 1))
        .await;
    first.close();
    drop(first);
    all.iter().flat_map(|(_, _, harm, _)| harm).for_each(|line| server.tell(line));
    let engine = open(&server.url(), Options::default()).await;
    sells(&engine, healthy, 1).await;
    for (what, listing, _, key) in &all {
        println!("{what}");
        let told = engine.look_up(*listing).await.expect_err("it cannot be read");
        assert!(matches!(&told, EngineError::Damaged(why) if why.contains(key)), "{what}: {told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_damaged_during_a_recovery_goes_on_under_a_new_epoch_when_it_is_whole() {
    let server = Server::start(Brand::Redis);
    let one = open(&server.url(), Options::default()).await;
    let listing = event(1);
    create(&one, listing).await;
    sells(&one, listing, 1).await;
    let before = one.view(&listing).expect("known").position;
    let (head, aside) = (keys(&one, &listing).head().to_owned(), format!("aside:{{{listing}}}"));
    server.tell(&format!("RENAME {head} {aside}"));
    server.tell(&format!("SET {head} foreign"));
    let mut recoveries = one.deployment().recoveries();
    recoveries.mark_unchanged();
    server.tell("SCRIPT FLUSH");
    recoveries.changed().await.expect("a recovery");
    is_damaged(&one, listing, &head).await;
    let damaged = one.status().damaged;
    assert_eq!((damaged.len(), damaged[0].listing, &damaged[0].key), (1, listing, &head), "{damaged:?}");
    assert!(one.is_stale(Some(&listing)), "what is shown of it may be old");
    // A server that has not seen the recovery must not decide under the old epoch, either.
    let two = open(&server.url(), Options::default()).await;
    is_damaged(&two, listing, &head).await;
    server.tell(&format!("RENAME {aside} {head}"));
    sells(&two, listing, 2).await;
    let after = two.view(&listing).expect("known").position;
    assert!(after.epoch > before.epoch && after.offset == before.offset + 1, "{before:?} {after:?}");
    sells(&one, listing, 3).await;
    until("nothing is damaged", || one.status().damaged.is_empty() && two.status().damaged.is_empty()).await;
    assert_eq!(one.view(&listing).expect("known").position.offset, before.offset + 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_key_in_the_place_of_an_index_stops_no_start() {
    let server = Server::start(Brand::Redis);
    let first = open(&server.url(), Options::default()).await;
    create(&first, event(1)).await;
    first.close();
    drop(first);
    for name in ["listings", "due", "derived:writer"] {
        server.tell(&format!("DEL onsale:{name}"));
        server.tell(&format!("RPUSH onsale:{name} foreign"));
    }
    let engine = open(&server.url(), Options::default()).await;
    sells(&engine, event(1), 1).await;
    server.tell("SCRIPT FLUSH");
    sells(&engine, event(1), 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_doctor_names_every_damaged_listing_by_its_key_and_no_other() {
    let server = Server::start(Brand::Valkey);
    let engine = open(&server.url(), Options::default()).await;
    create(&engine, event(100)).await;
    sells(&engine, event(100), 1).await;
    let mut all = Vec::new();
    for (number, (what, harm, key)) in (1_u64..).zip(harms(&keys(&engine, &event(1)))) {
        let own = |text: &str| text.replace(&event(1).to_string(), &event(number).to_string());
        create(&engine, event(number)).await;
        all.push((what, harm.iter().map(|line| own(line)).collect::<Vec<_>>(), own(&key)));
    }
    let index = format!("ZCARD {}listings", engine.link().config().prefix);
    until("all are in the index", || server.say::<usize>(&index).is_ok_and(|count| count == all.len() + 1))
        .await;
    let told = async || -> Vec<String> {
        let report = inspect(engine.link(), Depth::Doctor).await.expect("a report");
        let damaged = report.findings.iter().filter(|finding| finding.code == "damaged");
        damaged.map(|finding| finding.sentence()).collect()
    };
    assert!(told().await.is_empty(), "{:?}", told().await);
    all.iter().flat_map(|(_, harm, _)| harm).for_each(|line| server.tell(line));
    let told = told().await;
    for (what, _, key) in &all {
        let named = told.iter().filter(|line| line.contains(&format!("`{key}`"))).count();
        assert_eq!(named, 1, "{what}: {told:#?}");
    }
    assert_eq!(told.len(), all.len(), "{told:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_packed_chart_that_does_not_unpack_damages_its_listing_alone() {
    let server = Server::start(Brand::Redis);
    let engine = open(&server.url(), Options::default()).await;
    let (hurt, healthy) = (event(1), event(2));
    create(&engine, hurt).await;
    create(&engine, healthy).await;
    let meta = keys(&engine, &hurt).meta().to_owned();
    let chart = redis::cmd("HGET").arg(&meta).arg("chart").to_owned();
    let Ok(redis::Value::BulkString(good)) = engine.link().query(&chart).await else { panic!("no chart") };
    assert!(is_packed(&good), "a long chart is packed");
    let mut bad = good.clone();
    bad[good.len() / 2] ^= 1;
    let write = |chart: &[u8]| redis::cmd("HSET").arg(&meta).arg("chart").arg(chart).to_owned();
    engine.link().query(&write(&bad)).await.expect("it is written");
    // Whoever knows the chart goes on; a server that has to read it refuses this listing alone.
    sells(&engine, hurt, 1).await;
    let late = open(&server.url(), Options::default()).await;
    sells(&late, healthy, 1).await;
    is_damaged(&late, hurt, "chart").await;
    engine.link().query(&write(&good)).await.expect("it is written");
    let begun = tokio::time::Instant::now();
    while let Err(error) = hold(&late, hurt, 2, "ann", 600_000).await {
        assert!(matches!(error, EngineError::Damaged(_)), "{error}");
        assert!(begun.elapsed() < Duration::from_secs(30), "it is never looked at again");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
