//! `onsale verify`: its own book counts the same places and the same line, and its advice fits what is broken.

use onsale_edge::http::time::Time;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;
use std::time::{Duration, Instant};

use onsale_engine::Engine;
use onsale_engine::embedded::{EmbeddedEngine, Options};
use serde_json::{Value, json};

use crate::house::House;

const DAY: i64 = 86_400_000;

#[test]
fn registrations_are_booked_a_second_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = Arc::new(EmbeddedEngine::open(folder.path(), Options::default()).expect("opens"));
    let house = House::serve(|_| {}, engine.clone());
    let now = engine.now();
    let wish = json!({
        "name": "Evening run", "opens_at": Time(now - 1), "starts_at": Time(now + 30 * DAY), "capacity": 2, "currency": "EUR",
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
    let gone = house.send("DELETE", &format!("/v1/entries/{ann}"), &[("onsale-buyer", "ann")], None);
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

#[test]
fn holds_that_grew_are_booked_a_second_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = Arc::new(EmbeddedEngine::open(folder.path(), Options::default()).expect("opens"));
    let house = House::serve(|_| {}, engine.clone());
    let event = house.event();
    let mut held = Vec::new();
    for (buyer, seats) in [("ann", ["A-1-1"]), ("bob", ["A-2-1"])] {
        let hold = house.hold(&event, buyer, &seats);
        let path = format!("/v1/holds/{}", hold["id"].as_str().expect("an id"));
        let next = format!("{}2", &seats[0][..4]);
        let body = json!({"add_seats": [next], "add_areas": [{"area": "floor", "count": 3}]});
        let token = [("hold-token", hold["token"].as_str().expect("a token"))];
        let grown = house.send("PATCH", &path, &token, Some(&body.to_string()));
        assert_eq!(grown.status, 200, "{grown:?}");
        held.push((path, grown.json()["token"].as_str().expect("a token").to_owned()));
    }
    let (path, token) = &held[0];
    let sold =
        house.post(&format!("{path}/confirm"), &[("hold-token", token)], json!({"paid_elsewhere": true}));
    assert_eq!(sold.status, 200, "{sold:?}");
    drop(house);
    engine.close();

    let output =
        Command::new(env!("CARGO_BIN_EXE_onsale")).args(["verify", "--json"]).arg(folder.path()).output();
    let output = output.expect("the binary runs");
    let report: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    assert!(output.status.success(), "{report:#}");
    let told = ["holds", "places_held", "orders", "places_sold"].map(|name| report[name].as_u64());
    assert_eq!(told, [Some(1), Some(5), Some(1), Some(5)], "{report:#}");
    assert_eq!(report["facts_by_kind"]["hold_grown"], 2);
}

fn verify(folder: &Path) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_onsale")).arg("verify").arg(folder).output();
    let Output { status, stdout, .. } = output.expect("the binary runs");
    (status.code(), String::from_utf8_lossy(&stdout).into_owned())
}

fn files(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let all = std::fs::read_dir(folder).expect("a folder");
    let mut files: Vec<PathBuf> = all.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix)));
    files.sort();
    files
}

/// A folder with an event, a few holds and, if bytes are named, snapshots.
fn folder(snapshot_every_bytes: u64) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let options = Options { snapshot_every_bytes, ..Options::default() };
    let engine = Arc::new(EmbeddedEngine::open(folder.path(), options).expect("opens"));
    let house = House::serve(|_| {}, engine.clone());
    let event = house.event();
    for seat in 1..=4 {
        house.hold(&event, "ann", &[&format!("A-1-{seat}")]);
    }
    let start = Instant::now();
    while snapshot_every_bytes < u64::MAX && files(folder.path(), "snapshot-").is_empty() {
        assert!(start.elapsed() < Duration::from_secs(60), "no snapshot");
        std::thread::yield_now();
    }
    drop(house);
    engine.close();
    folder
}

#[test]
fn a_damaged_snapshot_beside_a_whole_journal_needs_no_backup() {
    let folder = folder(1);
    let snapshots = files(folder.path(), "snapshot-");
    assert!(!snapshots.is_empty());
    assert_eq!(verify(folder.path()).0, Some(0));
    let newest = snapshots.last().expect("a snapshot");
    let mut bytes = std::fs::read(newest).expect("readable");
    *bytes.last_mut().expect("bytes") ^= 1;
    std::fs::write(newest, bytes).expect("writable");
    let (code, told) = verify(folder.path());
    assert_eq!(code, Some(1), "{told}");
    let name = newest.file_name().expect("a name").to_string_lossy();
    assert!(!told.contains("backup") && told.contains(&format!("remove {name}")), "{told}");
    std::fs::remove_file(newest).expect("removable");
    assert_eq!(verify(folder.path()).0, Some(0));
}

#[test]
fn a_journal_cut_short_inside_what_was_written_is_damaged() {
    let folder = folder(u64::MAX);
    let segment = &files(folder.path(), "journal-")[0];
    let bytes = std::fs::read(segment).expect("readable");
    let used = bytes.iter().rposition(|byte| *byte != 0).expect("frames") as u64;
    for len in [used, used - 40, bytes.len() as u64 / 2] {
        let file = std::fs::File::options().write(true).open(segment).expect("writable");
        file.set_len(len).expect("shorter");
        let (code, told) = verify(folder.path());
        assert_eq!(code, Some(1), "{told}");
        assert!(
            told.contains("DAMAGED") && told.contains("backup") && !told.contains("nobody was told"),
            "{told}"
        );
        assert!(EmbeddedEngine::open(folder.path(), Options::default()).is_err(), "{len}");
        std::fs::write(segment, &bytes).expect("as it was");
    }
    assert_eq!(verify(folder.path()).0, Some(0));
}
