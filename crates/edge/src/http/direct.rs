//! The buying routes, straight to their handlers: the maps and boxes of a router cost more than the decision.
//! Whatever is not spelled plainly goes the router's way to the same handler, and gets the same answer.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::Request;
use axum::response::Response;
use onsale_access::principal::Principal;

use super::auctions::bids;
use super::extract::{AuctionPath, Caller, EventPath, HoldPath, Json, SalePath, read};
use super::problem::Problem;
use super::sales::checkouts;
use super::sales::code::CheckoutPath;
use super::table::{Scope, Straight};
use super::{confirm, holds};
use crate::app::App;

/// Takes from the request what the handler asks for, in the order in which the router would.
pub async fn handle<B>(
    way: Straight,
    app: &Arc<App>,
    principal: &Arc<Principal>,
    request: Request<B>,
) -> Result<Response, Problem>
where
    B: hyper::body::Body<Data = Bytes>,
    B::Error: Into<axum::BoxError>,
{
    let (parts, body) = request.into_parts();
    let (headers, limit) = (parts.headers, app.config.limits.body_bytes);
    let path = parts.uri.path();
    let caller = || Caller::of(principal, (&parts.method, path, Scope::Buy), &headers);
    // `/v1/<kind>/<first>/…`
    let first = path.split('/').nth(3);
    let state = State(app.clone());
    match way {
        Straight::PlaceHold => {
            let at = EventPath::of(app, principal, first, None).await?;
            let caller = caller()?;
            let body = read(&headers, body, limit).await?;
            holds::place(state, at, caller, Json(body)).await
        }
        Straight::ChangeHold => {
            let at = HoldPath::of(app, principal, first).await?;
            let caller = caller()?;
            let body = read(&headers, body, limit).await?;
            holds::change(state, at, caller, headers, Json(body)).await
        }
        Straight::ReleaseHold => {
            let at = HoldPath::of(app, principal, first).await?;
            let caller = caller()?;
            holds::release(state, at, caller, headers).await
        }
        Straight::ConfirmHold => {
            let at = HoldPath::of(app, principal, first).await?;
            let caller = caller()?;
            let body = read(&headers, body, limit).await?;
            confirm::confirm(state, at, caller, headers, Json(body)).await
        }
        Straight::CheckOut => {
            let at = SalePath::of(app, principal, first, None).await?;
            let caller = caller()?;
            let body = read(&headers, body, limit).await?;
            checkouts::place(state, at, caller, Json(body)).await
        }
        Straight::Purchase => {
            let path = CheckoutPath::find(app, principal, first.unwrap_or_default(), &headers).await?;
            let caller = caller()?;
            let body = read(&headers, body, limit).await?;
            checkouts::purchase(state, path, caller, Json(body)).await
        }
        Straight::CancelCheckout => {
            let path = CheckoutPath::find(app, principal, first.unwrap_or_default(), &headers).await?;
            let caller = caller()?;
            let body = read(&headers, body, limit).await?;
            checkouts::cancel(state, path, caller, Json(body)).await
        }
        Straight::PlaceBid => {
            let at = AuctionPath::of(app, principal, first, None).await?;
            let caller = caller()?;
            let body = read(&headers, body, limit).await?;
            bids::place(state, at, caller, Json(body)).await
        }
    }
}
