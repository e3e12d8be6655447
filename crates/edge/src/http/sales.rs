//! `/v1/sales`: create, list and show sales of stock, their facts and their stream. One file for each of the rest.

pub mod attempts;
pub mod bought;
pub mod change;
pub mod checkouts;
pub mod code;
pub mod names;
pub mod skus;
pub mod wire;

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use onsale_domain::listing::BodyView;
use onsale_domain::stock::command::CreateSale;
use onsale_domain::stock::details::{SaleDetails, SaleStatus, Sku, StockRules};
use onsale_domain::stock::{SaleCommand, SaleFact};
use onsale_domain::{Command, Fact, ListingKind, Tenant};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use self::names::Skus;
use self::wire::SaleBody;
use super::events::currency;
use super::extract::{Caller, Json, SalePath};
use super::problem::Problem;
use super::query::Query;
use super::reply::{self, find_fact, own_fact};
use super::seats::matches;
use super::table::{Declared, Straight, declare};
use super::time::Time;
use super::venues::Page;
use super::wire::{At, seconds};
use super::{facts, new_listing, stream};
use crate::app::App;

/// The routes of sales and of checkout codes.
pub fn routes() -> Vec<Declared> {
    vec![
        declare!("sales.create", create, Staff, Staff, keyed),
        declare!("sales.list", list, Read, Read, compressed),
        declare!("sales.show", show, Read, Read),
        declare!("sales.change", change::change, Staff, Staff, keyed),
        declare!("skus.create", skus::add, Staff, Staff, keyed),
        declare!("skus.change", skus::change, Staff, Staff, keyed),
        declare!("skus.picture", skus::show_picture, Open, Free),
        declare!("sales.attempts", attempts::list, Staff, Read, compressed),
        declare!("checkouts.create", checkouts::place, Buy, Buy, keyed, straight(Straight::CheckOut)),
        declare!("sales.facts", list_facts, Read, Read, compressed),
        declare!("sales.stream", follow, Read, Stream),
        declare!("checkouts.show", checkouts::show, Buy, Read),
        declare!("checkouts.purchase", checkouts::purchase, Buy, Buy, keyed, straight(Straight::Purchase)),
        declare!("checkouts.cancel", checkouts::cancel, Buy, Buy, keyed, straight(Straight::CancelCheckout)),
        declare!("buyers.checkouts", bought::list, Buy, Search, compressed),
    ]
}

/// A new sale. It opens and ends by the clock.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "name": "Winter drop", "starts_at": "2030-01-01T00:00:00Z", "ends_at": "2030-01-01T01:00:00Z", "currency": "EUR",
    "buyer_limit": 2, "skus": [{"id": "tee-m", "name": "T-shirt, medium", "price_minor": 1900, "stock": 100}],
}))]
pub struct NewSale {
    pub name: String,
    #[serde(default)]
    pub description: String,
    /// At once if absent.
    pub starts_at: Option<Time>,
    pub ends_at: Time,
    /// An ISO 4217 code with a minor unit.
    pub currency: String,
    /// 1 to 100.
    pub skus: Vec<NewSku>,
    /// Units per buyer over all SKUs, reserved and bought: 1 to 100, 10 if absent.
    pub buyer_limit: Option<u32>,
    /// How long a checkout code lives: 30 to 3,600, 600 if absent.
    pub checkout_seconds: Option<i64>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"id": "tee-l", "name": "T-shirt, large", "price_minor": 1900, "stock": 50}))]
pub struct NewSku {
    /// The seller's own name for it, 1 to 64 characters, unique in the sale.
    pub id: String,
    pub name: String,
    pub price_minor: i64,
    /// 0 to 10,000,000 units.
    pub stock: u32,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct SaleList {
    sales: Vec<SaleBody>,
    /// The cursor of the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

impl NewSku {
    pub fn to_domain(&self) -> Sku {
        Sku { id: self.id.clone(), name: self.name.clone(), price_minor: self.price_minor, stock: self.stock }
    }
}

/// Create a sale
#[utoipa::path(post, path = "/v1/sales", tag = "sales", request_body = NewSale,
    params(("Idempotency-Key" = Option<String>, Header, description = "Same key, same answer")),
    responses((status = 201, body = SaleBody), (status = "4XX", body = super::problem::ProblemBody)))]
