//! Every answer that a test receives over HTTP is held against the document: its operation, its status, its headers, its
//! type and its body. What the document does not say, no server may answer. All test programs of this crate share it.

// Named, so that it is found from the other programs as well.
#[path = "document/schema.rs"]
pub(crate) mod schema;

use onsale_edge::http::document::{document, headers};
use onsale_edge::http::table::{Route, table};
use serde_json::Value;

/// An answer as whichever client has read it.
#[derive(Debug)]
pub(crate) struct Seen<'a> {
    pub status: u16,
    /// Names in small letters.
    pub headers: Vec<(String, &'a str)>,
    pub body: &'a [u8],
}

impl Seen<'_> {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
    }
}

/// Checks the answer to a request that was sent as these bytes.
pub(crate) fn check(request: &[u8], answer: &Seen<'_>) {
    let Some((method, path)) = head_of(request) else { return };
    if let Some(route) = route_of(&method, &path)
        && let Err(why) = check_answer(route, answer)
    {
        panic!("{} answered {}, and the document says otherwise: {why}", route.operation, answer.status);
    }
}

/// Method and path of a request; none if it is none.
fn head_of(request: &[u8]) -> Option<(String, String)> {
    let line = request.split(|byte| *byte == b'\r').next()?;
    let mut words = std::str::from_utf8(line).ok()?.split(' ');
    let (method, target) = (words.next()?, words.next()?);
    let path = target.split('?').next()?;
    Some((method.to_owned(), path.to_owned()))
}

/// The route that is meant, if the document describes it.
fn route_of(method: &str, path: &str) -> Option<&'static Route> {
    let name = table().path_name(table().path_number(path));
    table().routes.iter().find(|route| route.path == name && route.method == method && route.described)
}

pub(crate) fn operation(route: &Route) -> &'static Value {
    &document()["paths"][&route.path][route.method.as_str().to_lowercase()]
}

fn check_answer(route: &Route, answer: &Seen<'_>) -> Result<(), String> {
    let told = &operation(route)["responses"][answer.status.to_string()];
    let told = resolved(told).ok_or("no such status")?;
    check_headers(told, answer)?;
    let Some(kind) = answer.header("content-type").filter(|_| !answer.body.is_empty()) else { return Ok(()) };
    let kind = kind.split(';').next().unwrap_or_default();
    let schema = told["content"][kind].get("schema").ok_or_else(|| format!("no body of type {kind}"))?;
    // What is compressed was checked as it was, by other tests.
    if kind.ends_with("json") && answer.header("content-encoding").is_none() {
        let body: Value = serde_json::from_slice(answer.body).map_err(|error| error.to_string())?;
        schema::check(document(), schema, &body)?;
    }
    Ok(())
}

fn resolved(part: &'static Value) -> Option<&'static Value> {
    match part["$ref"].as_str() {
        Some(name) => document().pointer(name.strip_prefix('#')?),
        None => part.is_object().then_some(part),
    }
}

/// What is sent is described, and what is always sent is there.
fn check_headers(told: &Value, answer: &Seen<'_>) -> Result<(), String> {
    for header in headers::ALL {
        let sent = answer.header(&header.name.to_lowercase()).is_some();
        let described = told["headers"].get(header.name).is_some();
        if sent && !described {
            return Err(format!("the header {} is not described", header.name));
        }
        if described && header.always && !sent {
            return Err(format!("the header {} is missing", header.name));
        }
    }
    let ours = |name: &str| name.starts_with("onsale-") || name.starts_with("idempotent-");
    for (name, _) in answer.headers.iter().filter(|(name, _)| ours(name)) {
        let headers = told["headers"].as_object();
        let known =
            headers.is_some_and(|headers| headers.keys().any(|known| known.eq_ignore_ascii_case(name)));
        if !known {
            return Err(format!("the header {name} is not described"));
        }
    }
    Ok(())
}
