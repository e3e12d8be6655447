//! Shapes that the routes of sales share.

use onsale_domain::id::write_inside;
use onsale_domain::series::items;
use onsale_domain::stock::details::{self, SaleDetails, Sku, SkuInfo};
use onsale_domain::stock::{Level, SaleView};
use onsale_domain::{CheckoutId, ListingId, Millis, drawing};
use onsale_engine::View;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::http::about::AboutBody;
use crate::http::time::Time;
use crate::http::wire::At;
use crate::http::words::{SaleStatus, SoldOut};

/// Units of a SKU, as asked for.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Line)]
pub struct LineBody {
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
    /// The least price of a unit that can be bought, now or when the sale opens; `null` if none can.
    #[schema(example = 1900)]
    pub price_from_minor: Option<i64>,
    /// The listing's position that this describes.
    #[schema(value_type = String, example = "1-3")]
    pub position: At,
    #[serde(flatten)]
    pub about: AboutBody,
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
    /// Where its picture is, here or elsewhere; every item of a series has one.
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
        let sku = |(info, level): (&SkuInfo, &Level)| {
            SkuBody::new(info, *level, picture_of(&view.listing, info, generated))
        };
        let skus: Vec<SkuBody> = sale.skus.iter().zip(&*sale.levels).map(sku).collect();
        let status = sale.status_at(now).into();
        SaleBody {
            id: view.listing.to_string(),
            status,
            details: DetailsBody::from(&*sale.details),
            price_from_minor: price_from(status, &skus),
            skus,
            sold_out: SoldOut::of(sale.sold_out()),
            position: At(view.position),
            about: AboutBody::of(view),
        }
    }

    /// A sale that was made a moment ago: all of it is on the shelf.
    pub fn new(
        listing: &ListingId,
        details: &SaleDetails,
        skus: &[Sku],
        status: details::SaleStatus,
        position: At,
        about: AboutBody,
    ) -> SaleBody {
        let levels: Vec<Level> =
            skus.iter().map(|sku| Level { stock: sku.stock, ..Level::default() }).collect();
        let generated = details.origin.is_some();
        let sku = |(sku, level): (&Sku, &Level)| {
            let info = SkuInfo::from(sku);
            SkuBody::new(&info, *level, picture_of(listing, &info, generated))
        };
        let all = levels.iter().map(|level| level.sold_out());
        let sold_out = all.reduce(|one, other| Some(one? && other?)).flatten();
        let skus: Vec<SkuBody> = skus.iter().zip(&levels).map(sku).collect();
        SaleBody {
            id: listing.to_string(),
            status: status.into(),
            details: DetailsBody::from(details),
            price_from_minor: price_from(status.into(), &skus),
            skus,
            sold_out: SoldOut::of(sold_out),
            position,
            about,
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
            sold_out: SoldOut::of(level.sold_out()),
            picture,
        }
    }
}

/// The least price of what is left, while the sale is on or still to come.
fn price_from(status: SaleStatus, skus: &[SkuBody]) -> Option<i64> {
    let sells = match status {
        SaleStatus::Scheduled | SaleStatus::Open => true,
        SaleStatus::Ended | SaleStatus::Cancelled => false,
    };
    let left = skus.iter().filter(|sku| sells && sku.available > 0);
    left.map(|sku| sku.price_minor).min()
}

/// Where a SKU's picture is: at its own address, or here if it is a drawing, its seller's or one that was generated.
pub fn picture_of(sale: &ListingId, sku: &SkuInfo, generated: bool) -> Option<String> {
    match &sku.picture {
        Some(address) if !drawing::is_svg(address) => Some(address.clone()),
        None if !generated => None,
        Some(_) | None => Some(format!("/pictures/{sale}/{}.svg", in_path(&sku.id))),
    }
}

/// The drawing of the n-th SKU, if it has one.
pub fn drawing_of(sale: &ListingId, n: usize, sku: &SkuInfo, generated: bool) -> Option<String> {
    match &sku.picture {
        Some(svg) => drawing::is_svg(svg).then(|| svg.clone()),
        None => generated.then(|| items::picture(sale.number, n)),
    }
}

/// A name as one segment of a path: whatever is no letter, digit, dash, dot or underscore is escaped.
fn in_path(name: &str) -> String {
    let mut path = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' => path.push(char::from(byte)),
            _ => path.push_str(&format!("%{byte:02X}")),
        }
    }
    path
}

pub fn checkout_text(sale: &ListingId, checkout: CheckoutId) -> String {
    write_inside("cod", sale, checkout.0)
}
