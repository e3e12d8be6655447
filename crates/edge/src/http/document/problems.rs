//! Answers that are not a yes: one for each status, with an example made as the server makes it.

use axum::http::{HeaderValue, StatusCode};
use serde_json::{Map, Value, json};

use super::headers;
use crate::http::problem::{Problem, catalog};

/// That of a request in the examples.
const REQUEST_ID: HeaderValue = HeaderValue::from_static("8c1d5f0a9be24c37");

/// `Problem409`, as the document names it.
fn name_of(status: u16) -> String {
    format!("Problem{status}")
}

/// Refers to the problem of a status, in the handler's own words if it has any.
pub(super) fn refer(status: u16, own: &Value) -> Value {
    let mut answer = json!({"$ref": format!("#/components/responses/{}", name_of(status))});
    if let Some(about) = own["description"].as_str().filter(|about| !about.is_empty()) {
        answer["description"] = json!(about);
    }
    answer
}

/// One for every status that a problem of ours may have.
pub(super) fn responses() -> Map<String, Value> {
    let mut responses = Map::new();
    for entry in catalog::all() {
        let of_status = responses.entry(name_of(entry.status)).or_insert_with(|| empty(entry.status));
        let told: Value = serde_json::from_slice(&Problem::of(entry).body(&REQUEST_ID)).unwrap_or_default();
        let example = json!({"summary": entry.title, "value": told});
        of_status["content"]["application/problem+json"]["examples"][entry.code] = example;
    }
    // Of no route, but of all that is none: the document has nowhere to say so.
    responses.remove(&name_of(405));
    responses.remove(&name_of(501));
    responses
}

fn empty(status: u16) -> Value {
    let reason = StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
    let mut response = json!({
        "description": reason.unwrap_or_default(),
        "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
    });
    for header in headers::of_problem(status) {
        response["headers"][header.name] = header.refer();
    }
    response
}
