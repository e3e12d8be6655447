//! `GET /v1/buyers/{buyer}/checkouts`: what a buyer has reserved over all sales, and bought last.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use onsale_access::principal::Principal;
use onsale_domain::stock::{CheckoutState, SaleFound, SaleQuery};
use onsale_domain::{BuyerId, ListingKind};
use onsale_domain::{Found, Query};
use onsale_engine::{FoundAt, Position};
use serde::Serialize;
use utoipa::ToSchema;

use super::checkouts::CheckoutBody;
use super::names::Skus;
use super::wire::checkout_text;
use crate::app::App;
use crate::http::extract::{BuyerPath, Caller};
use crate::http::list::{self, Cursors, List, Page};
use crate::http::problem::Problem;
use crate::http::wire::At;
use crate::http::{self, reply};

#[derive(Debug, Serialize, ToSchema)]
pub struct BuyerCheckouts<'a> {
    #[serde(flatten)]
    page: List<BuyerCheckout<'a>>,
    /// The latest over all sales.
    last_purchase: Option<CheckoutBody<'a>>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct BuyerCheckout<'a> {
    #[serde(flatten)]
    checkout: CheckoutBody<'a>,
    /// The sale's position at which this was read.
    #[schema(value_type = String, example = "1-57")]
    position: At,
}

/// A buyer's living checkouts and last purchase; with codes if `Onsale-Buyer` names the same buyer
///
/// Over all sales, in order of their ids, each with the position at which it was read.
#[utoipa::path(get, path = "/v1/buyers/{buyer}/checkouts", tag = "checkouts",
    params(("Onsale-Buyer" = Option<String>, Header), ("after" = Option<String>, Query), ("limit" = Option<usize>, Query)),
    responses((status = 200, body = BuyerCheckouts)))]
pub async fn list(
    State(app): State<Arc<App>>,
    BuyerPath(buyer, principal): BuyerPath,
    caller: Caller,
    http::query::Query(page): http::query::Query<Page>,
) -> Result<Response, Problem> {
    let tokens = (caller.buyer.as_ref() == Some(&buyer)).then_some(&app.tokens);
    let found = find(&app, &principal, &buyer).await?;
    let living = found.iter().flat_map(|(position, skus, found)| {
        let states = if let SaleFound::Checkouts(states) = found { states.as_slice() } else { &[] };
        states.iter().map(move |state| (*position, skus, state))
    });
    let cursors = Cursors::new("buyers.checkouts", buyer.as_str());
    let id = |(_, skus, state): &(Position, &Skus, &CheckoutState)| {
        checkout_text(&skus.view.listing, state.checkout)
    };
    let page = list::of_all(&page, cursors, living.collect(), id)?;
    let now = app.engine.now();
    let bought = found.iter().filter_map(|(_, skus, found)| {
        let SaleFound::Purchases(states) = found else { return None };
        states.first().map(|state| (state.at, state, skus))
    });
    let last = bought.max_by_key(|(at, _, _)| *at);
    let body = BuyerCheckouts {
        page: page.map(|(position, skus, state)| BuyerCheckout {
            checkout: CheckoutBody::living(state, now, skus, tokens),
            position: At(*position),
        }),
        last_purchase: last.map(|(_, state, skus)| CheckoutBody::bought(state, skus)),
    };
    Ok(reply::json(StatusCode::OK, &body))
}

/// What all sales know of the buyer. The engine asks only those in which the buyer may have something.
async fn find(
    app: &App,
    principal: &Principal,
    buyer: &BuyerId,
) -> Result<Vec<(Position, Skus, SaleFound)>, Problem> {
    let living = SaleQuery::CheckoutsOf(buyer.clone());
    let last = SaleQuery::PurchasesOf { buyer: buyer.clone(), limit: 1 };
    let mut all = Vec::new();
    for query in [living, last] {
        let known = app.engine.ask_all(principal.tenant, ListingKind::Sale, Query::Sale(query)).await?;
        for FoundAt { listing, position, found } in known.into_iter().filter(|at| principal.sees(&at.listing))
        {
            let Found::Sale(found) = found else { continue };
            // Its SKUs as they are now, so that the newest has its name.
            all.push((position, Skus::of(&*app.engine, &listing)?, found));
        }
    }
    Ok(all)
}