pub async fn create(
    State(app): State<Arc<App>>,
    caller: Caller,
    Json(body): Json<NewSale>,
) -> Result<Response, Problem> {
    let listing = new_listing(ListingKind::Sale, &caller);
    let origin = caller.origin(&listing, &body);
    let default = StockRules::default();
    let details = SaleDetails {
        name: body.name.clone(),
        description: body.description.clone(),
        starts_at: body.starts_at.map_or_else(|| app.engine.now(), Time::ms),
        ends_at: body.ends_at.0,
        currency: currency(&body.currency)?,
        rules: StockRules {
            buyer_limit: body.buyer_limit.unwrap_or(default.buyer_limit),
            checkout_ms: body.checkout_seconds.map_or(default.checkout_ms, seconds),
        },
        origin: None,
    };
    let skus = body.skus.iter().map(NewSku::to_domain).collect();
    let command = Command::Sale(SaleCommand::Create(Box::new(CreateSale { details, skus })));
    let answer = reply::submit(&app, listing, command, origin, None).await?;
    let (_, created) = own_fact(&answer, |fact| {
        if let Fact::Sale(SaleFact::Created(created)) = fact { Some(created) } else { None }
    })?;
    let opened = find_fact(&answer, |fact| {
        if let Fact::Sale(SaleFact::StatusChanged { status, .. }) = fact { Some(*status) } else { None }
    });
    let status = opened.map_or(SaleStatus::Scheduled, |(_, status)| status);
    let position = At(reply::position_of(&answer));
    let sale = SaleBody::new(&listing, &created.details, &created.skus, status, position);
    Ok(reply::created(&answer, &format!("/v1/sales/{listing}"), &sale))
}

/// Show a sale and what is left of it
#[utoipa::path(get, path = "/v1/sales/{sale}", tag = "sales",
    params(("sale" = String, Path), ("If-None-Match" = Option<String>, Header)),
    responses((status = 200, body = SaleBody), (status = 304, description = "Nothing has changed"),
              (status = 404, body = super::problem::ProblemBody)))]
pub async fn show(
    State(app): State<Arc<App>>,
    at: SalePath,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let skus = Skus::of(&*app.engine, &at.listing)?;
    let body = SaleBody::of(&skus.view, skus.sale(), app.engine.now());
    // The clock may change the status before a fact does.
    let etag = format!("W/\"{}-{}\"", At(skus.view.position), body.status);
    let mut response = match matches(&headers, &etag) {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => reply::json(StatusCode::OK, &body),
    };
    let headers = response.headers_mut();
    headers.insert(reply::POSITION, reply::position_value(skus.view.position));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    if let Ok(etag) = HeaderValue::from_str(&etag) {
        headers.insert(header::ETAG, etag);
    }
    Ok(response)
}

/// Sales in order of their ids
#[utoipa::path(get, path = "/v1/sales", tag = "sales",
    params(("after" = Option<String>, Query, description = "The `next` of the page before"),
           ("limit" = Option<usize>, Query, description = "1 to 500")),
    responses((status = 200, body = SaleList)))]
pub async fn list(State(app): State<Arc<App>>, Query(page): Query<Page>) -> Result<Response, Problem> {
    let (after, limit) = page.read(ListingKind::Sale)?;
    let found = app.engine.listings(Tenant::DEFAULT, ListingKind::Sale, after, limit);
    let next = (found.len() == limit).then(|| found.last().map(|view| view.listing.to_string())).flatten();
    let now = app.engine.now();
    let sales = found.iter().filter_map(|view| match &view.body {
        BodyView::Sale(sale) => Some(SaleBody::of(view, sale, now)),
        BodyView::Event(_)
        | BodyView::Venue(_)
        | BodyView::Series(_)
        | BodyView::Registration(_)
        | BodyView::Auction(_)
        | BodyView::Desk(_) => None,
    });
    Ok(reply::json(StatusCode::OK, &SaleList { sales: sales.collect(), next }))
}

/// What happened in a sale, in order
#[utoipa::path(get, path = "/v1/sales/{sale}/facts", tag = "facts",
    params(("sale" = String, Path), ("after" = Option<String>, Query), ("limit" = Option<usize>, Query, description = "1 to 1,000")),
    responses((status = 200, body = facts::FactList), (status = 410, description = "Reload", body = super::problem::ProblemBody)))]
pub async fn list_facts(
    State(app): State<Arc<App>>,
    at: SalePath,
    Query(page): Query<facts::Page>,
) -> Result<Response, Problem> {
    facts::page_of(&app, at.listing, &page).await
}

/// Every fact of a sale as it happens, as server-sent events
#[utoipa::path(get, path = "/v1/sales/{sale}/stream", tag = "facts",
    params(("sale" = String, Path), ("after" = Option<String>, Query), ("Last-Event-ID" = Option<String>, Header)),
    responses((status = 200, body = String, content_type = "text/event-stream"),
              (status = 503, description = "Too many streams", body = super::problem::ProblemBody)))]
pub async fn follow(
    State(app): State<Arc<App>>,
    at: SalePath,
    Query(wish): Query<stream::Wish>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    stream::of_listing(app, at.listing, &wish, &headers).await
}
