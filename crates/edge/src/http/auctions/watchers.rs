//! `…/watchers`: watch an auction, stop watching, see who does.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use onsale_domain::Found;
use onsale_domain::auction::{AuctionCommand, AuctionFound, AuctionQuery};
use onsale_domain::{Code, Command, Outcome};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::find;
use crate::app::App;
use crate::http::extract::{self, AuctionPath, Caller};
use crate::http::problem::{Problem, ProblemBody};
use crate::http::query::{self, LIMIT_MAX, Query};
use crate::http::reply;
use crate::http::wire::At;

#[derive(Debug, Serialize, ToSchema)]
pub struct Watching<'a> {
    auction: String,
    #[schema(example = "ext:default:ann")]
    watcher: &'a str,
    watching: bool,
    #[schema(value_type = String, example = "1-5")]
    position: At,
}

/// Watch an auction
#[utoipa::path(post, path = "/v1/auctions/{auction}/watchers", tag = "auctions",
    params(("auction" = String, Path), ("Onsale-Buyer" = String, Header),
           ("Idempotency-Key" = Option<String>, Header)),
    responses((status = 201, body = Watching), (status = 200, description = "Watched before", body = Watching),
              (status = 409, description = "Over, or too many watch it", body = ProblemBody)))]
pub async fn watch(
    State(app): State<Arc<App>>,
    at: AuctionPath,
    caller: Caller,
) -> Result<Response, Problem> {
    change(&app, &at, &caller, true).await
}

/// Stop watching
#[utoipa::path(delete, path = "/v1/auctions/{auction}/watchers", tag = "auctions",
    params(("auction" = String, Path), ("Onsale-Buyer" = String, Header),
           ("Idempotency-Key" = Option<String>, Header)),
    responses((status = 200, body = Watching), (status = 404, body = ProblemBody)))]
pub async fn unwatch(
    State(app): State<Arc<App>>,
    at: AuctionPath,
    caller: Caller,
) -> Result<Response, Problem> {
    change(&app, &at, &caller, false).await
}

async fn change(app: &App, at: &AuctionPath, caller: &Caller, watching: bool) -> Result<Response, Problem> {
    let watcher = caller.buyer()?;
    let command = match watching {
        true => AuctionCommand::WatchAuction(watcher.clone()),
        false => AuctionCommand::UnwatchAuction(watcher.clone()),
    };
    let origin = caller.origin(&at.listing, &());
    let answer = reply::submit(app, at.listing, Command::Auction(command), origin, None).await?;
    let is_new = watching && answer.outcome != Outcome::Unchanged;
    let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
    let told = Watching {
        auction: at.listing.to_string(),
        watcher: watcher.as_str(),
        watching,
        position: At(reply::position_of(&answer)),
    };
    Ok(reply::yes(status, &answer, &told))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Page {
    after: Option<String>,
    limit: Option<usize>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Watchers {
    #[schema(example = json!(["ext:default:ann"]))]
    watchers: Vec<String>,
    /// The cursor of the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// Who watches, by name
#[utoipa::path(get, path = "/v1/auctions/{auction}/watchers", tag = "auctions",
    params(("auction" = String, Path), ("after" = Option<String>, Query),
           ("limit" = Option<usize>, Query, description = "1 to 500")),
    responses((status = 200, body = Watchers), (status = 404, body = ProblemBody)))]
pub async fn list(
    State(app): State<Arc<App>>,
    at: AuctionPath,
    Query(page): Query<Page>,
) -> Result<Response, Problem> {
    find(&app, &at.listing)?;
    let limit = query::limit(page.limit, LIMIT_MAX)?;
    let wrong = || Problem::invalid("after", "the `next` of the page before");
    let after = page.after.as_deref().map(|text| extract::buyer(text).ok_or_else(wrong)).transpose()?;
    let query = AuctionQuery::Watchers { after, limit };
    let found = app.engine.ask(at.listing, query.into()).await?;
    let Found::Auction(AuctionFound::Watchers(names)) = found else {
        return Err(Problem::code(Code::ListingUnknown));
    };
    let watchers: Vec<String> = names.iter().map(|name| name.as_str().to_owned()).collect();
    let next = watchers.last().filter(|_| watchers.len() == limit).cloned();
    Ok(reply::json(StatusCode::OK, &Watchers { watchers, next }))
}
