//! `GET /v1/buyers/{buyer}/checkouts`: what a buyer has reserved over all sales, and what he bought last.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use futures_util::future::try_join_all;
use onsale_domain::stock::{Level, SaleFound, SaleQuery};
use onsale_domain::{BuyerId, ListingKind, Tenant};
use onsale_domain::{Found, Query};
use onsale_engine::{EngineError, Position, View};
use serde::Serialize;
use utoipa::ToSchema;

use super::checkouts::CheckoutBody;
use super::names::Skus;
use crate::app::App;
use crate::http::extract::{BuyerPath, Caller};
use crate::http::problem::Problem;
use crate::http::reply;
use crate::http::wire::At;

/// Sales that are asked at once.
const AT_ONCE: usize = 500;

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
    /// The sale's position at which its checkouts were read, or an earlier one.
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

/// Asks every sale in which somebody has something; views say which, without waiting for anybody.
async fn find(app: &App, buyer: &BuyerId) -> Result<Vec<(Position, Skus, SaleFound)>, Problem> {
    let (mut after, mut all) = (None, Vec::new());
    loop {
        let views = app.engine.listings(Tenant::DEFAULT, ListingKind::Sale, after, AT_ONCE);
        let asks = views.iter().flat_map(|view| queries(view, buyer).map(move |query| (view, query)));
        let asked = try_join_all(asks.map(async |(view, query)| {
            let found = app.engine.ask(view.listing, Query::Sale(query)).await?;
            Ok::<_, EngineError>((view, found))
        }));
        for (view, found) in asked.await? {
            if let Found::Sale(found) = found {
                // Its SKUs as they are now, so that the newest has its name.
                all.push((view.position, Skus::of(&*app.engine, &view.listing)?, found));
            }
        }
        match views.last() {
            Some(last) if views.len() == AT_ONCE => after = Some(last.listing),
            Some(_) | None => return Ok(all),
        }
    }
}

/// What a sale is worth asking.
fn queries(view: &Arc<View>, buyer: &BuyerId) -> impl Iterator<Item = SaleQuery> + use<> {
    let levels: &[Level] = view.body.sale().map_or(&[], |sale| &sale.levels);
    let reserved = levels.iter().any(|level| level.reserved > 0);
    // Refunded units are in no level, so a sale that has lost all its buyers is not found.
    let sold = levels.iter().any(|level| level.sold > 0);
    let living = reserved.then(|| SaleQuery::CheckoutsOf(buyer.clone()));
    let last = sold.then(|| SaleQuery::PurchasesOf { buyer: buyer.clone(), limit: 1 });
    living.into_iter().chain(last)
}
