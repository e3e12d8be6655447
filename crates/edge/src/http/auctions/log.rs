//! `GET …/facts` and `GET …/stream` of an auction: as those of an event, and without anything secret.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;

use crate::app::App;
use crate::http::extract::AuctionPath;
use crate::http::facts::{self, FactList};
use crate::http::list::Page;
use crate::http::problem::Problem;
use crate::http::query::Query;
use crate::http::stream::{self, Wish};

/// What happened to an auction, in order; no maximum above the price, no reserve
///
/// Page by page, oldest first: go on with `after`. A step is never torn, so a page may be a little longer than `limit`.
#[utoipa::path(get, path = "/v1/auctions/{auction}/facts", tag = "auctions",
    params(("after" = Option<String>, Query), ("limit" = Option<usize>, Query)),
    responses((status = 200, body = FactList), (status = 410, description = "Reload")))]
pub async fn facts(
    State(app): State<Arc<App>>,
    at: AuctionPath,
    Query(page): Query<Page>,
) -> Result<Response, Problem> {
    facts::page_of(&app, &at.principal, at.listing, &page).await
}

/// Every fact of an auction as it happens, as server-sent events; no maximum above the price, no reserve
///
/// Begins with the event `position`, then sends each fact with its position as `id`. `Last-Event-ID` or `after` resumes
/// with all that was missed; the event `reload` names the position to go on from if that is not in the log.
#[utoipa::path(get, path = "/v1/auctions/{auction}/stream", tag = "auctions",
    params(("after" = Option<String>, Query), ("Last-Event-ID" = Option<String>, Header)),
    responses((status = 200, body = String, content_type = "text/event-stream"), (status = 503, description = "Too many streams")))]
pub async fn stream(
    State(app): State<Arc<App>>,
    at: AuctionPath,
    Query(wish): Query<Wish>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    stream::of_listing(app, (at.listing, at.principal), &wish, &headers).await
}
