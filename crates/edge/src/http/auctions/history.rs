//! `GET …/history`: every accepted bid, newest first. No maximum above the price is in it, before the close or after.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use onsale_domain::Code;
use onsale_domain::Found;
use onsale_domain::auction::{AuctionFound, AuctionQuery, HistoryLine};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{find, of};
use crate::app::App;
use crate::http::extract::AuctionPath;
use crate::http::problem::{Problem, ProblemBody};
use crate::http::query::{self, LIMIT_MAX, Query};
use crate::http::reply;
use crate::http::time::Time;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Page {
    before: Option<u32>,
    limit: Option<usize>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct BidHistory {
    auction: String,
    #[schema(example = "EUR")]
    currency: String,
    bids: Vec<HistoryBid>,
    /// Go on with `?before=` this; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<u32>,
}

/// One bid as everybody may see it.
#[derive(Debug, Serialize, ToSchema)]
pub struct HistoryBid {
    #[schema(example = 3)]
    bid: u32,
    #[schema(example = "ext:default:ann")]
    bidder: String,
    at: Time,
    /// The bid's maximum, cut at the price; absent if it was retracted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = 5100)]
    amount_minor: Option<i64>,
    retracted: bool,
    leading: bool,
}

impl From<&HistoryLine> for HistoryBid {
    fn from(line: &HistoryLine) -> HistoryBid {
        HistoryBid {
            bid: line.bid,
            bidder: line.bidder.as_str().to_owned(),
            at: Time(line.at),
            amount_minor: line.amount_minor,
            retracted: line.amount_minor.is_none(),
            leading: line.leading,
        }
    }
}

/// The bids of an auction, newest first
#[utoipa::path(get, path = "/v1/auctions/{auction}/history", tag = "auctions",
    params(("auction" = String, Path), ("before" = Option<u32>, Query, description = "A bid's number"),
           ("limit" = Option<usize>, Query, description = "1 to 500")),
    responses((status = 200, body = BidHistory), (status = 404, body = ProblemBody)))]
pub async fn list(
    State(app): State<Arc<App>>,
    at: AuctionPath,
    Query(page): Query<Page>,
) -> Result<Response, Problem> {
    let limit = query::limit(page.limit, LIMIT_MAX)?;
    let view = find(&app, &at.listing)?;
    let query = AuctionQuery::History { before: page.before, limit };
    let found = app.engine.ask(at.listing, query.into()).await?;
    let Found::Auction(AuctionFound::History(lines)) = found else {
        return Err(Problem::code(Code::ListingUnknown));
    };
    let next = lines.last().map(|line| line.bid).filter(|last| lines.len() == limit && *last > 1);
    let history = BidHistory {
        auction: at.listing.to_string(),
        currency: of(&view)?.details.currency.as_str().to_owned(),
        bids: lines.iter().map(HistoryBid::from).collect(),
        next,
    };
    Ok(reply::json(StatusCode::OK, &history))
}
