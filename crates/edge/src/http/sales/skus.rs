//! `…/skus`: one more SKU, more or less stock of one, another price; and the drawings of items.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use onsale_domain::stock::details::SkuInfo;
use onsale_domain::stock::fact::SkuCount;
use onsale_domain::stock::{SaleCommand, SaleFact};
use onsale_domain::{Code, Command, Fact, ListingId, ListingKind};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::NewSku;
use super::names::Skus;
use super::wire::{SkuBody, drawing_of, picture_of};
use crate::app::App;
use crate::http::extract::{Caller, Json, PathParams, SalePath, look_up};
use crate::http::problem::Problem;
use crate::http::reply::{self, own_fact};
use crate::http::wire::At;

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

#[derive(Debug, Serialize, ToSchema)]
pub struct SkuChanged<'a> {
    sale: String,
    #[schema(example = "tee-m")]
    sku: &'a str,
    /// False if it was like this before.
    changed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    added: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    withdrawn: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    price_minor: Option<i64>,
    #[schema(value_type = String, example = "1-4")]
    position: At,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct SkuAdded {
    sale: String,
    sku: SkuBody,
    #[schema(value_type = String, example = "1-4")]
    position: At,
}

/// Add a SKU to a sale
///
/// It is on sale at once if the sale is.
#[utoipa::path(post, path = "/v1/sales/{sale}/skus", tag = "sales", request_body = NewSku,
    responses((status = 201, body = SkuAdded)))]
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
    let (_, sku) =
        own_fact(
            &answer,
            |fact| {
                if let Fact::Sale(SaleFact::SkuAdded(sku)) = fact { Some(sku) } else { None }
            },
        )?;
    let level = onsale_domain::stock::Level { stock: sku.stock, reserved: 0, sold: 0 };
    let (info, generated) = (SkuInfo::from(&**sku), skus.sale().details.origin.is_some());
    let picture = picture_of(&at.listing, &info, generated);
    let told = SkuAdded {
        sale: at.listing.to_string(),
        sku: SkuBody::new(&info, level, picture),
        position: At(reply::position_of(&answer)),
    };
    Ok(reply::created(&answer, &format!("/v1/sales/{}", at.listing), &told))
}

/// Add or withdraw stock of a SKU, or change its price
///
/// Exactly one of `add`, `withdraw` and `price_minor`. Only units that nobody has can be withdrawn.
#[utoipa::path(patch, path = "/v1/sales/{sale}/skus/{sku}", tag = "sales", request_body = SkuChange,
    responses((status = 200, body = SkuChanged)))]
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
    let (mut added, mut withdrawn, mut price) = (None, None, None);
    for (_, fact) in answer.facts() {
        if let Fact::Sale(SaleFact::StockAdded { count, .. }) = fact {
            added = Some(*count);
        } else if let Fact::Sale(SaleFact::StockWithdrawn { count, .. }) = fact {
            withdrawn = Some(*count);
        } else if let Fact::Sale(SaleFact::PriceChanged { price_minor, .. }) = fact {
            price = Some(*price_minor);
        }
    }
    let told = SkuChanged {
        sale: at.listing.to_string(),
        sku: at.inner(),
        changed: added.is_some() || withdrawn.is_some() || price.is_some(),
        added,
        withdrawn,
        price_minor: price,
        position: At(reply::position_of(&answer)),
    };
    Ok(reply::yes(StatusCode::OK, &answer, &told))
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
    look_up(&app, sale).await?;
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
