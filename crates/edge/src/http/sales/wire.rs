//! Shapes that the routes of sales share.

use onsale_domain::id::write_inside;
use onsale_domain::series::items;
use onsale_domain::stock::details::{self, SaleDetails, Sku, SkuInfo};
use onsale_domain::stock::{Level, SaleView};
use onsale_domain::{CheckoutId, ListingId, Millis};
use onsale_engine::View;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::http::time::Time;
use crate::http::wire::At;
use crate::http::words::{SaleStatus, SoldOut};

/// Units of a SKU, as asked for.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Line)]
pub struct LineAsked {
    #[schema(example = "tee-m")]
    pub sku: String,
    /// 1 to 100.
    #[schema(example = 2)]
    pub count: u32,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct LinePriced<'a> {
    #[schema(example = "tee-m")]
    pub sku: &'a str,
    #[schema(example = 2)]
    pub count: u32,
    /// Of one unit, fixed at the checkout.
    #[schema(example = 1900)]
    pub price_minor: i64,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Sale)]
pub struct SaleBody {
    pub id: String,
    /// As the clock has it.
    pub status: SaleStatus,
    #[serde(flatten)]
    pub details: DetailsBody,
    pub skus: Vec<SkuBody>,
    /// There if nothing is left of anything.
    pub sold_out: Option<SoldOut>,
    /// The listing's position that this describes.
    #[schema(value_type = String, example = "1-3")]
    pub position: At,
}

/// What a sale is, apart from its stock.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SaleDetails)]
pub struct DetailsBody {
    #[schema(example = "Winter drop")]
    name: String,
    description: String,
    starts_at: Time,
    ends_at: Time,
    #[schema(example = "EUR")]
    currency: String,
    buyer_limit: u32,
    checkout_seconds: i64,
    /// The series that opened it, and for which slot.
    #[serde(skip_serializing_if = "Option::is_none")]
    series: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    slot: Option<Time>,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Sku)]
pub struct SkuBody {
    #[schema(example = "tee-m")]
    id: String,
    #[schema(example = "T-shirt, medium")]
    name: String,
    #[schema(example = 1900)]
    price_minor: i64,
    #[schema(example = 100)]
    stock: u32,
    available: u32,
    reserved: u32,
    sold: u32,
    sold_out: Option<SoldOut>,
    /// Where a generated item's picture is.
    #[serde(skip_serializing_if = "Option::is_none")]
    picture: Option<String>,
}

impl From<&SaleDetails> for DetailsBody {
    fn from(details: &SaleDetails) -> DetailsBody {
        DetailsBody {
            name: details.name.clone(),
            description: details.description.clone(),
            starts_at: Time(details.starts_at),
            ends_at: Time(details.ends_at),
            currency: details.currency.as_str().to_owned(),
            buyer_limit: details.rules.buyer_limit,
            checkout_seconds: details.rules.checkout_ms / 1_000,
            series: details.origin.map(|origin| origin.series.to_string()),
            slot: details.origin.map(|origin| Time(origin.slot)),
        }
    }
}

impl SaleBody {
    pub fn of(view: &View, sale: &SaleView, now: Millis) -> SaleBody {
        let generated = sale.details.origin.is_some();
        let sku = |(n, (info, level)): (usize, (&SkuInfo, &Level))| {
            SkuBody::new(info, *level, generated.then(|| picture_of(&view.listing, n)))
        };
        SaleBody {
            id: view.listing.to_string(),
            status: sale.status_at(now).into(),
            details: DetailsBody::from(&*sale.details),
            skus: sale.skus.iter().zip(&*sale.levels).enumerate().map(sku).collect(),
            sold_out: told(sale.sold_out()),
            position: At(view.position),
        }
    }

    /// A sale that was made a moment ago: all of it is on the shelf.
    pub fn new(
        listing: &ListingId,
        details: &SaleDetails,
        skus: &[Sku],
        status: details::SaleStatus,
        position: At,
    ) -> SaleBody {
        let levels: Vec<Level> =
            skus.iter().map(|sku| Level { stock: sku.stock, ..Level::default() }).collect();
        let sku = |(sku, level): (&Sku, &Level)| SkuBody::new(&SkuInfo::from(sku), *level, None);
        let all = levels.iter().map(|level| level.sold_out());
        let sold_out = all.reduce(|one, other| Some(one? && other?)).flatten();
        SaleBody {
            id: listing.to_string(),
            status: status.into(),
            details: DetailsBody::from(details),
            skus: skus.iter().zip(&levels).map(sku).collect(),
            sold_out: told(sold_out),
            position,
        }
    }
}

impl SkuBody {
    pub fn new(info: &SkuInfo, level: Level, picture: Option<String>) -> SkuBody {
        SkuBody {
            id: info.id.clone(),
            name: info.name.clone(),
            price_minor: info.price_minor,
            stock: level.stock,
            available: level.available(),
            reserved: level.reserved,
            sold: level.sold,
            sold_out: told(level.sold_out()),
            picture,
        }
    }
}

fn told(sold_out: Option<bool>) -> Option<SoldOut> {
    sold_out.map(|for_good| if for_good { SoldOut::ForGood } else { SoldOut::ForNow })
}

/// Where the picture of a generated item is.
pub fn picture_of(sale: &ListingId, item: usize) -> String {
    format!("/pictures/{sale}/item-{}.svg", item + 1)
}

/// The picture itself.
pub fn picture(sale: &ListingId, item: usize) -> String {
    items::picture(sale.number, item)
}

pub fn checkout_text(sale: &ListingId, checkout: CheckoutId) -> String {
    write_inside("cod", sale, checkout.0)
}
