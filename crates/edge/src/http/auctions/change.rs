//! `PATCH /v1/auctions/{auction}`: words until it closes, times and terms until it starts.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use onsale_domain::auction::command::{ChangeAuction, ChangeTerms};
use onsale_domain::auction::{AuctionCommand, AuctionFact};
use onsale_domain::{Command, Fact};
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use super::details::{BuyNowBody, DetailsBody, IncrementBody, SoftCloseBody};
use crate::app::App;
use crate::http::extract::{AuctionPath, Caller, Json};
use crate::http::problem::Problem;
use crate::http::reply::{self, find_fact};
use crate::http::time::Time;
use crate::http::wire::At;

/// Only what is named changes; `null` takes away what may be absent.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
#[schema(min_properties = 1)]
pub struct AuctionChange {
    #[schema(example = "Station clock, 1931, with key")]
    pub name: Option<String>,
    pub description: Option<String>,
    pub starts_at: Option<Time>,
    pub ends_at: Option<Time>,
    pub start_minor: Option<i64>,
    pub tick_minor: Option<i64>,
    pub increment: Option<IncrementBody>,
    #[serde(deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<i64>)]
    pub reserve_minor: Option<Option<i64>>,
    #[serde(deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<BuyNowBody>)]
    pub buy_now: Option<Option<BuyNowBody>>,
    #[serde(deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<SoftCloseBody>)]
    pub soft_close: Option<Option<SoftCloseBody>>,
    pub bidders_may_retract: Option<bool>,
}

/// Tells `null` from what is not there at all.
fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(from).map(Some)
}

#[derive(Debug, Serialize, ToSchema)]
pub struct AuctionChanged {
    id: String,
    /// False if it was so before.
    changed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<DetailsBody>,
    #[schema(value_type = String, example = "1-4")]
    position: At,
}

/// Change an auction
///
/// Names and descriptions until it closes, times and terms until it starts.
#[utoipa::path(patch, path = "/v1/auctions/{auction}", tag = "auctions", request_body = AuctionChange,
    responses((status = 200, body = AuctionChanged), (status = 409, description = "Started, over or cancelled")))]
pub async fn change(
    State(app): State<Arc<App>>,
    at: AuctionPath,
    caller: Caller,
    Json(body): Json<AuctionChange>,
) -> Result<Response, Problem> {
    let change = body.to_domain();
    if change == ChangeAuction::default() {
        return Err(Problem::invalid("body", "names at least one thing to change"));
    }
    let origin = caller.origin(&at.listing, &body);
    let command = Command::Auction(AuctionCommand::ChangeAuction(Box::new(change)));
    let answer = reply::submit(&app, at.listing, command, origin, None).await?;
    let details = find_fact(&answer, |fact| {
        if let Fact::Auction(AuctionFact::AuctionChanged(details)) = fact { Some(details) } else { None }
    });
    let told = AuctionChanged {
        id: at.listing.to_string(),
        changed: details.is_some(),
        // Whoever may change it may know its reserve.
        details: details.map(|(_, details)| DetailsBody::new(details, details.ends_at, true)),
        position: At(reply::position_of(&answer)),
    };
    Ok(reply::yes(StatusCode::OK, &answer, &told))
}

impl AuctionChange {
    fn to_domain(&self) -> ChangeAuction {
        ChangeAuction {
            name: self.name.clone(),
            description: self.description.clone(),
            starts_at: self.starts_at.map(Time::ms),
            ends_at: self.ends_at.map(Time::ms),
            terms: ChangeTerms {
                start_minor: self.start_minor,
                tick_minor: self.tick_minor,
                increment: self.increment.as_ref().map(IncrementBody::to_domain),
                reserve_minor: self.reserve_minor,
                buy_now: self.buy_now.map(|terms| terms.map(BuyNowBody::into_domain)),
                soft_close: self.soft_close.as_ref().map(|soft| soft.as_ref().map(SoftCloseBody::to_domain)),
                bidders_may_retract: self.bidders_may_retract,
            },
        }
    }
}
