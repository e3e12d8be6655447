//! `POST …/retractions`: a bid is taken back, by staff or, where the auction allows it, by its bidder.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use onsale_domain::Command;
use onsale_domain::auction::command::{RetractBid, Retractor};
use onsale_domain::auction::fact::ReplayResult;
use onsale_domain::auction::{AuctionCommand, AuctionFact};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::App;
use crate::http::extract::{AuctionPath, Caller, Json};
use crate::http::problem::Problem;
use crate::http::reply::{self, find_fact};
use crate::http::wire::At;

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Retraction {
    /// The bid's number, as its answer and the history show it.
    #[schema(example = 3)]
    pub bid: u32,
    #[schema(example = "a nought too many")]
    pub reason: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct BidRetracted {
    auction: String,
    bid: u32,
    /// False if it was retracted before.
    changed: bool,
    /// What the remaining bids come to.
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<AfterBody>,
    #[schema(value_type = String, example = "1-9")]
    position: At,
}

/// What the remaining bids come to, replayed.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AfterRetraction)]
pub struct AfterBody {
    #[serde(skip_serializing_if = "Option::is_none")]
    leader: Option<String>,
    /// 0 with no bids left.
    price_minor: i64,
    min_next_minor: i64,
    reserve_met: bool,
}

impl From<&ReplayResult> for AfterBody {
    fn from(after: &ReplayResult) -> AfterBody {
        AfterBody {
            leader: after.leader.as_ref().map(|leader| leader.bidder.as_str().to_owned()),
            price_minor: after.price_minor,
            min_next_minor: after.min_next_minor,
            reserve_met: after.reserve_met,
        }
    }
}

/// Take a bid back; the rest is replayed without it
///
/// With `Onsale-Buyer` it must be the bidder's own; without, staff takes it back.
#[utoipa::path(post, path = "/v1/auctions/{auction}/retractions", tag = "auctions",
    request_body = Retraction, params(("Onsale-Buyer" = Option<String>, Header)),
    responses((status = 200, body = BidRetracted), (status = 403, description = "Staff alone"), (status = 404, description = "No such bid, or not yours"), (status = 409, description = "Not the latest, too late, over")))]
pub async fn retract(
    State(app): State<Arc<App>>,
    at: AuctionPath,
    caller: Caller,
    Json(body): Json<Retraction>,
) -> Result<Response, Problem> {
    let caller = caller.or_staff();
    let by = caller.buyer.clone().map_or(Retractor::Staff, Retractor::Bidder);
    let origin = caller.origin(&at.listing, &body);
    let command =
        Command::Auction(AuctionCommand::RetractBid(RetractBid { bid: body.bid, by, reason: body.reason }));
    let answer = reply::submit(&app, at.listing, command, origin, None).await?;
    let after = find_fact(&answer, |fact| {
        if let onsale_domain::Fact::Auction(AuctionFact::BidRetracted { after, .. }) = fact {
            Some(AfterBody::from(&**after))
        } else {
            None
        }
    });
    let told = BidRetracted {
        auction: at.listing.to_string(),
        bid: body.bid,
        changed: after.is_some(),
        after: after.map(|(_, after)| after),
        position: At(reply::position_of(&answer)),
    };
    Ok(reply::yes(StatusCode::OK, &answer, &told))
}
