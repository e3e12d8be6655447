//! `GET /v1/events/{event}/attempts`: whose holds were refused, and why. The page is that of every listing.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;

use super::extract::EventPath;
use super::names::Names;
use super::problem::{Obstacles, Problem, ProblemBody};
use super::query::Query;
use super::sales::attempts::{AttemptList, Page, page_of};
use crate::app::App;

/// Refused holds of an event
#[utoipa::path(get, path = "/v1/events/{event}/attempts", tag = "events",
    params(("event" = String, Path), ("from" = Option<u64>, Query, description = "The `next` of the page before"),
           ("limit" = Option<usize>, Query, description = "1 to 1,000")),
    responses((status = 200, body = AttemptList), (status = 404, body = ProblemBody)))]
pub async fn list(
    State(app): State<Arc<App>>,
    at: EventPath,
    Query(page): Query<Page>,
) -> Result<Response, Problem> {
    let names = Names::of(&*app.engine, &at.listing)?;
    page_of(&app, at.listing, &page, |attempt| Obstacles::of_event(&attempt.in_the_way, &names)).await
}
