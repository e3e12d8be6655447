//! The buying routes, straight to their handlers: the maps and boxes of a router cost more than the decision.
//! Whatever is not spelled plainly goes the router's way to the same handler, and gets the same answer.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{Method, Request};
use axum::response::Response;

use super::extract::{Caller, EventPath, Json, read};
use super::problem::Problem;
use super::{confirm, holds, route};
use crate::app::App;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Place,
    Change,
    Release,
    Confirm,
}

impl Verb {
    /// Which of them is meant, if it is one of them and the path needs no decoding.
    pub fn of(route: usize, method: &Method, path: &str) -> Option<Verb> {
        let verb = match (route, method) {
            (route::HOLDS, &Method::POST) => Verb::Place,
            (route::HOLD, &Method::PATCH) => Verb::Change,
            (route::HOLD, &Method::DELETE) => Verb::Release,
            (route::CONFIRM, &Method::POST) => Verb::Confirm,
            _ => return None,
        };
        (!path.bytes().any(|byte| byte == b'%')).then_some(verb)
    }
}

/// Takes from the request what the handler asks for, in the order in which the router would.
pub async fn handle<B>(verb: Verb, app: &Arc<App>, request: Request<B>) -> Result<Response, Problem>
where
    B: hyper::body::Body<Data = Bytes>,
    B::Error: Into<axum::BoxError>,
{
    let (parts, body) = request.into_parts();
    let (headers, limit) = (parts.headers, app.config.limits.body_bytes);
    let (event, hold) = words(parts.uri.path());
    let at = EventPath::of(app, event, hold).await?;
    let caller = Caller::from_headers(&headers)?;
    let app = State(app.clone());
    match verb {
        Verb::Place => {
            let body = read(&headers, body, limit).await?;
            holds::place(app, at, caller, Json(body)).await
        }
        Verb::Change => {
            let body = read(&headers, body, limit).await?;
            holds::change(app, at, caller, headers, Json(body)).await
        }
        Verb::Release => holds::release(app, at, caller, headers).await,
        Verb::Confirm => {
            let body = read(&headers, body, limit).await?;
            confirm::confirm(app, at, caller, headers, Json(body)).await
        }
    }
}

/// Event and hold of `/v1/events/{event}/holds/{hold}/confirm`, as far as it goes.
fn words(path: &str) -> (Option<&str>, Option<&str>) {
    let Some(rest) = path.strip_prefix("/v1/events/") else { return (None, None) };
    let word = |text: &str| text.bytes().position(|byte| byte == b'/').unwrap_or(text.len());
    let (event, rest) = rest.split_at(word(rest));
    let hold = rest.strip_prefix("/holds/").map(|rest| &rest[..word(rest)]);
    (Some(event), hold)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plainly_spelled_buying_goes_straight() {
        let of = |method, path: &str| Verb::of(route::of(path), &method, path);
        assert_eq!(of(Method::POST, "/v1/events/e/holds"), Some(Verb::Place));
        assert_eq!(of(Method::PATCH, "/v1/events/e/holds/h"), Some(Verb::Change));
        assert_eq!(of(Method::DELETE, "/v1/events/e/holds/h"), Some(Verb::Release));
        assert_eq!(of(Method::POST, "/v1/events/e/holds/h/confirm"), Some(Verb::Confirm));
        for path in ["/v1/events/e/holds/", "/v1/events//holds", "/v1/events/%65/holds", "/v1/events/e/seats"]
        {
            assert_eq!(of(Method::POST, path), None, "{path}");
        }
        assert_eq!(words("/v1/events/e/holds"), (Some("e"), None));
        assert_eq!(words("/v1/events/e/holds/h"), (Some("e"), Some("h")));
        assert_eq!(words("/v1/events/e/holds/h/confirm"), (Some("e"), Some("h")));
        assert_eq!(of(Method::GET, "/v1/events/e/holds"), None);
        assert_eq!(of(Method::GET, "/v1/events/e/holds/h"), None);
    }
}
