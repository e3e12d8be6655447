//! Query strings, read strictly: an unknown parameter or a wrong value is named, not ignored.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use super::problem::Problem;

/// Entries in one page of a list unless the caller asks for fewer or more.
pub const LIMIT_DEFAULT: usize = 50;
pub const LIMIT_MAX: usize = 500;

#[derive(Debug)]
pub struct Query<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let query = axum::extract::Query::<T>::try_from_uri(&parts.uri);
        query.map(|query| Query(query.0)).map_err(|error| {
            let text = error.body_text();
            Problem::invalid("query", text.rsplit(": ").next().unwrap_or("not readable").to_owned())
        })
    }
}

/// A page's size within its bounds.
pub fn limit(asked: Option<usize>, max: usize) -> Result<usize, Problem> {
    match asked {
        None => Ok(LIMIT_DEFAULT.min(max)),
        Some(limit) if (1..=max).contains(&limit) => Ok(limit),
        Some(_) => Err(Problem::invalid("limit", format!("1 to {max}"))),
    }
}
