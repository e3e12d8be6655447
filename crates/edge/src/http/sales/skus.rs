//! `…/skus`: one more SKU, more or less stock of one, another price; and the drawings of items.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use onsale_access::principal::Principal;
use onsale_domain::stock::SaleCommand;
use onsale_domain::stock::fact::SkuCount;
use onsale_domain::{Code, Command, ListingId, ListingKind};
use onsale_engine::View;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::names::Skus;
use super::wire::{SkuBody, drawing_of, picture_of};
use super::{NewSku, sale_of};
use crate::app::App;
use crate::http::extract::{Caller, Json, PathParams, SalePath, look_up};
use crate::http::problem::Problem;
use crate::http::reply;

/// A seller's drawing opened as a page is a page of nobody: without scripts, without loading anything, without our origin.
const DRAWING_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

/// Exactly one of them.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"add": 50}))]
#[schema(min_properties = 1)]
pub struct SkuChange {
    /// So many more units.
    pub add: Option<u32>,
    /// So many fewer, of those that nobody has.
    pub withdraw: Option<u32>,
    /// For checkouts from now on; a code keeps its price.
    pub price_minor: Option<i64>,
}

/// Add a SKU to a sale
///
/// It is on sale at once if the sale is. The answer is the SKU as it is now, under the same key, too.
#[utoipa::path(post, path = "/v1/sales/{sale}/skus", tag = "sales", request_body = NewSku,
    responses((status = 201, body = SkuBody)))]
pub async fn add(
    State(app): State<Arc<App>>,
    at: SalePath,
    caller: Caller,
    Json(body): Json<NewSku>,
) -> Result<Response, Problem> {
    let skus = Skus::of(&*app.engine, &at.listing)?;
    let origin = caller.origin(&at.listing, &body);
    let command = Command::Sale(SaleCommand::AddSku(Box::new(body.to_domain())));
    let tell = |refusal: &_| Problem::refused_sale(refusal, &skus).renamed("skus[0]", "");
    let answer = reply::submit_told(&app, at.listing, command, origin, tell).await?;
    let view = reply::seen(&app, &at.listing, &answer).await?;
    let sku = shown(&view, &body.id)?;
    Ok(reply::created(&answer, &format!("/v1/sales/{}", at.listing), &sku))
}

/// Add or withdraw stock of a SKU, or change its price
///
/// Exactly one of `add`, `withdraw` and `price_minor`. Only units that nobody has can be withdrawn. The answer is the SKU as it is now,
/// under the same key, too.
#[utoipa::path(patch, path = "/v1/sales/{sale}/skus/{sku}", tag = "sales", request_body = SkuChange,
    responses((status = 200, body = SkuBody)))]
pub async fn change(
    State(app): State<Arc<App>>,
    at: SalePath,
    caller: Caller,
    Json(body): Json<SkuChange>,
) -> Result<Response, Problem> {
    let mut skus = Skus::of(&*app.engine, &at.listing)?;
    let sku = skus.sku(at.inner());
    let command = Command::Sale(match (body.add, body.withdraw, body.price_minor) {
        (Some(count), None, None) => SaleCommand::AddStock(SkuCount { sku, count }),
        (None, Some(count), None) => SaleCommand::WithdrawStock(SkuCount { sku, count }),
        (None, None, Some(price_minor)) => SaleCommand::ChangePrice { sku, price_minor },
        (None, None, None) | (Some(_), _, _) | (_, Some(_), _) => {
            return Err(Problem::invalid("body", "exactly one of add, withdraw and price_minor"));
        }
    });
    let origin = caller.origin(&at.listing, &body);
    let count = if body.add.is_some() { "add" } else { "withdraw" };
    let tell = |refusal: &_| Problem::refused_sale(refusal, &skus).renamed("count", count);
    let answer = reply::submit_told(&app, at.listing, command, origin, tell).await?;
    let view = reply::seen(&app, &at.listing, &answer).await?;
    Ok(reply::changed(&answer, &view, &shown(&view, at.inner())?))
}

/// A SKU as its sale shows it.
fn shown(view: &View, sku: &str) -> Result<SkuBody, Problem> {
    let sale = sale_of(view).ok_or_else(|| Problem::code(Code::ListingUnknown))?;
    let mut all = sale.skus.iter().zip(&*sale.levels);
    let (info, level) =
        all.find(|(known, _)| known.id == sku).ok_or_else(|| Problem::code(Code::SkuUnknown))?;
    let picture = picture_of(&view.listing, info, sale.details.origin.is_some());
    Ok(SkuBody::new(info, *level, picture))
}

/// The drawing of an item
///
/// Its seller's own, or one that was generated; always the same for the same item, and shown without a key: pages use it as
/// an image. Whatever a seller has put into it runs nothing and loads nothing.
#[utoipa::path(get, path = "/pictures/{sale}/{item}", tag = "sales", security(()),
    params(("item" = String, Path, example = "item-1.svg")),
    responses((status = 200, body = String, content_type = "image/svg+xml")))]
pub async fn show_picture(
    State(app): State<Arc<App>>,
    PathParams(params): PathParams,
) -> Result<Response, Problem> {
    let mut values = params.iter().map(|(_, value)| value);
    let sale = values.next().and_then(ListingId::parse).filter(|sale| sale.kind == ListingKind::Sale);
    let sale = sale.ok_or_else(|| Problem::code(Code::ListingUnknown))?;
    // A picture is an address in a page: whoever has it may see it, whatever they carry.
    look_up(&app, &Principal::nobody(sale.tenant), sale).await?;
    let item = values.next().and_then(|name| name.strip_suffix(".svg"));
    let skus = Skus::of(&*app.engine, &sale)?;
    let known = skus.sale().skus.iter().enumerate().find(|(_, sku)| Some(sku.id.as_str()) == item);
    let generated = skus.sale().details.origin.is_some();
    let drawing = known.and_then(|(n, sku)| drawing_of(&sale, n, sku, generated));
    let mut response = drawing.ok_or_else(|| Problem::code(Code::SkuUnknown))?.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("image/svg+xml"));
    let for_ever = HeaderValue::from_static("public, max-age=31536000, immutable");
    headers.insert(header::CACHE_CONTROL, for_ever);
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(DRAWING_POLICY));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    Ok(response)
}
