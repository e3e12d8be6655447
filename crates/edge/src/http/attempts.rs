//! `GET /v1/events/{event}/attempts`: whose holds were refused, and why. The page is that of every listing.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use onsale_domain::attempts::Attempt;

use super::extract::EventPath;
use super::list::Page;
use super::names::Names;
use super::problem::{Obstacles, Problem};
use super::query::Query;
use super::sales::attempts::{Attempts, page_of};
use crate::app::App;

/// Refused holds of an event
///
/// Who was refused what, and why, for whoever runs the sale. It is no part of the log: a restart of the server begins anew.
#[utoipa::path(get, path = "/v1/events/{event}/attempts", tag = "events",
    params(("after" = Option<String>, Query), ("limit" = Option<usize>, Query)),
    responses((status = 200, body = Attempts)))]
pub async fn list(
    State(app): State<Arc<App>>,
    at: EventPath,
    Query(page): Query<Page>,
) -> Result<Response, Problem> {
    let names = Names::of(&*app.engine, &at.listing)?;
    let in_the_way = |attempt: &Attempt| Obstacles::of_event(&attempt.in_the_way, &names);
    page_of(&app, "events.attempts", at.listing, &page, in_the_way).await
}
