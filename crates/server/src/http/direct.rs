//! The buying routes, straight to their handlers: the maps and boxes of a router cost more than the decision.
//! Whatever is not spelled plainly goes the router's way to the same handler, and gets the same answer.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{Method, Request};
use axum::response::Response;

use super::auctions::bids;
use super::extract::{AuctionPath, Caller, EventPath, Json, SalePath, read};
use super::problem::Problem;
use super::sales::checkouts;
use super::sales::code::CodePath;
use super::{confirm, holds, route};
use crate::app::App;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Place,
    Change,
    Release,
    Confirm,
    CheckOut,
    Purchase,
    CancelCheckout,
    Bid,
}

impl Verb {
    /// Which of them is meant, if it is one of them and the path needs no decoding.
    pub fn of(route: usize, method: &Method, path: &str) -> Option<Verb> {
        let verb = match (route, method) {
            (route::HOLDS, &Method::POST) => Verb::Place,
            (route::HOLD, &Method::PATCH) => Verb::Change,
            (route::HOLD, &Method::DELETE) => Verb::Release,
            (route::CONFIRM, &Method::POST) => Verb::Confirm,
            (route::CHECKOUTS, &Method::POST) => Verb::CheckOut,
            (route::PURCHASE, &Method::POST) => Verb::Purchase,
            (route::CANCEL_CHECKOUT, &Method::POST) => Verb::CancelCheckout,
            (route::BIDS, &Method::POST) => Verb::Bid,
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
    let path = parts.uri.path();
    let caller = || Caller::of(&parts.method, path, &headers);
    // `/v1/<kind>/<first>/…/<second>/…`
    let mut words = path.split('/').skip(3);
    let first = words.next();
    let second = words.nth(1);
    let state = State(app.clone());
    match verb {
        Verb::Place => {
            let at = EventPath::of(app, first, second).await?;
            let caller = caller()?;
            let body = read(&headers, body, limit).await?;
            holds::place(state, at, caller, Json(body)).await
        }
        Verb::Change => {
            let at = EventPath::of(app, first, second).await?;
            let caller = caller()?;
            let body = read(&headers, body, limit).await?;
            holds::change(state, at, caller, headers, Json(body)).await
        }
        Verb::Release => {
            let at = EventPath::of(app, first, second).await?;
            let caller = caller()?;
            holds::release(state, at, caller, headers).await
        }
        Verb::Confirm => {
            let at = EventPath::of(app, first, second).await?;
            let caller = caller()?;
            let body = read(&headers, body, limit).await?;
            confirm::confirm(state, at, caller, headers, Json(body)).await
        }
        Verb::CheckOut => {
            let at = SalePath::of(app, first, None).await?;
            let caller = caller()?;
            let body = read(&headers, body, limit).await?;
            checkouts::place(state, at, caller, Json(body)).await
        }
        Verb::Purchase => {
            let code = CodePath::find(app, first.unwrap_or_default()).await?;
            let caller = caller()?;
            let body = read(&headers, body, limit).await?;
            checkouts::purchase(state, code, caller, Json(body)).await
        }
        Verb::CancelCheckout => {
            let code = CodePath::find(app, first.unwrap_or_default()).await?;
            let caller = caller()?;
            let body = read(&headers, body, limit).await?;
            checkouts::cancel(state, code, caller, Json(body)).await
        }
        Verb::Bid => {
            let at = AuctionPath::of(app, first, None).await?;
            let caller = caller()?;
            let body = read(&headers, body, limit).await?;
            bids::place(state, at, caller, Json(body)).await
        }
    }
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
        assert_eq!(of(Method::POST, "/v1/sales/s/checkouts"), Some(Verb::CheckOut));
        assert_eq!(of(Method::POST, "/v1/checkouts/c/purchase"), Some(Verb::Purchase));
        assert_eq!(of(Method::POST, "/v1/checkouts/c/cancel"), Some(Verb::CancelCheckout));
        assert_eq!(of(Method::POST, "/v1/auctions/a/bids"), Some(Verb::Bid));
        for path in [
            "/v1/events/e/holds/",
            "/v1/events//holds",
            "/v1/events/%65/holds",
            "/v1/events/e/seats",
            "/v1/sales/%73/checkouts",
            "/v1/checkouts/c",
            "/v1/auctions/a/bids/",
            "/v1/auctions/a/buy-now",
        ] {
            assert_eq!(of(Method::POST, path), None, "{path}");
        }
        assert_eq!(of(Method::GET, "/v1/events/e/holds"), None);
        assert_eq!(of(Method::GET, "/v1/events/e/holds/h"), None);
        assert_eq!(of(Method::GET, "/v1/sales/s/checkouts"), None);
    }
}
