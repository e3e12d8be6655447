//! Headers of answers: which of them a route may send with which status. A test compares this with what a server sends.

use axum::http::Method;
use serde_json::{Map, Value, json};

use crate::http::table::Route;

#[derive(Debug)]
pub struct Header {
    pub name: &'static str,
    about: &'static str,
    kind: &'static str,
    example: &'static str,
    /// Whether an answer that may have it always has it.
    pub always: bool,
}

impl Header {
    pub(super) fn refer(&self) -> Value {
        json!({"$ref": format!("#/components/headers/{}", self.name)})
    }
}

const fn header(
    name: &'static str,
    always: bool,
    kind: &'static str,
    example: &'static str,
    about: &'static str,
) -> Header {
    Header { name, about, kind, example, always }
}

pub const REQUEST_ID: Header = header(
    "X-Request-Id",
    true,
    "string",
    "5f0c9a1e7b3d2c48",
    "The id of this request, the caller's own if it sent one. The server's log has it if `log.access` is on.",
);
pub const LOCATION: Header =
    header("Location", true, "string", "/v1/events/…", "Where to read what was made.");
pub const ETAG: Header =
    header("ETag", true, "string", "W/\"1-57\"", "This version; send it back as `If-None-Match`.");
pub const REPLAYED: Header = header(
    "Idempotent-Replayed",
    false,
    "boolean",
    "true",
    "True if this answer was given before, to the same `Idempotency-Key`.",
);
pub const RETRY_AFTER: Header =
    header("Retry-After", true, "integer", "1", "How many seconds to wait before the same is sent again.");
pub const POSITION: Header = header(
    "Onsale-Position",
    true,
    "string",
    "1-57",
    "The position of the listing that this answer speaks of, `<epoch>-<offset>`.",
);
pub const STALE: Header = header(
    "Onsale-Stale",
    false,
    "boolean",
    "true",
    "True if this may be older than what was answered elsewhere: the store that servers share is away.",
);
pub const AUTHENTICATE: Header =
    header("WWW-Authenticate", true, "string", "Bearer", "Which scheme the key is sent in.");

/// All of them.
pub const ALL: [&Header; 8] =
    [&REQUEST_ID, &LOCATION, &ETAG, &REPLAYED, &RETRY_AFTER, &POSITION, &STALE, &AUTHENTICATE];

/// The headers of a yes.
pub(super) fn of(route: &Route, status: u16) -> Vec<&'static Header> {
    let mut headers = vec![&REQUEST_ID];
    // A place in a queue instead of a hold is a 202 that made something.
    if status == 201 || status == 202 && route.operation == "holds.create" {
        headers.push(&LOCATION);
    }
    if route.statuses.contains(&304) {
        headers.push(&ETAG);
    }
    if route.keyed {
        headers.push(&REPLAYED);
    }
    if ((route.keyed && !route.of_people) || route.positioned) && !route.in_access {
        headers.push(&POSITION);
    }
    if may_be_stale(&route.method, &route.path) {
        headers.push(&STALE);
    }
    headers
}

/// The headers of a problem.
pub(super) fn of_problem(status: u16) -> Vec<&'static Header> {
    let mut headers = vec![&REQUEST_ID, &STALE];
    match status {
        401 => headers.push(&AUTHENTICATE),
        429 | 503 => headers.push(&RETRY_AFTER),
        _ => {}
    }
    headers
}

/// Reads of listings are answered from what this server knows.
pub fn may_be_stale(method: &Method, path: &str) -> bool {
    method == Method::GET && path.starts_with("/v1/")
}

pub(super) fn components() -> Map<String, Value> {
    let component = |header: &&Header| {
        let schema = json!({"type": header.kind});
        let example = match header.kind {
            "string" => json!(header.example),
            _ => serde_json::from_str(header.example).unwrap_or_default(),
        };
        let told = json!({
            "description": header.about, "required": header.always, "schema": schema, "example": example,
        });
        (header.name.to_owned(), told)
    };
    ALL.iter().map(component).collect()
}
