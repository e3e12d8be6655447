//! `GET /v1/buyers/{buyer}/bids`: a buyer's part in every auction that is open, or that he may still pay.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use onsale_domain::Found;
use onsale_domain::auction::{AuctionFound, AuctionQuery, AuctionStatus, AwardState, BidderState};
use onsale_domain::{ListingKind, Tenant};
use serde::Serialize;
use utoipa::ToSchema;

use super::{YouBody, find, of};
use crate::app::App;
use crate::http::extract::{BuyerPath, Caller};
use crate::http::problem::Problem;
use crate::http::reply;
use crate::http::time::Time;
use crate::http::wire::At;

#[derive(Debug, Serialize, ToSchema)]
pub struct BuyerBids<'a> {
    #[schema(example = "ext:default:ann")]
    buyer: &'a str,
    auctions: Vec<AuctionBids>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct AuctionBids {
    auction: String,
    name: String,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    price_minor: Option<i64>,
    currency: String,
    ends_at: Time,
    #[serde(flatten)]
    part: YouBody,
    /// The auction's position at which this was read.
    #[schema(value_type = String, example = "1-57")]
    position: At,
}

/// A buyer's active bids, the soonest end first; with his maxima if `Onsale-Buyer` names the same buyer
#[utoipa::path(get, path = "/v1/buyers/{buyer}/bids", tag = "auctions",
    params(("buyer" = String, Path), ("Onsale-Buyer" = Option<String>, Header)),
    responses((status = 200, body = BuyerBids)))]
pub async fn bids(
    State(app): State<Arc<App>>,
    BuyerPath(buyer): BuyerPath,
    caller: Caller,
) -> Result<Response, Problem> {
    let own = caller.buyer.as_ref() == Some(&buyer);
    let query = AuctionQuery::Bidder(buyer.clone());
    let found = app.engine.ask_all(Tenant::DEFAULT, ListingKind::Auction, query.into()).await?;
    let (now, mut auctions) = (app.engine.now(), Vec::new());
    for one in found {
        let Found::Auction(AuctionFound::Bidder(state)) = one.found else { continue };
        let Ok(view) = find(&app, &one.listing) else { continue };
        let auction = of(&view)?;
        let status = auction.status_at(now);
        if !is_active(&state, status) {
            continue;
        }
        let mut part = YouBody::from(*state);
        if !own {
            part.max_minor = None;
        }
        auctions.push(AuctionBids {
            auction: one.listing.to_string(),
            name: auction.details.name.clone(),
            status: status.as_str(),
            price_minor: auction.price_minor,
            currency: auction.details.currency.as_str().to_owned(),
            ends_at: Time(auction.ends_at),
            part,
            position: At(one.position),
        });
    }
    auctions.sort_by_key(|auction| auction.ends_at);
    Ok(reply::json(StatusCode::OK, &BuyerBids { buyer: buyer.as_str(), auctions }))
}

/// A bid that stands in an open auction, or an award that waits to be paid.
fn is_active(state: &BidderState, status: AuctionStatus) -> bool {
    let pending = matches!(state.award, Some((_, AwardState::Pending)));
    pending || state.bids > 0 && status == AuctionStatus::Open
}
