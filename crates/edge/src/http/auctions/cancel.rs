//! `POST …/cancel`: an auction is called off; on record with why.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use onsale_domain::Command;
use onsale_domain::auction::command::CancelAuction;
use onsale_domain::auction::{AuctionCommand, AuctionFact};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::own_fact;
use crate::app::App;
use crate::http::extract::{AuctionPath, Caller, Json};
use crate::http::problem::Problem;
use crate::http::reply;
use crate::http::time::Time;
use crate::http::wire::At;
use crate::http::words::AuctionStatus;

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Cancellation {
    #[schema(example = "the clock is broken")]
    pub reason: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct AuctionCancelled<'a> {
    id: String,
    status: AuctionStatus,
    reason: &'a str,
    cancelled_at: Time,
    #[schema(value_type = String, example = "1-9")]
    position: At,
}

/// Call an auction off: nobody gets it
///
/// With a reason, which stays on record.
#[utoipa::path(post, path = "/v1/auctions/{auction}/cancel", tag = "auctions", request_body = Cancellation,
    responses((status = 200, body = AuctionCancelled), (status = 409, description = "Over or cancelled before")))]
pub async fn cancel(
    State(app): State<Arc<App>>,
    at: AuctionPath,
    caller: Caller,
    Json(body): Json<Cancellation>,
) -> Result<Response, Problem> {
    let origin = caller.origin(&at.listing, &body);
    let command = Command::Auction(AuctionCommand::CancelAuction(CancelAuction { reason: body.reason }));
    let answer = reply::submit(&app, at.listing, command, origin, None).await?;
    let reason = own_fact(&answer, |fact| {
        if let AuctionFact::AuctionCancelled { reason } = fact { Some(reason) } else { None }
    })?;
    let told = AuctionCancelled {
        id: at.listing.to_string(),
        status: AuctionStatus::Cancelled,
        reason,
        cancelled_at: Time(reply::time_of(&answer)),
        position: At(reply::position_of(&answer)),
    };
    Ok(reply::yes(StatusCode::OK, &answer, &told))
}
