//! Query strings, read strictly: an unknown parameter or a wrong value is named, not ignored.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use super::problem::Problem;

#[derive(Debug)]
pub struct Query<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let query = axum::extract::Query::<T>::try_from_uri(&parts.uri);
        query.map(|query| Query(query.0)).map_err(|error| {
            let text = error.body_text();
            Problem::parameter("query", text.rsplit(": ").next().unwrap_or("not readable").to_owned())
        })
    }
}
