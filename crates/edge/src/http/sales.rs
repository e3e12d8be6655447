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
use onsale_domain::stock::details::{self, SaleDetails, Sku, StockRules};
use onsale_domain::stock::{SaleCommand, SaleFact, SaleView};
use onsale_domain::{Command, Fact, ListingId, ListingKind};
use onsale_engine::View;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use self::names::Skus;
use self::wire::SaleBody;
use super::about::{AboutBody, CardBody, Metadata};
use super::compat::active_sale;
use super::events::currency;
use super::extract::{Caller, LargeJson, SalePath};
use super::gate::Visitor;
use super::list::{self, List, ListingFilter, Page, StatusListQuery};
use super::problem::Problem;
use super::query::Query;
use super::reply::{self, find_fact, own_fact};
use super::seats::matches;
use super::table::{RouteDeclaration, Straight, declare};
use super::time::Time;
use super::wire::{At, seconds};
use super::words::SaleStatus;
use super::{about, delete, facts, new_listing, stream};
use crate::app::App;

/// The routes of sales and of checkout codes.
pub fn routes() -> Vec<RouteDeclaration> {
    vec![
        declare!("sales.create", create, Listings, Staff, keyed),
        declare!("sales.list", list, Read, Read, compressed),
        declare!("sales.active", show_active, Read, Read, positioned),
        declare!("sales.show", show, Read, Read, positioned),
        declare!("sales.change", change::change, Listings, Staff, keyed),
        declare!("sales.delete", delete::sale, Listings, Staff, keyed),
        declare!("skus.create", skus::add, Listings, Staff, keyed),
        declare!("skus.change", skus::change, Listings, Staff, keyed),
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
    /// The merchant's own name of it, unique among its kind: it is found by that, and never changes.
    #[schema(example = "shop-4711")]
    pub external_id: Option<String>,
    /// A JSON object of at most 2,048 bytes, returned as it was written, and never looked into.
    #[schema(value_type = Option<Object>)]
    pub metadata: Option<Metadata>,
    pub card: Option<CardBody>,
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
    /// An `https` address of at most 2,048 bytes, or an SVG drawing of at most 4,096.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub picture: Option<String>,
}

impl NewSku {
    pub fn to_domain(&self) -> Sku {
        Sku {
            id: self.id.clone(),
            name: self.name.clone(),
            price_minor: self.price_minor,
            stock: self.stock,
            picture: self.picture.clone(),
        }
    }
}

/// Create a sale
///
/// It opens and ends by the clock. Buyers reserve units with a checkout and then buy them.
#[utoipa::path(post, path = "/v1/sales", tag = "sales", request_body = NewSale,
    responses((status = 201, body = SaleBody)))]
pub async fn create(
    State(app): State<Arc<App>>,
    caller: Caller,
    LargeJson(body): LargeJson<NewSale>,
) -> Result<Response, Problem> {
    let about = about::asked(&body.external_id, &body.metadata, &body.card);
    let listing = new_listing(&app, ListingKind::Sale, &caller, &about);
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
    let (listing, answer) = reply::create(&app, listing, command, about, origin).await?;
    let (_, created) = own_fact(&answer, |fact| {
        if let Fact::Sale(SaleFact::Created(created)) = fact { Some(created) } else { None }
    })?;
    let opened = find_fact(&answer, |fact| {
        if let Fact::Sale(SaleFact::StatusChanged { status, .. }) = fact { Some(*status) } else { None }
    });
    let status = opened.map_or(details::SaleStatus::Scheduled, |(_, status)| status);
    let position = At(reply::position_of(&answer));
    let about = AboutBody::of_answer(&answer);
    let sale = SaleBody::new(&listing, &created.details, &created.skus, status, position, about);
    Ok(reply::created(&answer, &format!("/v1/sales/{listing}"), &sale))
}

/// Show a sale and what is left of it
///
/// Every SKU with how many are available, reserved and sold.
#[utoipa::path(get, path = "/v1/sales/{sale}", tag = "sales",
    params(("If-None-Match" = Option<String>, Header)),
    responses((status = 200, body = SaleBody), (status = 304, description = "Nothing has changed")))]
