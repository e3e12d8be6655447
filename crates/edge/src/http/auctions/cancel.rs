//! `POST …/cancel`: an auction is called off; on record with why.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use onsale_domain::Command;
use onsale_domain::auction::AuctionCommand;
use onsale_domain::auction::command::CancelAuction;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{AuctionBody, changed};
use crate::app::App;
use crate::http::extract::{AuctionPath, Caller, Json};
use crate::http::problem::Problem;
use crate::http::reply;

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Cancellation {
    #[schema(example = "the clock is broken")]
    pub reason: String,
}

/// Call an auction off: nobody gets it
///
/// With a reason, which stays on record. The answer is the auction as it is now, with its reserve, under the same key, too.
#[utoipa::path(post, path = "/v1/auctions/{auction}/cancel", tag = "auctions", request_body = Cancellation,
    responses((status = 200, body = AuctionBody), (status = 409, description = "Over or cancelled before")))]
pub async fn cancel(
    State(app): State<Arc<App>>,
    at: AuctionPath,
    caller: Caller,
    Json(body): Json<Cancellation>,
) -> Result<Response, Problem> {
    let origin = caller.origin(&at.listing, &body);
    let command = Command::Auction(AuctionCommand::CancelAuction(CancelAuction { reason: body.reason }));
    let answer = reply::submit(&app, at.listing, command, origin, None).await?;
    changed(&app, &at.listing, &answer).await
}
