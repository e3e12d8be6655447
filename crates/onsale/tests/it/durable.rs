//! The server on the embedded engine: what was answered is there after a restart.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::Arc;

use onsale_engine::Engine;
use onsale_engine::embedded::clock::ManualClock;
use onsale_engine::embedded::{EmbeddedEngine, Options};
use serde_json::json;

use crate::house::House;

#[test]
fn what_was_answered_is_there_after_a_restart() {
    let folder = tempfile::tempdir().expect("a folder");
    let open = || Arc::new(EmbeddedEngine::open(folder.path(), Options::default()).expect("opens"));
    let keyed = [("onsale-buyer", "ann"), ("idempotency-key", "one")];
    let (event, hold, order) = {
        let engine = open();
        let house = House::serve(|_| {}, engine.clone());
        let event = house.event();
        let hold = house.post(&format!("/v1/events/{event}/holds"), &keyed, json!({"seats": ["A-1-1"]}));
        let sold = house.hold(&event, "bob", &["A-1-2"]);
        let path = format!("/v1/holds/{}/confirm", sold["id"].as_str().expect("an id"));
        let token = sold["token"].as_str().expect("a token");
        let order =
            house.post(&path, &[("hold-token", token)], json!({"paid_elsewhere": true})).json()["order"]
                .clone();
        drop(house);
        engine.close();
        (event, hold, order.as_str().expect("an order").to_owned())
    };
    let engine = open();
    let house = House::serve(|_| {}, engine.clone());
    let shown = house.get(&format!("/v1/events/{event}/seats")).json();
    assert_eq!((&shown["seats"]["A-1-1"], &shown["seats"]["A-1-2"]), (&json!("held"), &json!("sold")));
    assert_eq!(house.get(&format!("/v1/orders/{order}")).json()["total_minor"], 4500);
    let again = house.post(&format!("/v1/events/{event}/holds"), &keyed, json!({"seats": ["A-1-1"]}));
    assert_eq!((again.status, again.header("idempotent-replayed")), (201, Some("true")));
    assert_eq!(again.body, hold.body);
    let token = hold.json()["token"].as_str().expect("a token").to_owned();
    let path = format!("/v1/holds/{}", hold.json()["id"].as_str().expect("an id"));
    assert_eq!(house.send("DELETE", &path, &[("hold-token", &token)], None).status, 200);
    let facts = house.get(&format!("/v1/events/{event}/facts?limit=100")).json();
    assert_eq!(
        facts["data"].as_array().and_then(|facts| facts.last().cloned()).expect("facts")["kind"],
        "hold_released"
    );
    drop(house);
    engine.close();
}

/// The listing's time stands still until the clock has caught up, which nobody would understand otherwise.
#[test]
fn a_clock_that_ran_ahead_is_logged_at_start_with_by_how_much() {
    let folder = tempfile::tempdir().expect("a folder");
    let wall = EmbeddedEngine::open(folder.path(), Options::default()).expect("opens");
    let now = wall.now();
    wall.close();
    drop(wall);
    let clock = Arc::new(ManualClock::at(now + 3_600_000));
    let engine = EmbeddedEngine::open(folder.path(), Options { clock, ..Options::default() }).expect("opens");
    let engine = Arc::new(engine);
    let house = House::serve(|_| {}, engine.clone());
    let event = house.event();
    drop(house);
    engine.close();
    drop(engine);

    let mut serve = Command::new(env!("CARGO_BIN_EXE_onsale"));
    serve.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(folder.path());
    // What the tests' own runner says in the environment is not for the server.
    std::env::vars().filter(|(name, _)| name.starts_with("ONSALE_")).for_each(|(name, _)| {
        serve.env_remove(name);
    });
    serve.env("ONSALE_LOG__FORMAT", "json");
    let mut server = serve.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the binary starts");
    let log = server.stderr.take().expect("a log");
    let mut told = String::new();
    for line in BufReader::new(log).lines().map_while(Result::ok) {
        told.push_str(&line);
        if line.contains("keys open this server") {
            break;
        }
    }
    server.kill().and_then(|()| server.wait()).expect("it ends");
    assert!(told.contains("ran ahead") && told.contains(&event), "{told}");
    let ahead = told.split("\"ahead_ms\":").nth(1).and_then(|rest| rest.split([',', '}']).next());
    let ahead: i64 = ahead.and_then(|ahead| ahead.trim().parse().ok()).expect("by how much");
    assert!((3_000_000..=3_600_000).contains(&ahead), "{ahead}");
}
