//! `onsale load mixed` against a running server: a run ends exact, and an export that was tampered with is found out.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;

use onsale_engine::embedded::{EmbeddedEngine, Options};
use serde_json::{Value, json};

use crate::house::{House, KEY};

fn mixed(more: &[&str]) -> (bool, Value) {
    let args = [&["load", "mixed", "--json", "--yes"], more].concat();
    let output: Output =
        Command::new(env!("CARGO_BIN_EXE_onsale")).args(args).output().expect("the binary runs");
    let told = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    (output.status.success(), told)
}

fn judge(file: &Path) -> Value {
    let (exact, told) = mixed(&["--judge", file.to_str().expect("a plain path")]);
    assert_eq!(told["check"]["exact"], exact);
    told["check"].clone()
}

/// A run of every kind but what must be waited for: no lapse, no payment that is never answered.
fn run(folder: &Path) -> (Value, PathBuf) {
    let engine = Arc::new(EmbeddedEngine::open(&folder.join("data"), Options::default()).expect("opens"));
    let house = House::serve(|config| config.payments.fee_per_order_minor = 30, engine.clone());
    let export = folder.join("run.json");
    let server = format!("http://{}", house.address);
    let (exact, told) = mixed(&[
        "--key",
        KEY,
        "--server",
        &server,
        "--house-key",
        "house",
        "--buyers",
        "240",
        "--auctions",
        "1",
        "--bidding",
        "2s",
        "--connections",
        "16",
        "--lapses",
        "0",
        "--silent",
        "0",
        "--seed",
        "11",
        "--export",
        export.to_str().expect("a plain path"),
    ]);
    assert!(exact, "{told:#}");
    drop(house);
    engine.close();
    (told, export)
}

fn facts<'a>(record: &'a mut Value, group: &str) -> &'a mut Vec<Value> {
    record[group][0]["facts"].as_array_mut().expect("facts")
}

fn first<'a>(record: &'a mut Value, group: &str, kind: &str) -> &'a mut Value {
    let fact = facts(record, group).iter_mut().find(|fact| fact["kind"] == kind);
    fact.unwrap_or_else(|| panic!("no {kind} in {group}"))
}

fn without(record: &mut Value, group: &str, kind: &str) {
    let facts = facts(record, group);
    let place = facts.iter().position(|fact| fact["kind"] == kind);
    facts.remove(place.unwrap_or_else(|| panic!("no {kind} in {group}")));
}

fn twice(record: &mut Value, group: &str, kind: &str) {
    let facts = facts(record, group);
    let place = facts.iter().position(|fact| fact["kind"] == kind);
    let place = place.unwrap_or_else(|| panic!("no {kind} in {group}"));
    let fact = facts[place].clone();
    facts.insert(place, fact);
}

#[test]
fn a_mixed_run_ends_exact_and_a_falsified_export_is_found_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let (told, export) = run(folder.path());
    let check = &told["check"];
    let number = |name: &str| check[name].as_i64().unwrap_or_else(|| panic!("{name}: {check:#}"));
    assert_eq!(number("captured_minor") - number("refunded_minor"), number("confirmed_minor"));
    for name in [
        "confirmed",
        "captured_minor",
        "refunded_minor",
        "late_refunded",
        "places_sold",
        "units_sold",
        "bids",
    ] {
        assert!(number(name) > 0, "{name}: {told:#}");
    }
    // The first who come have a plan: these are met whatever the machine does.
    for mood in ["succeed", "decline", "action", "delay", "duplicate", "reorder", "lost", "down"] {
        assert!(told["payments"][mood].as_u64() > Some(0), "{mood}: {told:#}");
    }
    let again = judge(&export);
    assert_eq!((&again["exact"], &again["facts"]), (&json!(true), &check["facts"]));

    let honest: Value =
        serde_json::from_slice(&std::fs::read(&export).expect("reads")).expect("what was written");
    type Lie = (&'static [&'static str], fn(&mut Value));
    let lies: [Lie; 12] = [
        (&["money is kept"], |record| without(record, "events", "refund_owed")),
        (&["without their money", "and took 0"], |record| without(record, "sales", "payment_captured")),
        (&["captured twice"], |record| twice(record, "events", "payment_captured")),
        (&["used twice"], |record| twice(record, "sales", "purchased")),
        (&["a hold confirmed that nobody has"], |record| twice(record, "events", "hold_confirmed")),
        (&["money is kept"], |record| {
            let fact = first(record, "events", "payment_captured");
            fact["amount_minor"] = json!(fact["amount_minor"].as_i64().expect("an amount") + 1);
        }),
        (&["never paid"], |record| without(record, "events", "refund_paid")),
        (&["are ordered as"], |record| first(record, "sales", "order_placed")["goods_minor"] = json!(1)),
        (&["come back as"], |record| first(record, "events", "order_refunded")["amount_minor"] = json!(1)),
        (&["not in the facts"], |record| without(record, "events", "order_settled")),
        (&["follows bid"], |record| without(record, "auctions", "bid_placed")),
        (&["the facts say"], |record| {
            let seats = record["events"][0]["shown"]["seats"].as_object_mut().expect("seats");
            let sold = seats.values_mut().find(|status| **status == "sold").expect("a sold seat");
            *sold = json!("available");
        }),
    ];
    let lied = folder.path().join("lied.json");
    for (whys, lie) in lies {
        let mut record = honest.clone();
        lie(&mut record);
        std::fs::write(&lied, record.to_string()).expect("writes");
        let check = judge(&lied);
        let broken = check["broken"].as_array().expect("a list");
        let told = |told: &Value| whys.iter().any(|why| told.as_str().is_some_and(|told| told.contains(why)));
        assert!(broken.iter().any(told) && check["exact"] == false, "{whys:?}: {check:#}");
    }
}
