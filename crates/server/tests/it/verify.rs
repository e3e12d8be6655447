//! `onsale verify` of a folder with registrations: its own book counts the same places and the same line.

use std::process::Command;
use std::sync::Arc;

use onsale_engine::Engine;
use onsale_engine::embedded::{Embedded, Options};
use serde_json::{Value, json};

use crate::house::House;

const DAY: i64 = 86_400_000;

#[test]
fn registrations_are_booked_a_second_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = Arc::new(Embedded::open(folder.path(), Options::default()).expect("opens"));
    let house = House::serve(|_| {}, engine.clone());
    let now = engine.now();
    let wish = json!({
        "name": "Evening run", "opens_at": now - 1, "starts_at": now + 30 * DAY, "capacity": 2, "currency": "EUR",
    });
    let made = house.post("/v1/registrations", &[], wish);
    assert_eq!(made.status, 201, "{made:?}");
    let path = format!("/v1/registrations/{}", made.json()["id"].as_str().expect("an id"));
    let register = |buyer: &str| {
        let answer = house.post(&format!("{path}/entries"), &[("onsale-buyer", buyer)], json!({}));
        assert!(answer.status < 300, "{answer:?}");
        answer.json()["id"].as_str().expect("an id").to_owned()
    };
    let ann = register("ann");
    for buyer in ["bob", "cid", "dan", "eve"] {
        register(buyer);
    }
    let gone = house.send("DELETE", &format!("{path}/entries/{ann}"), &[("onsale-buyer", "ann")], None);
    assert!(gone.status < 300, "{gone:?}");
    drop(house);
    engine.close();

    let folder = folder.path().to_str().expect("a plain path");
    let output = Command::new(env!("CARGO_BIN_EXE_onsale")).args(["verify", "--json", folder]).output();
    let output = output.expect("the binary runs");
    let report: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    assert!(output.status.success(), "{report:#}");
    let told = ["registrations", "entries", "entries_waiting"].map(|name| report[name].as_u64());
    assert_eq!(told, [Some(1), Some(2), Some(2)], "{report:#}");
}
