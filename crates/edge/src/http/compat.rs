//! `POST /checkout?user_id=&id=` and `POST /purchase?code=`: one unit of the sale that is on now, in two calls without
//! a body. With the API key as everywhere, or for everybody if `compat_open` says so.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use onsale_access::principal::Principal;
use onsale_access::scope::Scope as Permission;
use onsale_domain::stock::SaleCommand;
use onsale_domain::stock::command::{Checkout, Purchase};
use onsale_domain::stock::fact::SkuCount;
use onsale_domain::{CheckoutId, Code, Command, ListingId, Tenant};
use serde::Deserialize;

use super::extract::{BUYER_RULE, Origin, buyer};
use super::gate::{self, Visitor};
use super::problem::{Problem, catalog};
use super::query::Query;
use super::reply;
use super::sales::checkouts::{CheckoutBody, CheckoutPurchased, checked_out, purchased};
use super::sales::code::CheckoutPath;
use super::sales::names::Skus;
use super::table::{RouteDeclaration, Scope, declare};
use crate::app::App;

/// The two calls of older clients: `docs/compat.md` describes them, and the document for programs does not.
pub fn routes() -> Vec<RouteDeclaration> {
    vec![
        declare!("compat.checkout", checkout, Compat, Buy, positioned, undescribed),
        declare!("compat.purchase", purchase, Compat, Buy, positioned, undescribed),
    ]
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckoutQuery {
    user_id: String,
    id: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PurchaseQuery {
    code: String,
}

/// Check out one unit of the sale that is on now
///
/// For clients that know two calls without a body. Prefer `checkouts.create`, which heeds an `Idempotency-Key`.
#[utoipa::path(post, path = "/checkout", tag = "checkouts",
    params(("user_id" = String, Query), ("id" = String, Query, description = "The SKU", example = "item-1")),
    responses((status = 201, body = CheckoutBody), (status = 404, description = "No sale is on, or it has no such SKU"),
              (status = 409, description = "Sold out, or over the buyer's limit")))]
pub async fn checkout(
    State(app): State<Arc<App>>,
    Visitor(visitor): Visitor,
    Query(wanted): Query<CheckoutQuery>,
) -> Result<Response, Problem> {
    allowed(&app, &visitor)?;
    let buyer = buyer(&wanted.user_id).ok_or_else(|| Problem::parameter("user_id", BUYER_RULE))?;
    let sale = active_sale(&app, visitor.tenant)?;
    let mut skus = Skus::of(&*app.engine, &sale)?;
    let line = SkuCount { sku: skus.sku(&wanted.id), count: 1 };
    let checkout = |number| {
        let (checkout, buyer) = (CheckoutId(number), buyer.clone());
        Command::Sale(SaleCommand::Checkout(Checkout {
            checkout,
            buyer,
            lines: vec![line],
            checkout_ms: None,
        }))
    };
    let tell = |refusal: &_| Problem::refused_sale(refusal, &skus);
    let answer = reply::submit_new(&app, sale, Origin::default(), tell, checkout).await?;
    let state = checked_out(&answer)?;
    let mut body = CheckoutBody::living(&state, state.placed_at, &skus, Some(&app.tokens));
    // The other call takes one text, which must find its sale.
    body.code = body.code.map(|code| [&body.id, ".", &code].concat());
    Ok(reply::placed(&answer, body.location(), &body))
}

/// Use a code: what it reserves is bought, the money taken elsewhere
///
/// For clients that know two calls without a body. Prefer `checkouts.purchase`, which heeds an `Idempotency-Key`.
#[utoipa::path(post, path = "/purchase", tag = "checkouts",
    params(("code" = String, Query, description = "The code that the checkout answered")),
    responses((status = 200, body = CheckoutPurchased), (status = 404), (status = 409), (status = 410), (status = 412), (status = 403)))]
pub async fn purchase(
    State(app): State<Arc<App>>,
    Visitor(visitor): Visitor,
    Query(used): Query<PurchaseQuery>,
) -> Result<Response, Problem> {
    allowed(&app, &visitor)?;
    let path = CheckoutPath::find_joined(&app, &visitor, &used.code).await?;
    let key = path.key(&app, None, false).await?;
    let purchase = |order| {
        let purchase = Purchase { key: key.clone(), order, settled: true };
        Command::Sale(SaleCommand::Purchase(purchase))
    };
    let answer = path.submit_order(&app, Origin::default(), purchase).await?;
    let (order, at) = purchased(&answer)?;
    Ok(reply::yes(StatusCode::OK, &answer, &CheckoutPurchased::new(&path.sale, path.checkout, order, at)))
}

/// Both calls say who buys, and the second one that it was paid: whoever makes them stands for the merchant.
fn allowed(app: &App, visitor: &Principal) -> Result<(), Problem> {
    if app.config.compat_open {
        return Ok(());
    }
    gate::allowed(Scope::Buy, visitor)?;
    match visitor.may_name_buyer() && visitor.may(Permission::Settle) {
        true => Ok(()),
        false => Err(Problem::of(catalog::MISSING_SCOPE)),
    }
}

/// The sale that is on now: of a series before one that stands alone, and the one that began last.
pub fn active_sale(app: &App, tenant: Tenant) -> Result<ListingId, Problem> {
    let active = app.active_sales.of(&*app.engine, tenant, app.engine.now());
    active.ok_or_else(|| Problem::with(catalog::of(Code::ListingUnknown), "no sale is on at this moment"))
}