pub async fn show(
    State(app): State<Arc<App>>,
    at: SalePath,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    shown(&app, &at.listing, &headers)
}

/// The sale that is on now
///
/// Of the series whose slot began last; where no series has a sale on, the open sale that started last.
#[utoipa::path(get, path = "/v1/sales/active", tag = "sales", params(("If-None-Match" = Option<String>, Header)),
    responses((status = 200, body = SaleBody), (status = 304, description = "Nothing has changed"),
              (status = 404, description = "No sale is on")))]
pub async fn show_active(
    State(app): State<Arc<App>>,
    Visitor(visitor): Visitor,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let sale = active_sale(&app, visitor.tenant)?;
    shown(&app, &sale, &headers)
}

fn shown(app: &App, sale: &ListingId, headers: &HeaderMap) -> Result<Response, Problem> {
    let skus = Skus::of(&*app.engine, sale)?;
    let body = SaleBody::of(&skus.view, skus.sale(), app.engine.now());
    // The clock may change the status before a fact does.
    let etag = format!("W/\"{sale}-{}-{}\"", At(skus.view.position), body.status.as_str());
    let mut response = match matches(headers, &etag) {
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
///
/// Page by page: go on with `after` as long as an answer has `next`. With a filter a page may be short or empty and have
/// one: a request looks at 2,000 at most.
#[utoipa::path(get, path = "/v1/sales", tag = "sales",
    params(("after" = Option<String>, Query), ("limit" = Option<usize>, Query), ("status" = Option<SaleStatus>, Query),
           ("starts_after" = Option<Time>, Query), ("starts_before" = Option<Time>, Query),
           ("external_id" = Option<String>, Query),
           ("created_after" = Option<Time>, Query), ("created_before" = Option<Time>, Query)),
    responses((status = 200, body = List<SaleBody>)))]
pub async fn list(
    State(app): State<Arc<App>>,
    Visitor(visitor): Visitor,
    Query(page): Query<StatusListQuery<SaleStatus>>,
) -> Result<Response, Problem> {
    let now = app.engine.now();
    let is_wanted = |view: &View| {
        sale_of(view).is_some_and(|sale| page.lets_pass(sale.status_at(now).into(), sale.details.starts_at))
    };
    let asked = ListingFilter::from(&page);
    let (found, next) =
        list::listings(&app, &visitor, ("sales.list", ListingKind::Sale), &asked, is_wanted).await?;
    let sales = found.iter().filter_map(|view| Some(SaleBody::of(view, sale_of(view)?, now)));
    Ok(reply::json(StatusCode::OK, &List::new(sales.collect(), next)))
}

fn sale_of(view: &View) -> Option<&SaleView> {
    if let BodyView::Sale(sale) = &view.body { Some(sale) } else { None }
}

/// What happened in a sale, in order
///
/// Page by page, oldest first: go on with `after`. A step is never torn, so a page may be a little longer than `limit`.
#[utoipa::path(get, path = "/v1/sales/{sale}/facts", tag = "facts",
    params(("after" = Option<String>, Query), ("limit" = Option<usize>, Query)),
    responses((status = 200, body = facts::FactList), (status = 410, description = "Reload")))]
pub async fn list_facts(
    State(app): State<Arc<App>>,
    at: SalePath,
    Query(page): Query<Page>,
) -> Result<Response, Problem> {
    facts::page_of(&app, &at.principal, at.listing, &page).await
}

/// Every fact of a sale as it happens, as server-sent events
///
/// Begins with the event `position`, then sends each fact with its position as `id`. `Last-Event-ID` or `after` resumes
/// with all that was missed; the event `reload` names the position to go on from if that is not in the log.
#[utoipa::path(get, path = "/v1/sales/{sale}/stream", tag = "facts",
    params(("after" = Option<String>, Query), ("Last-Event-ID" = Option<String>, Header)),
    responses((status = 200, body = String, content_type = "text/event-stream"), (status = 503, description = "Too many streams")))]
pub async fn follow(
    State(app): State<Arc<App>>,
    at: SalePath,
    Query(wish): Query<stream::Wish>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    stream::of_listing(app, (at.listing, at.principal), &wish, &headers).await
}
