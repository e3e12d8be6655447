//! What an operator may meet: each with a clear answer, and all of them over without a restart.

use crate::server::ms;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::server::{Deployment, Server};
use crate::wire::{Answer, Wire, request};
use onsale_redis_servers::server::free_port;
use onsale_redis_servers::{Brand, Server as Redis, Setup};

fn hold(server: &Server, event: &str, seat: usize, buyer: &str) -> Answer {
    let body = json!({"seats": [format!("A-{seat}")]}).to_string();
    let path = format!("/v1/events/{event}/holds");
    server.try_exchange(&request("POST", &path, &[("onsale-buyer", buyer)], &body)).expect("an answer")
}

#[test]
fn starts_that_cannot_work_say_why() {
    let _alone = crate::alone();
    let redis = Redis::with(Brand::Redis, Setup::default().password("right"));
    let good = Deployment::single(&redis.url());
    let nobody = Deployment::single(&format!("redis://127.0.0.1:{}", free_port()));
    for (deployment, words) in [
        (nobody, "no redis server answers"),
        (good.clone().with("ONSALE_REDIS__PASSWORD", "wrong"), "refuses user or password"),
        (good.clone().without("ONSALE_REDIS__DURABILITY"), "redis.durability"),
        (good.clone().without("ONSALE_HOUSE_KEY"), "house_key"),
        (good.clone().with("ONSALE_ENGINE", "postgres"), "embedded"),
    ] {
        let told = deployment.refused();
        assert!(told.contains(words), "{words}: {told}");
        assert!(!told.contains("wrong\"") && !told.contains(":right@"), "{told}");
    }
    redis.tell("CONFIG SET maxmemory-policy allkeys-lru");
    let told = good.refused();
    assert!(told.contains("noeviction"), "{told}");
    redis.tell("CONFIG SET maxmemory-policy noeviction");
    let server = good.start();
    assert!(server.log().contains("what durable means here"), "{}", server.log());
}

#[test]
fn redis_away_means_503_at_once_and_stale_reads_and_then_all_is_well() {
    let _alone = crate::alone();
    // Once a second is not enough: with a busy disk Redis puts off even the write, and a killed one forgets the event.
    let setup = Setup::default().with("appendonly yes").with("appendfsync always");
    let mut redis = Redis::with(Brand::Redis, setup);
    let server = Deployment::single(&redis.url()).start();
    let event = server.create_event(10);
    assert_eq!(hold(&server, &event, 1, "ann").status, 201);
    let availability = format!("/v1/events/{event}/availability");
    let fresh = server.try_get(&availability).expect("an answer");
    assert_eq!(fresh.header("onsale-stale"), None);
    redis.kill();
    server.until("it is noticed", |one| one.try_get("/readyz").is_some_and(|told| told.status == 503));
    let begun = Instant::now();
    let refused = hold(&server, &event, 2, "ann");
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("1")), "{:?}", refused.json());
    assert!(begun.elapsed() < Duration::from_millis(500), "{:?}", begun.elapsed());
    let stale = server.try_get(&availability).expect("an answer");
    assert_eq!((stale.status, stale.header("onsale-stale")), (200, Some("true")));
    assert_eq!(stale.json()["totals"], fresh.json()["totals"]);
    assert_eq!(server.try_get(&format!("/v1/events/{event}")).expect("an answer").status, 200);
    let metrics = server.try_get("/metrics").expect("an answer");
    assert!(String::from_utf8_lossy(&metrics.body).contains("onsale_engine_store_down 1"));
    redis.start_again();
    let took = server.until("it goes on", |one| hold(one, &event, 2, "ann").status == 201);
    println!("went on {took:?} after redis");
    server.until("reads are fresh", |one| {
        one.try_get(&availability)
            .is_some_and(|told| told.status == 200 && told.header("onsale-stale").is_none())
    });
}

