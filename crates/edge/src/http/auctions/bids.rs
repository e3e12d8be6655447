//! `POST …/bids` and `POST …/buy-now`. The whole answer comes from the decision's facts, so that a replay tells the same.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use onsale_domain::auction::command::{BuyNow, PlaceBid};
use onsale_domain::auction::{AuctionCommand, AuctionFact, BidAnswer, BidStanding};
use onsale_domain::{Command, Fact};
use onsale_engine::Answer;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::App;
use crate::http::events::currency;
use crate::http::extract::{AuctionPath, Caller, Json};
use crate::http::problem::{Problem, catalog};
use crate::http::reply;
use crate::http::time::Time;
use crate::http::wire::At;
use crate::http::words;

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewBid {
    /// The most you would pay, in minor units; what you pay follows from the others.
    #[schema(example = 12000)]
    pub max_minor: i64,
    /// The auction's own currency.
    #[schema(example = "EUR")]
    pub currency: String,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Purchase {
    /// The auction's own currency.
    #[schema(example = "EUR")]
    pub currency: String,
}

/// What a bid came to, right after it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Bid)]
pub struct BidBody {
    auction: String,
    #[schema(example = "ann")]
    bidder: String,
    standing: words::BidStanding,
    /// The bid's number in the history; none if it bought.
    #[serde(skip_serializing_if = "Option::is_none")]
    bid: Option<u32>,
    /// Your own maximum. Shown to nobody else.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_minor: Option<i64>,
    #[schema(example = 5100)]
    price_minor: i64,
    /// What another bid must offer now.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = 5200)]
    min_next_minor: Option<i64>,
    #[schema(example = "EUR")]
    currency: String,
    /// The end, as this bid may have moved it.
    #[serde(skip_serializing_if = "Option::is_none")]
    ends_at: Option<Time>,
    /// To be paid before this instant, if it bought.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<Time>,
    /// How long that is after the answer was first given.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_in_seconds: Option<u64>,
    at: Time,
    /// The fact's position.
    #[schema(value_type = String, example = "1-7")]
    position: At,
}

/// Place a bid
///
/// The answer says at once whether it leads. A bid that reaches a buy-now price on offer buys.
#[utoipa::path(post, path = "/v1/auctions/{auction}/bids", tag = "auctions", request_body = NewBid,
    params(("Onsale-Buyer" = String, Header)),
    responses((status = 201, body = BidBody), (status = 403, description = "Seller or banned"), (status = 409, description = "Too low, over, another currency …")))]
pub async fn place(
    State(app): State<Arc<App>>,
    at: AuctionPath,
    caller: Caller,
    Json(body): Json<NewBid>,
) -> Result<Response, Problem> {
    let bidder = caller.buyer()?.clone();
    let origin = caller.origin(&at.listing, &body);
    let currency = currency(&body.currency)?;
    let bid = PlaceBid { bidder, max_minor: body.max_minor, currency };
    let command = Command::Auction(AuctionCommand::PlaceBid(bid));
    let answer = reply::submit(&app, at.listing, command, origin, None).await?;
    told(&at, &caller, &answer, &body.currency)
}

/// Buy at once
///
/// While it is on offer. The auction is over, and the buyer has it to pay.
#[utoipa::path(post, path = "/v1/auctions/{auction}/buy-now", tag = "auctions", request_body = Purchase,
    params(("Onsale-Buyer" = String, Header)),
    responses((status = 201, body = BidBody), (status = 403, description = "Seller or banned"), (status = 409, description = "Not on offer, over …")))]
pub async fn buy_now(
    State(app): State<Arc<App>>,
    at: AuctionPath,
    caller: Caller,
    Json(body): Json<Purchase>,
) -> Result<Response, Problem> {
    let buyer = caller.buyer()?.clone();
    let origin = caller.origin(&at.listing, &body);
    let command =
        Command::Auction(AuctionCommand::BuyNow(BuyNow { buyer, currency: currency(&body.currency)? }));
    let answer = reply::submit(&app, at.listing, command, origin, None).await?;
    told(&at, &caller, &answer, &body.currency)
}

fn told(at: &AuctionPath, caller: &Caller, answer: &Answer, currency: &str) -> Result<Response, Problem> {
    let facts =
        answer.facts().filter_map(
            |(offset, fact)| {
                if let Fact::Auction(fact) = fact { Some((offset, fact)) } else { None }
            },
        );
    let bid = BidAnswer::of(facts).ok_or_else(|| {
        tracing::error!("a bid was taken without its fact");
        Problem::of(catalog::INTERNAL)
    })?;
    let max_minor = reply::find_fact(answer, |fact| {
        if let Fact::Auction(AuctionFact::BidPlaced { max_minor, .. }) = fact {
            Some(*max_minor)
        } else {
            None
        }
    });
    let now = reply::time_of(answer);
    let (ends_at, expires_at) = match bid.standing {
        BidStanding::Leading | BidStanding::Outbid => (Some(Time(bid.until)), None),
        BidStanding::Bought => (None, Some(Time(bid.until))),
    };
    let body = BidBody {
        auction: at.listing.to_string(),
        bidder: caller.buyer()?.as_str().to_owned(),
        standing: bid.standing.into(),
        bid: bid.bid,
        max_minor: max_minor.map(|(_, max)| max),
        price_minor: bid.price_minor,
        min_next_minor: bid.min_next_minor,
        currency: currency.to_owned(),
        ends_at,
        expires_at,
        expires_in_seconds: expires_at.map(|until| until.seconds_after(now)),
        at: Time(now),
        position: At(reply::position_of(answer)),
    };
    Ok(reply::created(answer, &format!("/v1/auctions/{}", at.listing), &body))
}
