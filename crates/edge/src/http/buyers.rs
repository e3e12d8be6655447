//! `GET /v1/buyers/{buyer}/holds`: a buyer's living holds over all events.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;
use utoipa::ToSchema;

use super::extract::{BuyerPath, Caller};
use super::list::{self, Cursors, List, Page};
use super::names::Names;
use super::problem::Problem;
use super::query::Query;
use super::reply;
use super::wire::{At, HoldBody, HoldParts, hold_text};
use crate::app::App;

#[derive(Debug, Serialize, ToSchema)]
pub struct BuyerHold<'a> {
    #[serde(flatten)]
    hold: HoldBody<'a>,
    /// The event's position at which this was read.
    #[schema(value_type = String, example = "1-57")]
    position: At,
}

/// A buyer's holds; with tokens if `Onsale-Buyer` names the same buyer
///
/// Over all events, in order of their ids, each with the position at which it was read.
#[utoipa::path(get, path = "/v1/buyers/{buyer}/holds", tag = "holds",
    params(("Onsale-Buyer" = Option<String>, Header), ("after" = Option<String>, Query), ("limit" = Option<usize>, Query)),
    responses((status = 200, body = List<BuyerHold>)))]
pub async fn holds(
    State(app): State<Arc<App>>,
    BuyerPath(buyer, principal): BuyerPath,
    caller: Caller,
    Query(page): Query<Page>,
) -> Result<Response, Problem> {
    let own = caller.buyer.as_ref() == Some(&buyer);
    let found = app.engine.holds_of(principal.tenant, buyer.clone()).await?;
    let named: Vec<_> = found
        .iter()
        .filter(|held| principal.sees(&held.listing))
        .map(|held| Ok((held, Names::of(&*app.engine, &held.listing)?)))
        .collect();
    let named: Vec<_> = named.into_iter().collect::<Result<_, Problem>>()?;
    let all = named.iter().flat_map(|(held, names)| held.holds.iter().map(move |state| (held, names, state)));
    let cursors = Cursors::new("buyers.holds", buyer.as_str());
    let page =
        list::of_all(&page, cursors, all.collect(), |(held, _, state)| hold_text(&held.listing, state.hold))?;
    let now = app.engine.now();
    let page = page.map(|(held, names, state)| BuyerHold {
        hold: HoldBody::new(HoldParts::from(*state), now, names, own.then_some(&app.tokens)),
        position: At(held.position),
    });
    Ok(reply::json(StatusCode::OK, &page))
}
