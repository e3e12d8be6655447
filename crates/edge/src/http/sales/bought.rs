//! `GET /v1/buyers/{buyer}/checkouts`: what a buyer has reserved over all sales, and what he bought last.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use onsale_domain::stock::{SaleFound, SaleQuery};
use onsale_domain::{BuyerId, ListingKind, Tenant};
use onsale_domain::{Found, Query};
use onsale_engine::{FoundAt, Position};
use serde::Serialize;
use utoipa::ToSchema;

use super::checkouts::CheckoutBody;
use super::names::Skus;
use crate::app::App;
use crate::http::extract::{BuyerPath, Caller};
use crate::http::problem::Problem;
use crate::http::reply;
use crate::http::wire::At;

#[derive(Debug, Serialize, ToSchema)]
pub struct BuyerCheckouts<'a> {
    buyer: &'a str,
    sales: Vec<SaleCheckouts<'a>>,
    /// The latest over all sales.
    last_purchase: Option<CheckoutBody<'a>>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct SaleCheckouts<'a> {
    sale: String,
    /// The sale's position at which its checkouts were read.
    #[schema(value_type = String, example = "1-57")]
    position: At,
    checkouts: Vec<CheckoutBody<'a>>,
}

/// A buyer's living checkouts and his last purchase; with codes if `Onsale-Buyer` names the same buyer
#[utoipa::path(get, path = "/v1/buyers/{buyer}/checkouts", tag = "checkouts",
    params(("buyer" = String, Path), ("Onsale-Buyer" = Option<String>, Header)),
    responses((status = 200, body = BuyerCheckouts)))]
pub async fn list(
    State(app): State<Arc<App>>,
    BuyerPath(buyer): BuyerPath,
    caller: Caller,
) -> Result<Response, Problem> {
    let tokens = (caller.buyer.as_ref() == Some(&buyer)).then_some(&app.tokens);
    let found = find(&app, &buyer).await?;
    let now = app.engine.now();
    let living = found.iter().filter_map(|(position, skus, found)| {
        let SaleFound::Checkouts(states) = found else { return None };
        (!states.is_empty()).then(|| SaleCheckouts {
            sale: skus.view.listing.to_string(),
            position: At(*position),
            checkouts: states.iter().map(|state| CheckoutBody::living(state, now, skus, tokens)).collect(),
        })
    });
    let bought = found.iter().filter_map(|(_, skus, found)| {
        let SaleFound::Purchases(states) = found else { return None };
        states.first().map(|state| (state.at, state, skus))
    });
    let last = bought.max_by_key(|(at, _, _)| *at);
    let body = BuyerCheckouts {
        buyer: buyer.as_str(),
        sales: living.collect(),
        last_purchase: last.map(|(_, state, skus)| CheckoutBody::bought(state, skus)),
    };
    Ok(reply::json(StatusCode::OK, &body))
}

/// What all sales know of the buyer. The engine asks only those in which the buyer may have something.
async fn find(app: &App, buyer: &BuyerId) -> Result<Vec<(Position, Skus, SaleFound)>, Problem> {
    let living = SaleQuery::CheckoutsOf(buyer.clone());
    let last = SaleQuery::PurchasesOf { buyer: buyer.clone(), limit: 1 };
    let mut all = Vec::new();
    for query in [living, last] {
        let known = app.engine.ask_all(Tenant::DEFAULT, ListingKind::Sale, Query::Sale(query)).await?;
        for FoundAt { listing, position, found } in known {
            let Found::Sale(found) = found else { continue };
            // Its SKUs as they are now, so that the newest has its name.
            all.push((position, Skus::of(&*app.engine, &listing)?, found));
        }
    }
    Ok(all)
}
