//! `PATCH /v1/auctions/{auction}`: words until it closes, times and terms until it starts.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use onsale_domain::Command;
use onsale_domain::auction::AuctionCommand;
use onsale_domain::auction::command::{ChangeAuction, ChangeTerms};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::details::{BuyNowBody, IncrementBody, SoftCloseBody};
use super::{AuctionBody, changed};
use crate::app::App;
use crate::http::about::{self, CardBody, Metadata};
use crate::http::extract::{AuctionPath, Caller, Json};
use crate::http::problem::Problem;
use crate::http::reply;
use crate::http::time::Time;

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
    #[serde(deserialize_with = "about::given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<i64>)]
    pub reserve_minor: Option<Option<i64>>,
    #[serde(deserialize_with = "about::given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<BuyNowBody>)]
    pub buy_now: Option<Option<BuyNowBody>>,
    #[serde(deserialize_with = "about::given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<SoftCloseBody>)]
    pub soft_close: Option<Option<SoftCloseBody>>,
    pub bidders_may_retract: Option<bool>,
    /// Replaces all of it; `null` takes it away.
    #[serde(deserialize_with = "about::given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub metadata: Option<Option<Metadata>>,
    /// Replaces all of it; `null` takes it away.
    #[serde(deserialize_with = "about::given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<CardBody>)]
    pub card: Option<Option<CardBody>>,
}

/// Change an auction
///
/// Names and descriptions until it closes, times and terms until it starts, what is said of it at any time, but by itself. The
/// answer is the auction as it is now, with its reserve.
#[utoipa::path(patch, path = "/v1/auctions/{auction}", tag = "auctions", request_body = AuctionChange,
    responses((status = 200, body = AuctionBody), (status = 409, description = "Started, over or cancelled")))]
pub async fn change(
    State(app): State<Arc<App>>,
    at: AuctionPath,
    caller: Caller,
    Json(body): Json<AuctionChange>,
) -> Result<Response, Problem> {
    let change = body.to_domain();
    let others = change != ChangeAuction::default();
    let command = match about::change(&body.metadata, &body.card, others)? {
        Some(describe) => describe,
        None if others => Command::Auction(AuctionCommand::ChangeAuction(Box::new(change))),
        None => return Err(Problem::invalid("body", "names at least one thing to change")),
    };
    let origin = caller.origin(&at.listing, &body);
    let answer = reply::submit(&app, at.listing, command, origin, None).await?;
    changed(&app, &at.listing, &answer).await
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
