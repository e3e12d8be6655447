//! Facts say who made them where that was not the buyer: over HTTP, and offline from the folder.

mod scene;

use std::process::Command;
use std::sync::Arc;

use onsale_engine::Engine;
use onsale_engine::embedded::{EmbeddedEngine, Options};
use serde_json::Value;

use crate::house::House;
use scene::Scene;

#[test]
fn every_step_that_is_not_the_buyers_says_who_made_it_over_http_and_offline() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = Arc::new(EmbeddedEngine::open(folder.path(), Options::default()).expect("opens"));
    let house = House::serve(|_| {}, engine.clone());
    let send = |method: &str, path: &str, headers: &[(&str, &str)], body: &str| {
        let answer = house.send(method, path, headers, Some(body).filter(|body| !body.is_empty()));
        let told = if answer.body.is_empty() { Value::Null } else { answer.json() };
        (answer.status, told)
    };
    let logs = Scene::new(engine.now(), &send).play();
    drop(house);
    engine.close();

    let folder = folder.path().to_str().expect("a plain path");
    for (id, expected) in logs {
        let args = ["facts", &id, "--json", "--data", folder];
        let told = Command::new(env!("CARGO_BIN_EXE_onsale")).args(args).output().expect("the binary runs");
        assert!(told.status.success(), "{told:?}");
        let facts = String::from_utf8(told.stdout).expect("text");
        let facts = facts.lines().map(|fact| serde_json::from_str::<Value>(fact).expect("JSON"));
        // The clock may have gone on writing after the log was read.
        let lines: Vec<String> = facts.map(|fact| scene::line(&fact)).take(expected.len()).collect();
        assert_eq!(lines, expected, "{id} offline");
    }
}
