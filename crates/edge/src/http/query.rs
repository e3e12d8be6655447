//! Query strings, read strictly: an unknown parameter or a wrong value is named, not ignored.

use std::error::Error;

use axum::extract::FromRequestParts;
use axum::extract::rejection::QueryRejection;
use axum::http::Uri;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use super::plain;
use super::problem::Problem;

#[derive(Debug)]
pub struct Query<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let uri = with_offsets(parts.uri.query().unwrap_or_default());
        let query = axum::extract::Query::<T>::try_from_uri(uri.as_ref().unwrap_or(&parts.uri));
        query.map(|query| Query(query.0)).map_err(|error| wrong(&error))
    }
}

/// Refuses the first parameter of a query where none is read, as a route that reads some refuses one it does not know.
pub fn nothing_in(uri: &Uri) -> Result<(), Problem> {
    if uri.query().is_none_or(str::is_empty) {
        return Ok(());
    }
    let pairs =
        axum::extract::Query::<Vec<(String, String)>>::try_from_uri(uri).map_err(|error| wrong(&error))?;
    let Some((name, _)) = pairs.0.into_iter().next() else { return Ok(()) };
    let why = format!(
        "nothing here is called `{}`; there is no parameter behind the question mark",
        plain::short(&name)
    );
    Err(Problem::parameter(name, why))
}

/// The same query with the offsets of its times as they were meant; `None` if it says them already. In a query `+` is a
/// space, and people forget to escape it; before `hh:mm` at the end of a time it can be nothing else.
fn with_offsets(query: &str) -> Option<Uri> {
    let meant: Vec<Option<String>> = query.split('&').map(with_offset).collect();
    if meant.iter().all(Option::is_none) {
        return None;
    }
    let pairs = query.split('&').zip(meant).map(|(pair, meant)| meant.unwrap_or_else(|| pair.to_owned()));
    format!("/?{}", pairs.collect::<Vec<_>>().join("&")).parse().ok()
}

fn with_offset(pair: &str) -> Option<String> {
    let (name, value) = pair.split_once('=')?;
    if !(name.ends_with("_after") || name.ends_with("_before")) {
        return None;
    }
    let value = value.replace("%20", "+").replace("%3A", ":").replace("%3a", ":");
    let (time, offset) = value.rsplit_once('+')?;
    let digits = |all: [&u8; 4]| all.into_iter().all(u8::is_ascii_digit);
    let is_offset = matches!(offset.as_bytes(), [h, i, b':', m, n] if digits([h, i, m, n]));
    // Between a day and an hour there is no offset.
    (is_offset && time.contains(['T', 't'])).then(|| format!("{name}={time}%2B{offset}"))
}

/// What the parser of a query says, with the parameter that it speaks of.
type Misread = serde_path_to_error::Error<serde::de::value::Error>;

fn wrong(error: &QueryRejection) -> Problem {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(misread) = error.downcast_ref::<Misread>() {
            let told = misread.inner().to_string();
            let (parameter, _) = plain::place(misread.path(), &told);
            return Problem::parameter(parameter, plain::words(&told));
        }
        cause = error.source();
    }
    Problem::parameter("query", "what stands behind the question mark cannot be read")
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderValue, Request};
    use serde_json::Value;

    use super::*;
    use crate::http::list::StatusListQuery;
    use crate::http::words::SaleStatus;

    #[tokio::test]
    async fn a_wrong_parameter_is_named_in_plain_words() {
        for (query, field, detail) in [
            ("limit=x", "limit", "must be a whole number"),
            ("limit=", "limit", "must be a whole number"),
            ("limit=99999999999999999999999", "limit", "is too large a number"),
            ("after=a&after=b", "after", "`after` is there twice"),
            ("status=gone", "status", "`gone` is none of the values that are known"),
            ("page=2", "page", "nothing here is called `page`"),
            ("starts_after=2027", "starts_after", "must be a time in RFC 3339 with its offset"),
        ] {
            let request = Request::get(format!("/v1/sales?{query}")).body(()).expect("a request");
            let (mut parts, ()) = request.into_parts();
            let read = Query::<StatusListQuery<SaleStatus>>::from_request_parts(&mut parts, &()).await;
            let told = read.expect_err("it is wrong").body(&HeaderValue::from_static("r-1"));
            let told: Value = serde_json::from_slice(&told).expect("JSON");
            assert_eq!(told["field"], field, "{query}: {told}");
            let sentence = told["detail"].as_str().unwrap_or_default();
            assert!(sentence.starts_with(detail), "{query}: {told}");
        }
    }
}
