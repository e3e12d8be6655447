//! `GET …/facts?after=`: what happened, in order, page by page.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use onsale_domain::ListingId;
use onsale_engine::{EngineError, Position, View};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::extract::EventPath;
use super::fact::Teller;
use super::problem::Problem;
use super::query::{self, Query};
use super::reply;
use super::wire::At;
use crate::app::App;

/// Facts in one page at most.
const LIMIT_MAX: usize = 1_000;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Page {
    after: Option<String>,
    limit: Option<usize>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct FactList {
    #[schema(value_type = Vec<Object>)]
    facts: Vec<Value>,
    /// Where to go on: `?after=` this.
    #[schema(value_type = String, example = "1-57")]
    next: At,
    /// True if there is more right now.
    more: bool,
    /// The listing's last position.
    #[schema(value_type = String, example = "1-99")]
    position: At,
}

/// What happened, in order
///
/// `after` is `<epoch>-<offset>`, or an offset of the current epoch. A step is never torn: a page may be a little
/// longer than `limit`.
#[utoipa::path(get, path = "/v1/events/{event}/facts", tag = "facts",
    params(("event" = String, Path), ("after" = Option<String>, Query), ("limit" = Option<usize>, Query, description = "1 to 1,000")),
    responses((status = 200, body = FactList), (status = 410, description = "Reload", body = super::problem::ProblemBody)))]
pub async fn list(
    State(app): State<Arc<App>>,
    at: EventPath,
    Query(page): Query<Page>,
) -> Result<Response, Problem> {
    page_of(&app, at.listing, &page).await
}

/// A page of any listing's facts.
pub async fn page_of(app: &App, listing: ListingId, page: &Page) -> Result<Response, Problem> {
    let limit = query::limit(page.limit, LIMIT_MAX)?;
    let view = app.engine.view(&listing).ok_or(EngineError::UnknownListing)?;
    let after = read_after(page.after.as_deref(), &view)?;
    let found = app.engine.facts_after(listing, after, limit).await?;
    // Read after the facts, so that the newest seat they name has its label.
    let view = app.engine.view(&listing).ok_or(EngineError::UnknownListing)?;
    let teller = Teller::new(&view);
    let mut list = FactList { facts: Vec::new(), next: At(after), more: false, position: At(found.position) };
    for step in &found.steps {
        for (offset, fact) in step.numbered().filter(|(offset, _)| *offset > after.offset) {
            list.facts.push(teller.tell(step, offset, fact));
            list.next = At(Position { epoch: step.epoch, offset });
        }
    }
    list.more = list.next.0.offset < found.position.offset;
    Ok(reply::json(StatusCode::OK, &list))
}

/// The position to go on from; without one, the beginning.
pub fn read_after(text: Option<&str>, view: &View) -> Result<Position, Problem> {
    let epoch = view.position.epoch;
    match text {
        None => Ok(Position { epoch, offset: 0 }),
        Some(text) => At::parse(text, epoch)
            .ok_or_else(|| Problem::invalid("after", "<epoch>-<offset>, or an offset of the current epoch")),
    }
}
