//! The server on the embedded engine: what was answered is there after a restart.

use std::sync::Arc;

use onsale_engine::embedded::{Embedded, Options};
use serde_json::json;

use crate::house::House;

#[test]
fn what_was_answered_is_there_after_a_restart() {
    let folder = tempfile::tempdir().expect("a folder");
    let open = || Arc::new(Embedded::open(folder.path(), Options::default()).expect("opens"));
    let keyed = [("onsale-buyer", "ann"), ("idempotency-key", "one")];
    let (event, hold, order) = {
        let engine = open();
        let house = House::serve(|_| {}, engine.clone());
        let event = house.event();
        let hold = house.post(&format!("/v1/events/{event}/holds"), &keyed, json!({"seats": ["A-1-1"]}));
        let sold = house.hold(&event, "bob", &["A-1-2"]);
        let path = format!("/v1/events/{event}/holds/{}/confirm", sold["id"].as_str().expect("an id"));
        let token = sold["token"].as_str().expect("a token");
        let order = house.post(&path, &[("hold-token", token)], json!({})).json()["order"].clone();
        drop(house);
        engine.close();
        (event, hold, order.as_str().expect("an order").to_owned())
    };
    let engine = open();
    let house = House::serve(|_| {}, engine.clone());
    let shown = house.get(&format!("/v1/events/{event}/seats")).json();
    assert_eq!((&shown["seats"]["A-1-1"], &shown["seats"]["A-1-2"]), (&json!("held"), &json!("sold")));
    assert_eq!(house.get(&format!("/v1/events/{event}/orders/{order}")).json()["total_minor"], 4500);
    let again = house.post(&format!("/v1/events/{event}/holds"), &keyed, json!({"seats": ["A-1-1"]}));
    assert_eq!((again.status, again.header("idempotent-replayed")), (201, Some("true")));
    assert_eq!(again.body, hold.body);
    let token = hold.json()["token"].as_str().expect("a token").to_owned();
    let path = format!("/v1/events/{event}/holds/{}", hold.json()["id"].as_str().expect("an id"));
    assert_eq!(house.send("DELETE", &path, &[("hold-token", &token)], None).status, 200);
    let facts = house.get(&format!("/v1/events/{event}/facts?limit=100")).json();
    assert_eq!(
        facts["facts"].as_array().and_then(|facts| facts.last().cloned()).expect("facts")["kind"],
        "hold_released"
    );
    drop(house);
    engine.close();
}
