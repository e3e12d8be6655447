//! `…/bans`: staff keeps a bidder away from one auction; the bidder's bids go, too, while it is open.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use onsale_domain::auction::command::BanBidder;
use onsale_domain::auction::{AuctionCommand, AuctionFact};
use onsale_domain::{BuyerId, Command, Fact, Outcome};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::retractions::AfterBody;
use crate::app::App;
use crate::http::extract::{self, AuctionPath, Caller, Json};
use crate::http::problem::Problem;
use crate::http::reply::{self, find_fact};
use crate::http::wire::At;

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Ban {
    #[schema(example = "eve")]
    pub bidder: String,
    #[schema(example = "bids for the seller")]
    pub reason: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct BanChanged {
    auction: String,
    #[schema(example = "eve")]
    bidder: String,
    banned: bool,
    /// False if it was so before.
    changed: bool,
    /// What stands without this bidder's bids, if any of them stood.
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<AfterBody>,
    #[schema(value_type = String, example = "1-9")]
    position: At,
}

/// Ban a bidder from an auction
///
/// While the auction is open the bidder's bids are taken back with it, and the rest is replayed without them.
#[utoipa::path(post, path = "/v1/auctions/{auction}/bans", tag = "auctions", request_body = Ban,
    responses((status = 200, body = BanChanged)))]
pub async fn ban(
    State(app): State<Arc<App>>,
    at: AuctionPath,
    caller: Caller,
    Json(body): Json<Ban>,
) -> Result<Response, Problem> {
    let bidder =
        BuyerId::parse(&body.bidder).ok_or_else(|| Problem::invalid("bidder", extract::BUYER_RULE))?;
    let origin = caller.origin(&at.listing, &body);
    let ban = BanBidder { bidder: bidder.clone(), reason: body.reason };
    let answer =
        reply::submit(&app, at.listing, Command::Auction(AuctionCommand::BanBidder(ban)), origin, None)
            .await?;
    let after = find_fact(&answer, |fact| {
        if let Fact::Auction(AuctionFact::BidderBanned { after: Some(after), .. }) = fact {
            Some(AfterBody::from(&**after))
        } else {
            None
        }
    });
    let told = BanChanged {
        auction: at.listing.to_string(),
        bidder: bidder.as_str().to_owned(),
        banned: true,
        changed: answer.outcome != Outcome::Unchanged,
        after: after.map(|(_, after)| after),
        position: At(reply::position_of(&answer)),
    };
    Ok(reply::yes(StatusCode::OK, &answer, &told))
}

/// Let a bidder bid again; what was retracted stays so
///
/// Bids that the ban took back are not restored.
#[utoipa::path(delete, path = "/v1/auctions/{auction}/bans/{bidder}", tag = "auctions",
    responses((status = 200, body = BanChanged)))]
pub async fn unban(
    State(app): State<Arc<App>>,
    at: AuctionPath,
    caller: Caller,
) -> Result<Response, Problem> {
    let bidder =
        BuyerId::parse(at.inner()).ok_or_else(|| Problem::parameter("bidder", extract::BUYER_RULE))?;
    let origin = caller.origin(&at.listing, &());
    let command = Command::Auction(AuctionCommand::UnbanBidder(bidder.clone()));
    let answer = reply::submit(&app, at.listing, command, origin, None).await?;
    let told = BanChanged {
        auction: at.listing.to_string(),
        bidder: bidder.as_str().to_owned(),
        banned: false,
        changed: answer.outcome != Outcome::Unchanged,
        after: None,
        position: At(reply::position_of(&answer)),
    };
    Ok(reply::yes(StatusCode::OK, &answer, &told))
}
