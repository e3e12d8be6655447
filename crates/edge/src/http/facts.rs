//! `GET …/facts?after=`: what happened, in order, page by page.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use onsale_access::principal::Principal;
use onsale_domain::ListingId;
use onsale_engine::{EngineError, Position, View};
use serde::Serialize;
use utoipa::ToSchema;

use super::audience::Audience;
use super::extract::EventPath;
use super::fact::schema::AnyFact;
use super::fact::{FactJson, Teller};
use super::list::{self, Page};
use super::problem::Problem;
use super::query::Query;
use super::reply;
use super::wire::At;
use crate::app::App;

#[derive(Debug, Serialize, ToSchema)]
pub struct FactList {
    #[schema(value_type = Vec<AnyFact<'static>>)]
    data: Vec<FactJson>,
    /// Where to go on, always: the position of the last fact here, for `after`. It is a place in the log, the same as in
    /// `Onsale-Position` and in the stream.
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
    params(("after" = Option<String>, Query), ("limit" = Option<usize>, Query)),
    responses((status = 200, body = FactList), (status = 410, description = "Reload")))]
pub async fn list(
    State(app): State<Arc<App>>,
    at: EventPath,
    Query(page): Query<Page>,
) -> Result<Response, Problem> {
    page_of(&app, &at.principal, at.listing, &page).await
}

/// A page of any listing's facts.
pub async fn page_of(
    app: &App,
    principal: &Arc<Principal>,
    listing: ListingId,
    page: &Page,
) -> Result<Response, Problem> {
    let limit = list::limit(page.limit)?;
    let view = app.engine.view(&listing).ok_or(EngineError::UnknownListing)?;
    let after = read_after("after", page.after.as_deref(), &view)?;
    let found = app.engine.facts_after(listing, after, limit).await?;
    // Read after the facts, so that the newest seat they name has its label.
    let view = app.engine.view(&listing).ok_or(EngineError::UnknownListing)?;
    let audience = Audience::of(principal, &app.tokens);
    let teller = Teller::new(&view, &audience);
    let mut told = FactList { data: Vec::new(), next: At(after), more: false, position: At(found.position) };
    for step in &found.steps {
        for (offset, fact) in step.numbered().filter(|(offset, _)| *offset > after.offset) {
            told.data.push(teller.tell(step, offset, fact));
            told.next = At(Position { epoch: step.epoch, offset });
        }
    }
    told.more = told.next.0.offset < found.position.offset;
    Ok(reply::json(StatusCode::OK, &told))
}

/// The position to go on from; without one, the beginning. `named` is the parameter or header that says it.
pub fn read_after(named: &str, text: Option<&str>, view: &View) -> Result<Position, Problem> {
    let epoch = view.position.epoch;
    match text {
        None => Ok(Position { epoch, offset: 0 }),
        Some(text) => At::parse(text, epoch).ok_or_else(|| {
            Problem::parameter(named, "must be <epoch>-<offset>, or an offset of the current epoch")
        }),
    }
}
