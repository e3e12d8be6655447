//! `onsale load sale` against a running server, and `onsale verify` of what it left on the disk.

use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;

use onsale_engine::embedded::{EmbeddedEngine, Options};
use serde_json::Value;

use crate::house::{House, KEY};

fn onsale(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_onsale")).args(args).output().expect("the binary runs")
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

fn load(house: &House<EmbeddedEngine>, more: &[&str]) -> Output {
    let server = format!("http://{}", house.address);
    let fixed = ["load", "sale", "--key", KEY, "--server", &server, "--json", "--connections", "8", "--yes"];
    onsale(&[&fixed, more].concat())
}

fn verify(folder: &Path) -> Output {
    onsale(&["verify", "--json", folder.to_str().expect("a plain path")])
}

#[test]
fn load_does_not_buy_on_a_server_that_is_no_demo_unless_told_to() {
    let house = House::open();
    let server = format!("http://{}", house.address);
    for kind in [&[][..], &["sale"], &["auction"], &["mixed"]] {
        let told = onsale(&[&["load"][..], kind, &["--key", KEY, "--server", &server]].concat());
        let words = String::from_utf8_lossy(&told.stderr);
        assert!(!told.status.success() && words.contains(&server) && words.contains("--yes"), "{told:?}");
    }
    for path in ["/v1/sales", "/v1/events", "/v1/auctions"] {
        assert_eq!(house.get(path).json()["data"], serde_json::json!([]), "{path}");
    }
}

#[test]
fn a_crowd_buys_exactly_what_there_is_and_the_folder_agrees() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = Arc::new(EmbeddedEngine::open(folder.path(), Options::default()).expect("opens"));
    let house = House::serve(|_| {}, engine.clone());
    // Without lapses, so that nobody has to wait for a code's deadline.
    let output = load(&house, &["--items", "40", "--buyers", "120", "--lapses", "0"]);
    let told = json(&output);
    assert!(output.status.success(), "{told:#}");
    assert_eq!((&told["check"]["exact"], &told["check"]["sold"]), (&true.into(), &40.into()), "{told:#}");
    assert!(told["check"]["promises"].as_u64().expect("a count") >= 40);

    let short = load(&house, &["--items", "40", "--buyers", "3", "--lapses", "0"]);
    assert!(!short.status.success(), "three buyers cannot buy forty");
    assert!(json(&short)["check"]["broken"][0].as_str().expect("why").contains("of 40 were sold"));
    drop(house);
    engine.close();

    let output = verify(folder.path());
    let report = json(&output);
    assert!(output.status.success(), "{report:#}");
    assert_eq!((&report["sound"], &report["sales"], &report["units"]), (&true.into(), &2.into(), &80.into()));
    let sold = json(&short)["check"]["sold"].as_u64().expect("a count");
    assert_eq!(report["units_sold"].as_u64(), Some(40 + sold));
}
