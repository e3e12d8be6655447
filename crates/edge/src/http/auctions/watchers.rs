//! `…/watchers`: watch an auction, stop watching, see who does.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use onsale_domain::Found;
use onsale_domain::auction::{AuctionCommand, AuctionFound, AuctionQuery};
use onsale_domain::{BuyerId, Code, Command, Outcome};
use serde::Serialize;
use utoipa::ToSchema;

use super::find;
use crate::app::App;
use crate::http::extract::{AuctionPath, Caller};
use crate::http::list::{self, Cursors, List, Page};
use crate::http::problem::Problem;
use crate::http::query::Query;
use crate::http::reply;
use crate::http::wire::At;

#[derive(Debug, Serialize, ToSchema)]
pub struct Watching<'a> {
    auction: String,
    #[schema(example = "ann")]
    watcher: &'a str,
    watching: bool,
    #[schema(value_type = String, example = "1-5")]
    position: At,
}

/// Watch an auction
///
/// Watching again changes nothing and is answered with 200.
#[utoipa::path(post, path = "/v1/auctions/{auction}/watchers", tag = "auctions",
    params(("Onsale-Buyer" = String, Header)),
    responses((status = 201, body = Watching), (status = 200, description = "Watched before", body = Watching), (status = 409, description = "Over, or too many watch it")))]
pub async fn watch(
    State(app): State<Arc<App>>,
    at: AuctionPath,
    caller: Caller,
) -> Result<Response, Problem> {
    change(&app, &at, &caller, true).await
}

/// Stop watching
///
/// Not watching at all is answered the same.
#[utoipa::path(delete, path = "/v1/auctions/{auction}/watchers", tag = "auctions",
    params(("Onsale-Buyer" = String, Header)), responses((status = 200, body = Watching)))]
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
    let told = Watching {
        auction: at.listing.to_string(),
        watcher: watcher.as_str(),
        watching,
        position: At(reply::position_of(&answer)),
    };
    // Whoever watches sees so in the auction itself.
    let location = format!("/v1/auctions/{}", at.listing);
    Ok(match is_new {
        true => reply::created(&answer, &location, &told),
        false => reply::yes(StatusCode::OK, &answer, &told),
    })
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Watcher {
    #[schema(example = "ann")]
    watcher: String,
}

/// Who watches, by name
///
/// In the order of their names, for whoever runs the auction.
#[utoipa::path(get, path = "/v1/auctions/{auction}/watchers", tag = "auctions",
    params(("after" = Option<String>, Query), ("limit" = Option<usize>, Query)),
    responses((status = 200, body = List<Watcher>)))]
pub async fn list(
    State(app): State<Arc<App>>,
    at: AuctionPath,
    Query(page): Query<Page>,
) -> Result<Response, Problem> {
    find(&app, &at.listing)?;
    let (limit, auction) = (list::limit(page.limit)?, at.listing.to_string());
    let cursors = Cursors::new("watchers.list", &auction);
    let after = cursors.read(page.after.as_deref(), BuyerId::parse)?;
    let query = AuctionQuery::Watchers { after, limit: limit + 1 };
    let found = app.engine.ask(at.listing, query.into()).await?;
    let Found::Auction(AuctionFound::Watchers(names)) = found else {
        return Err(Problem::code(Code::ListingUnknown));
    };
    let page = list::cut(names, limit, |name| cursors.write(name.as_str()));
    Ok(reply::json(StatusCode::OK, &page.map(|name| Watcher { watcher: name.as_str().to_owned() })))
}
