//! Plays `document/examples/play.json` of the edge against a server: every operation of the document, in an order in which
//! each finds what it needs. What is asked and answered must fit the document, and be shaped like the examples in it.
//! With `ONSALE_WRITE_EXAMPLES=1` the examples are written anew.

pub(crate) mod player;

use std::collections::BTreeMap;

use onsale_edge::http::document::document;
use onsale_edge::http::table::{Route, table};
use serde_json::Value;

use crate::document::{operation, schema};
use player::{FOLDER, Player};

#[test]
fn the_examples_are_what_a_server_answers() {
    let written = format!("{FOLDER}/recorded.json");
    let mut player = Player::open();
    for step in &player::steps() {
        player.play(step);
    }
    let recorded = player.recorded;
    if std::env::var_os("ONSALE_WRITE_EXAMPLES").is_some() {
        let text = serde_json::to_string_pretty(&recorded).expect("JSON");
        std::fs::write(&written, text + "\n").expect("written");
        return;
    }
    let known = std::fs::read_to_string(&written).expect("recorded.json");
    let known: BTreeMap<String, Value> = serde_json::from_str(&known).expect("JSON");
    for (name, told) in &recorded {
        let shaped = known.get(name).map(shape);
        assert!(shaped == Some(shape(told)), "{name} is answered otherwise: {told:#}\n{ADVICE}");
    }
    let gone: Vec<&String> = known.keys().filter(|name| !recorded.contains_key(*name)).collect();
    assert!(gone.is_empty(), "nobody plays {gone:?}\n{ADVICE}");
}

const ADVICE: &str =
    "write the examples anew: ONSALE_WRITE_EXAMPLES=1 cargo test -p onsale --test it the_examples_are_what";

/// What a value is made of: texts, numbers and ids may differ, fields and their kinds may not.
fn shape(value: &Value) -> Value {
    match value {
        Value::Null => Value::Null,
        Value::Bool(_) => "flag".into(),
        Value::Number(_) => "number".into(),
        Value::String(_) => "text".into(),
        Value::Array(items) => {
            let mut shapes: Vec<Value> = Vec::new();
            for shape in items.iter().map(shape) {
                if !shapes.contains(&shape) {
                    shapes.push(shape);
                }
            }
            shapes.sort_by_key(Value::to_string);
            shapes.into()
        }
        Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), shape(value))).collect(),
    }
}

#[test]
fn every_operation_has_an_example_of_what_is_asked_and_answered() {
    let mut without = Vec::new();
    for route in table().routes.iter().filter(|route| route.described) {
        let told = operation(route);
        for (kind, content) in told["requestBody"]["content"].as_object().into_iter().flatten() {
            let named = content["examples"].as_object().into_iter().flatten();
            let all: Vec<&Value> =
                content.get("example").into_iter().chain(named.map(|(_, one)| &one["value"])).collect();
            if all.is_empty() {
                without.push(format!("{} is asked {kind}", route.operation));
            }
            for example in all {
                let fits = schema::check(document(), &content["schema"], example);
                assert_eq!(fits, Ok(()), "{}", route.operation);
            }
        }
        let answers = told["responses"].as_object().expect("answers").iter();
        let yes = answers.filter(|(status, _)| status.starts_with('2'));
        let contents = yes.flat_map(|(_, answer)| answer["content"].as_object().into_iter().flatten());
        // Bytes cannot be shown.
        for (kind, content) in contents.filter(|(kind, _)| *kind != "application/octet-stream") {
            match content.get("example") {
                None => without.push(format!("{} answers {kind}", route.operation)),
                Some(example) if kind.ends_with("json") => {
                    let fits = schema::check(document(), &content["schema"], example);
                    assert_eq!(fits, Ok(()), "{}", route.operation);
                }
                Some(example) => assert!(example.is_string(), "{}", route.operation),
            }
        }
    }
    assert!(without.is_empty(), "openapi_without_example {}: {without:#?}", without.len());
}

/// What a stranger would not guess from the schema alone is shown once.
#[test]
fn a_page_with_another_behind_it_a_hold_that_grows_and_one_that_may_wait_are_shown() {
    let examples = |path: &str, method: &str| document()["paths"][path][method].clone();
    let list = examples("/v1/events", "get");
    let page = &list["responses"]["200"]["content"]["application/json"]["example"];
    assert!(page["next"].is_string(), "{page}");
    let asked = |operation: &str, field: &str| {
        let route = table().routes.iter().find(|route| route.operation == operation).expect("a route");
        let all = operation_examples(route);
        assert!(all.iter().any(|one| !one[field].is_null()), "{operation} {field}: {all:?}");
    };
    asked("holds.change", "add_seats");
    asked("holds.create", "or_queue");
    let place = table().routes.iter().find(|route| route.operation == "holds.create").expect("a route");
    let waits = &operation(place)["responses"]["202"]["content"]["application/json"]["example"];
    assert!(waits["place"].is_string(), "{waits}");
}

/// Every example of what an operation is asked.
fn operation_examples(route: &Route) -> Vec<Value> {
    let content = &operation(route)["requestBody"]["content"]["application/json"];
    let named = content["examples"].as_object().into_iter().flatten();
    named.map(|(_, one)| one["value"].clone()).collect()
}
