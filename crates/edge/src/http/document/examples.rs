//! Examples of requests and answers: what a server was asked and answered when `play.json` was played against it, in
//! `recorded.json`. A test plays it anew and compares; nobody writes an example by hand.

use std::sync::LazyLock;

use serde_json::{Value, json};

static RECORDED: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("examples/recorded.json")).unwrap_or_default());

/// Puts an operation's examples beside its schemas.
pub(super) fn add(name: &str, operation: &mut Value) {
    let Some(recorded) = RECORDED.get(name) else { return };
    if let Some(request) = recorded.get("request") {
        for content in contents(operation.get_mut("requestBody")) {
            content["example"] = request.clone();
        }
    }
    for (status, answer) in recorded["answers"].as_object().into_iter().flatten() {
        let kind = answer["type"].as_str().unwrap_or_default();
        let content = &mut operation["responses"][status]["content"][kind];
        if content.is_object() {
            content["example"] = answer["body"].clone();
        }
    }
    for parameter in operation["parameters"].as_array_mut().into_iter().flatten() {
        let name = parameter["name"].as_str().unwrap_or_default();
        if let Some(value) = recorded["parameters"].get(name) {
            parameter["example"] = json!(value);
        }
    }
}

fn contents(of: Option<&mut Value>) -> impl Iterator<Item = &mut Value> {
    of.and_then(|of| of["content"].as_object_mut()).into_iter().flat_map(|all| all.values_mut())
}
