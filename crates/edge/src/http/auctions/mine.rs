//! `GET /v1/buyers/{buyer}/bids`: a buyer's part in every auction that is open, or that they may still pay.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use onsale_domain::Found;
use onsale_domain::ListingKind;
use onsale_domain::auction::{AuctionFound, AuctionQuery, AuctionStatus, AwardState, BidderState};
use serde::Serialize;
use utoipa::ToSchema;

use super::{YouBody, find, of};
use crate::app::App;
use crate::http::extract::{BuyerPath, Caller};
use crate::http::list::{self, Cursors, List, Page};
use crate::http::problem::Problem;
use crate::http::query::Query;
use crate::http::reply;
use crate::http::time::Time;
use crate::http::wire::At;
use crate::http::words;

#[derive(Debug, Serialize, ToSchema)]
pub struct AuctionBids {
    auction: String,
    name: String,
    status: words::AuctionStatus,
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

/// A buyer's active bids in order of the auctions' ids; with the maxima if `Onsale-Buyer` names the same buyer
///
/// Auctions that are open, and those that the buyer may still pay.
#[utoipa::path(get, path = "/v1/buyers/{buyer}/bids", tag = "auctions",
    params(("Onsale-Buyer" = Option<String>, Header), ("after" = Option<String>, Query), ("limit" = Option<usize>, Query)),
    responses((status = 200, body = List<AuctionBids>)))]
pub async fn bids(
    State(app): State<Arc<App>>,
    BuyerPath(buyer, principal): BuyerPath,
    caller: Caller,
    Query(page): Query<Page>,
) -> Result<Response, Problem> {
    let own = caller.buyer.as_ref() == Some(&buyer);
    let query = AuctionQuery::Bidder(buyer.clone());
    let found = app.engine.ask_all(principal.tenant, ListingKind::Auction, query.into()).await?;
    let (now, mut auctions) = (app.engine.now(), Vec::new());
    for one in found {
        let Found::Auction(AuctionFound::Bidder(state)) = one.found else { continue };
        let Ok(view) = find(&app, &one.listing) else { continue };
        let auction = of(&view)?;
        let status = auction.status_at(now);
        if !is_active(&state, status) {
            continue;
        }
        let mut part = YouBody::new(*state, now);
        if !own {
            part.max_minor = None;
        }
        auctions.push(AuctionBids {
            auction: one.listing.to_string(),
            name: auction.details.name.clone(),
            status: status.into(),
            price_minor: auction.price_minor,
            currency: auction.details.currency.as_str().to_owned(),
            ends_at: Time(auction.ends_at),
            part,
            position: At(one.position),
        });
    }
    let cursors = Cursors::new("buyers.bids", buyer.as_str());
    let page = list::of_all(&page, cursors, auctions, |one| one.auction.clone())?;
    Ok(reply::json(StatusCode::OK, &page))
}

/// A bid that stands in an open auction, or an award that waits to be paid.
fn is_active(state: &BidderState, status: AuctionStatus) -> bool {
    let pending = matches!(state.award, Some((_, AwardState::Pending)));
    pending || state.bids > 0 && status == AuctionStatus::Open
}
