//! Query strings, read strictly: an unknown parameter or a wrong value is named, not ignored.

use std::error::Error;

use axum::extract::FromRequestParts;
use axum::extract::rejection::QueryRejection;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use super::plain;
use super::problem::Problem;

#[derive(Debug)]
pub struct Query<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let query = axum::extract::Query::<T>::try_from_uri(&parts.uri);
        query.map(|query| Query(query.0)).map_err(|error| wrong(&error))
    }
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
    use crate::http::list::Filtered;
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
            let read = Query::<Filtered<SaleStatus>>::from_request_parts(&mut parts, &()).await;
            let told = read.expect_err("it is wrong").body(&HeaderValue::from_static("r-1"));
            let told: Value = serde_json::from_slice(&told).expect("JSON");
            assert_eq!(told["field"], field, "{query}: {told}");
            let sentence = told["detail"].as_str().unwrap_or_default();
            assert!(sentence.starts_with(detail), "{query}: {told}");
        }
    }
}
