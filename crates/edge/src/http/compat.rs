//! `POST /checkout?user_id=&id=` and `POST /purchase?code=`: one unit of the sale that is on now, in two calls without
//! a body. With the API key as everywhere, or for everybody if `compat_open` says so.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use onsale_domain::listing::BodyView;
use onsale_domain::stock::SaleCommand;
use onsale_domain::stock::command::{Checkout, Purchase};
use onsale_domain::stock::details::SaleStatus;
use onsale_domain::stock::fact::SkuCount;
use onsale_domain::{CheckoutId, Code, Command, ListingId, ListingKind, Millis, OrderId, Tenant};
use serde::Deserialize;

use super::edge::key_is_right;
use super::extract::{Origin, buyer};
use super::problem::{Problem, ProblemBody, catalog};
use super::query::Query;
use super::reply;
use super::sales::checkouts::{CheckoutBody, Purchased, checked_out, purchased};
use super::sales::code::CodePath;
use super::sales::names::Skus;
use super::series::series_of;
use super::table::{Declared, declare};
use crate::app::App;

const PAGE: usize = 500;

/// The two calls of the seeds' own clients.
pub fn routes() -> Vec<Declared> {
    vec![
        declare!("compat.checkout", checkout, Compat, Buy),
        declare!("compat.purchase", purchase, Compat, Buy),
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
#[utoipa::path(post, path = "/checkout", tag = "checkouts",
    params(("user_id" = String, Query, description = "Who buys"),
           ("id" = String, Query, description = "The SKU", example = "item-1")),
    responses((status = 201, body = CheckoutBody), (status = 401, body = ProblemBody), (status = "4XX", body = ProblemBody)))]
pub async fn checkout(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    Query(wanted): Query<CheckoutQuery>,
) -> Result<Response, Problem> {
    allowed(&app, &headers)?;
    let buyer = buyer(&wanted.user_id)
        .ok_or_else(|| Problem::invalid("user_id", "1 to 128 characters without control characters"))?;
    let sale = active_sale(&app)?;
    let mut skus = Skus::of(&*app.engine, &sale)?;
    let line = SkuCount { sku: skus.sku(&wanted.id), count: 1 };
    let checkout =
        Checkout { checkout: CheckoutId(app.new_number()), buyer, lines: vec![line], checkout_ms: None };
    let command = Command::Sale(SaleCommand::Checkout(checkout));
    let tell = |refusal: &_| Problem::refused_sale(refusal, &skus);
    let answer = reply::submit_told(&app, sale, command, Origin::default(), tell).await?;
    let state = checked_out(&answer)?;
    let body = CheckoutBody::living(&state, state.placed_at, &skus, Some(&app.tokens));
    Ok(reply::placed(&answer, body.location(), &body))
}

/// Use a code: what it reserves is bought, the money taken elsewhere
#[utoipa::path(post, path = "/purchase", tag = "checkouts",
    params(("code" = String, Query, description = "The code that the checkout answered")),
    responses((status = 200, body = Purchased), (status = 401, body = ProblemBody), (status = "4XX", body = ProblemBody)))]
pub async fn purchase(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    Query(used): Query<PurchaseQuery>,
) -> Result<Response, Problem> {
    allowed(&app, &headers)?;
    let code = CodePath::find(&app, &used.code).await?;
    let key = code.key(&app, None, false).await?;
    let purchase = Purchase { key, order: OrderId(app.new_number()), settled: true };
    let command = Command::Sale(SaleCommand::Purchase(purchase));
    let answer = code.submit(&app, command, Origin::default()).await?;
    let (order, at) = purchased(&answer)?;
    Ok(reply::yes(StatusCode::OK, &answer, &Purchased::new(&code.sale, code.checkout, order, at)))
}

fn allowed(app: &App, headers: &HeaderMap) -> Result<(), Problem> {
    if app.config.compat_open {
        return Ok(());
    }
    key_is_right(app, headers)
}

/// The sale that is on now: of the series whose slot began last; without one, the open sale that started last.
fn active_sale(app: &App) -> Result<ListingId, Problem> {
    let now = app.engine.now();
    let started = |sale: &ListingId| started_if_open(app, sale, now);
    let of_series = all(app, ListingKind::Series).filter_map(|view| series_of(&view)?.active_at(now));
    let latest = of_series.filter_map(|sale| Some((started(&sale)?, sale))).max();
    let latest = latest.or_else(|| {
        all(app, ListingKind::Sale).filter_map(|view| Some((started(&view.listing)?, view.listing))).max()
    });
    let none = || Problem::with(catalog::of(Code::ListingUnknown), "no sale is on at this moment");
    latest.map(|(_, sale)| sale).ok_or_else(none)
}

fn started_if_open(app: &App, sale: &ListingId, now: Millis) -> Option<Millis> {
    let view = app.engine.view(sale)?;
    let BodyView::Sale(sale) = &view.body else { return None };
    (sale.status_at(now) == SaleStatus::Open).then_some(sale.details.starts_at)
}

/// All listings of a kind, page by page.
fn all(app: &App, kind: ListingKind) -> impl Iterator<Item = Arc<onsale_engine::View>> {
    let (mut after, mut page, mut done) = (None, Vec::new().into_iter(), false);
    std::iter::from_fn(move || {
        loop {
            if let Some(view) = page.next() {
                return Some(view);
            }
            if done {
                return None;
            }
            let views: Vec<Arc<onsale_engine::View>> =
                app.engine.listings(Tenant::DEFAULT, kind, after, PAGE);
            done = views.len() < PAGE;
            after = views.last().map(|view| view.listing);
            page = views.into_iter();
        }
    })
}
