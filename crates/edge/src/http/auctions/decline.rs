//! `POST …/decline`: a second chance is turned down and passes on. A winning bid binds.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use onsale_domain::Command;
use onsale_domain::auction::{AuctionCommand, AuctionFact};
use serde::Serialize;
use utoipa::ToSchema;

use super::own_fact;
use crate::app::App;
use crate::http::extract::{AuctionPath, Caller};
use crate::http::problem::Problem;
use crate::http::wire::At;
use crate::http::{lost, reply};

#[derive(Debug, Serialize, ToSchema)]
pub struct AwardDeclined<'a> {
    auction: String,
    bidder: &'a str,
    #[schema(value_type = String, example = "1-12")]
    position: At,
}

/// Turn a second chance down
///
/// Whoever bid next gets the chance instead. A winning bid binds and cannot be turned down.
#[utoipa::path(post, path = "/v1/auctions/{auction}/decline", tag = "auctions",
    params(("Onsale-Buyer" = String, Header)),
    responses((status = 200, body = AwardDeclined), (status = 404, description = "Nothing to decline"), (status = 409, description = "A winning bid binds"), (status = 410)))]
pub async fn decline(
    State(app): State<Arc<App>>,
    at: AuctionPath,
    caller: Caller,
) -> Result<Response, Problem> {
    let bidder = caller.buyer()?.clone();
    let origin = caller.origin(&at.listing, &());
    let command = Command::Auction(AuctionCommand::DeclineAward(bidder));
    let answer = match reply::submit(&app, at.listing, command, origin, None).await {
        Ok(answer) => answer,
        // An auction has one thing to sell: its number is 0.
        Err(problem) => return Err(lost::bought(&app, at.listing, 0, problem).await),
    };
    let bidder = own_fact(&answer, |fact| {
        if let AuctionFact::AwardPassed { from, .. } = fact { Some(from.as_str()) } else { None }
    })?;
    let told =
        AwardDeclined { auction: at.listing.to_string(), bidder, position: At(reply::position_of(&answer)) };
    Ok(reply::yes(StatusCode::OK, &answer, &told))
}
