//! `GET /v1/buyers/{buyer}/holds`: a buyer's living holds over all events.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use onsale_domain::Tenant;
use serde::Serialize;
use utoipa::ToSchema;

use super::extract::{BuyerPath, Caller};
use super::names::Names;
use super::problem::Problem;
use super::reply;
use super::wire::{At, HoldBody, HoldParts};
use crate::app::App;

#[derive(Debug, Serialize, ToSchema)]
pub struct BuyerHolds<'a> {
    buyer: &'a str,
    events: Vec<EventHolds<'a>>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct EventHolds<'a> {
    event: String,
    /// The event's position at which its holds were read.
    #[schema(value_type = String, example = "1-57")]
    position: At,
    holds: Vec<HoldBody<'a>>,
}

/// A buyer's holds; with tokens if `Onsale-Buyer` names the same buyer
#[utoipa::path(get, path = "/v1/buyers/{buyer}/holds", tag = "holds",
    params(("buyer" = String, Path), ("Onsale-Buyer" = Option<String>, Header)),
    responses((status = 200, body = BuyerHolds)))]
pub async fn holds(
    State(app): State<Arc<App>>,
    BuyerPath(buyer): BuyerPath,
    caller: Caller,
) -> Result<Response, Problem> {
    let own = caller.buyer.as_ref() == Some(&buyer);
    let found = app.engine.holds_of(Tenant::DEFAULT, buyer.clone()).await?;
    let named: Vec<_> =
        found.iter().map(|held| Ok((held, Names::of(&*app.engine, &held.listing)?))).collect();
    let named: Vec<_> = named.into_iter().collect::<Result<_, Problem>>()?;
    let now = app.engine.now();
    let events = named.iter().filter(|(held, _)| !held.holds.is_empty()).map(|(held, names)| EventHolds {
        event: held.listing.to_string(),
        position: At(held.position),
        holds: held
            .holds
            .iter()
            .map(|state| HoldBody::new(HoldParts::from(state), now, names, own.then_some(&app.tokens)))
            .collect(),
    });
    Ok(reply::json(StatusCode::OK, &BuyerHolds { buyer: buyer.as_str(), events: events.collect() }))
}
