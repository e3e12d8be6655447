//! `GET …/history`: every accepted bid, newest first. No maximum above the price is in it, before the close or after.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use onsale_domain::auction::{AuctionFound, AuctionQuery, HistoryLine};
use onsale_domain::{Code, Found, ListingId};
use serde::Serialize;
use utoipa::ToSchema;

use super::find;
use crate::app::App;
use crate::http::audience::Audience;
use crate::http::extract::AuctionPath;
use crate::http::list::{self, Cursors, List, Page};
use crate::http::problem::Problem;
use crate::http::query::Query;
use crate::http::reply;
use crate::http::time::Time;

/// One bid as everybody may see it.
#[derive(Debug, Serialize, ToSchema)]
pub struct HistoryBid {
    #[schema(example = 3)]
    bid: u32,
    #[schema(example = "ann")]
    bidder: String,
    at: Time,
    /// The bid's maximum, cut at the price; absent if it was retracted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = 5100)]
    amount_minor: Option<i64>,
    retracted: bool,
    leading: bool,
}

impl HistoryBid {
    fn new(auction: &ListingId, line: &HistoryLine, audience: &Audience) -> HistoryBid {
        HistoryBid {
            bid: line.bid,
            bidder: audience.name(auction, &line.bidder),
            at: Time(line.at),
            amount_minor: line.amount_minor,
            retracted: line.amount_minor.is_none(),
            leading: line.leading,
        }
    }
}

/// The bids of an auction, newest first
///
/// Every accepted bid with its amount cut at the price: no maximum above it is shown to anybody. Who bid is named to staff and to the
/// merchant's server; everybody else sees an alias, the same for all bids of one bidder.
#[utoipa::path(get, path = "/v1/auctions/{auction}/history", tag = "auctions",
    params(("after" = Option<String>, Query), ("limit" = Option<usize>, Query)),
    responses((status = 200, body = List<HistoryBid>)))]
pub async fn list(
    State(app): State<Arc<App>>,
    at: AuctionPath,
    Query(page): Query<Page>,
) -> Result<Response, Problem> {
    find(&app, &at.listing)?;
    let (limit, auction) = (list::limit(page.limit)?, at.listing.to_string());
    let cursors = Cursors::new("auctions.history", &auction);
    let before = cursors.read(page.after.as_deref(), |place| place.parse().ok())?;
    let query = AuctionQuery::History { before, limit: limit + 1 };
    let found = app.engine.ask(at.listing, query.into()).await?;
    let Found::Auction(AuctionFound::History(lines)) = found else {
        return Err(Problem::code(Code::ListingUnknown));
    };
    let page = list::cut(lines, limit, |line| cursors.write(&line.bid.to_string()));
    let audience = Audience::of(&at.principal, &app.tokens);
    let page = page.map(|line| HistoryBid::new(&at.listing, line, &audience));
    Ok(reply::json(StatusCode::OK, &page))
}