#[test]
fn troubles_of_redis_have_their_own_answers() {
    let _alone = crate::alone();
    let redis = Redis::start(Brand::Redis);
    let server = Deployment::single(&redis.url()).start();
    let event = server.create_event(20);
    let mut seat = 0;
    let mut next = || {
        seat += 1;
        hold(&server, &event, seat, "ann")
    };
    assert_eq!(next().status, 201);
    // Out of memory.
    redis.tell("CONFIG SET maxmemory 1");
    assert_eq!((next().status, next().json()["code"].as_str()), (503, Some("store_unavailable")));
    redis.tell("CONFIG SET maxmemory 0");
    assert_eq!(next().status, 201);
    // Scripts forgotten: the node may have forgotten more, so another epoch begins.
    let before = server.get(&format!("/v1/events/{event}"))["position"].clone();
    redis.tell("SCRIPT FLUSH");
    let took = server.until("it goes on", |one| hold(one, &event, 10, "bob").status == 201);
    println!("recovered within {took:?}");
    let after = server.get(&format!("/v1/events/{event}"))["position"].clone();
    assert_ne!(before.as_str().map(|at| at.split('-').next()), after.as_str().map(|at| at.split('-').next()));
    // Somebody else's key where ours should be.
    redis.tell(&format!("DEL onsale:seat:queue:{{{event}}}"));
    redis.tell(&format!("SET onsale:seat:queue:{{{event}}} foreign"));
    let path = format!("/v1/events/{event}/seats/A-1/queue");
    let told =
        server.try_exchange(&request("POST", &path, &[("onsale-buyer", "cleo")], "{}")).expect("an answer");
    assert_eq!(
        (told.status, told.json()["code"].as_str()),
        (500, Some("store_damaged")),
        "{:?}",
        told.json()
    );
    redis.tell(&format!("DEL onsale:seat:queue:{{{event}}}"));
    // Somebody's script that does not end.
    redis.tell("CONFIG SET busy-reply-threshold 50");
    let mut foreign = redis.connect().expect("a connection");
    foreign.set_read_timeout(None).expect("patience");
    let endless = std::thread::spawn(move || {
        redis::cmd("EVAL").arg("while true do end").arg(0).exec(&mut foreign).expect_err("it is ended")
    });
    let mut other = redis.connect().expect("a connection");
    let begun = Instant::now();
    while redis::cmd("PING").exec(&mut other).is_ok() {
        assert!(begun.elapsed() < Duration::from_secs(60), "the script has not begun");
    }
    // Buyers are told to come again, and the operator what to do.
    server.until("it is told", |one| {
        let told = hold(one, &event, 12, "bob");
        assert_eq!(told.status, 503, "{:?}", told.json());
        told.json()["code"] == "store_unavailable" && one.log().contains("`SCRIPT KILL` ends")
    });
    redis.tell("SCRIPT KILL");
    endless.join().expect("ended");
    server.until("it goes on", |one| hold(one, &event, 13, "bob").status == 201);
    // A replica takes no writes.
    redis.tell(&format!("REPLICAOF 127.0.0.1 {}", free_port()));
    server.until("it is noticed", |one| hold(one, &event, 11, "bob").status == 503);
    redis.tell("REPLICAOF NO ONE");
    server.until("it goes on", |one| hold(one, &event, 11, "bob").status == 201);
}

#[test]
fn a_stream_at_one_server_shows_a_hold_made_at_the_other() {
    let _alone = crate::alone();
    let redis = Redis::start(Brand::Redis);
    let deployment = Deployment::single(&redis.url());
    let (one, other) = (deployment.start(), deployment.start());
    let event = one.create_event(10);
    let mut stream = Wire::connect(other.address).expect("connects");
    stream.send(&request("GET", &format!("/v1/events/{event}/stream"), &[], "")).expect("sent");
    let mut text = String::new();
    while !text.contains("event: position") {
        text += &stream.receive_some().expect("the stream's head");
    }
    let held = hold(&one, &event, 3, "ann");
    let begun = Instant::now();
    let id = held.json()["id"].as_str().expect("an id").to_owned();
    while !(text.contains("event: hold_placed") && text.contains(&id)) {
        text += &stream.receive_some().expect("more of the stream");
    }
    println!("seen at the other after {:?}", begun.elapsed());
    // A token made at one is good at the other, and both tell the same time.
    let token = held.json()["token"].as_str().expect("a token").to_owned();
    let path = format!("/v1/holds/{id}/confirm");
    let sold = other
        .try_exchange(&request("POST", &path, &[("hold-token", &token)], r#"{"paid_elsewhere":true}"#))
        .expect("an answer");
    assert!(sold.status < 300, "{:?}", sold.json());
    let time = |server: &Server| ms(&server.get("/v1/time")["now"]);
    assert!((time(&one) - time(&other)).abs() < 1_000);
}
