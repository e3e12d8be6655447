//! Examples of requests and answers: what a server was asked and answered when `play.json` was played against it, in
//! `recorded.json`. A test plays it anew and compares; nobody writes an example by hand.

use std::sync::LazyLock;

use serde_json::{Value, json};

static RECORDED: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("examples/recorded.json")).unwrap_or_default());

/// Puts an operation's examples beside its schemas.
pub(super) fn add(name: &str, operation: &mut Value) {
    let Some(recorded) = RECORDED.get(name) else { return };
    for content in contents(operation.get_mut("requestBody")) {
        put(recorded, content);
    }
    for (status, answer) in recorded["answers"].as_object().into_iter().flatten() {
        // An answer without a body has nothing to show.
        let Some(kind) = answer["type"].as_str().filter(|kind| !kind.is_empty()) else { continue };
        let content = &mut operation["responses"][status]["content"][kind];
        if content.is_object() {
            content["example"] = answer["body"].clone();
        }
    }
    for parameter in operation["parameters"].as_array_mut().into_iter().flatten() {
        let name = parameter["name"].as_str().unwrap_or_default();
        if let Some(value) = recorded["parameters"][name].as_str() {
            parameter["example"] = typed(value, &parameter["schema"]);
        }
    }
}

/// As the schema has it: what stands in a query is recorded as text.
fn typed(value: &str, schema: &Value) -> Value {
    match schema["type"].as_str() {
        Some("integer" | "boolean") => value.parse().unwrap_or_else(|_| json!(value)),
        Some(_) | None => json!(value),
    }
}

/// One example stands alone; with others beside it each has a name.
fn put(recorded: &Value, content: &mut Value) {
    match (recorded.get("request"), recorded["requests"].as_object()) {
        (None, _) => {}
        (Some(usual), None) => content["example"] = usual.clone(),
        (Some(usual), Some(others)) => {
            let others = others.iter().map(|(summary, body)| {
                (summary.to_lowercase().replace(' ', "_"), json!({"summary": summary, "value": body}))
            });
            let all = [("usual".to_owned(), json!({"summary": "As usual", "value": usual}))];
            content["examples"] = all.into_iter().chain(others).collect();
        }
    }
}

fn contents(of: Option<&mut Value>) -> impl Iterator<Item = &mut Value> {
    of.and_then(|of| of["content"].as_object_mut()).into_iter().flat_map(|all| all.values_mut())
}
