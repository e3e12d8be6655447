//! Facts of a sale as JSON. A checkout is told by its id; what makes a code of it is known to its buyer only.

use onsale_domain::id::{CheckoutId, SkuIndex, write_inside};
use onsale_domain::stock::SaleFact;
use onsale_domain::stock::details::Sku;
use onsale_domain::stock::fact::{SkuCount, SkuLine};
use serde::Serialize;
use utoipa::ToSchema;

use super::Teller;
use crate::http::sales::wire::{DetailsBody, LineBody, LinePriced};
use crate::http::time::Time;
use crate::http::words::{CheckoutCancelCause, SaleStatus};

#[derive(Debug, Serialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SaleFactBody<'a> {
    SaleCreated(SaleMade<'a>),
    SaleChanged(DetailsBody),
    SaleStatusChanged {
        status: SaleStatus,
        by_schedule: bool,
    },
    SkuAdded(SkuMade<'a>),
    StockAdded {
        sku: &'a str,
        count: u32,
    },
    StockWithdrawn {
        sku: &'a str,
        count: u32,
    },
    PriceChanged {
        sku: &'a str,
        price_minor: i64,
    },
    CheckedOut {
        checkout: String,
        buyer: &'a str,
        fence: u64,
        expires_at: Time,
        lines: Vec<LinePriced<'a>>,
    },
    CheckoutCancelled {
        checkout: String,
        why: CheckoutCancelCause,
    },
    CheckoutExpired {
        checkout: String,
    },
    CheckoutOrdered {
        checkout: String,
        order: String,
        expires_at: Time,
    },
    CheckoutReturned {
        checkout: String,
        expires_at: Time,
    },
    Purchased {
        checkout: String,
        order: String,
    },
    PurchaseTakenBack {
        checkout: String,
        order: String,
        buyer: &'a str,
        lines: Vec<LinePriced<'a>>,
    },
    PurchaseRefunded {
        order: String,
        lines: Vec<LineBody>,
        amount_minor: i64,
        /// Whether the units can be sold again.
        restock: bool,
        reason: &'a str,
    },
}

#[derive(Debug, Serialize, ToSchema)]
pub struct SaleMade<'a> {
    #[serde(flatten)]
    details: DetailsBody,
    skus: Vec<SkuMade<'a>>,
}

/// A SKU as it was put on sale.
#[derive(Debug, Serialize, ToSchema)]
pub struct SkuMade<'a> {
    sku: &'a str,
    name: &'a str,
    price_minor: i64,
    stock: u32,
}

impl Teller<'_> {
    pub(super) fn sale<'a>(&'a self, fact: &'a SaleFact, fence: u64) -> SaleFactBody<'a> {
        use SaleFactBody as Body;
        match fact {
            SaleFact::Created(created) => Body::SaleCreated(SaleMade {
                details: DetailsBody::from(&created.details),
                skus: created.skus.iter().map(SkuMade::from).collect(),
            }),
            SaleFact::Changed(details) => Body::SaleChanged(DetailsBody::from(&**details)),
            SaleFact::StatusChanged { status, by_schedule } => {
                Body::SaleStatusChanged { status: (*status).into(), by_schedule: *by_schedule }
            }
            SaleFact::SkuAdded(sku) => Body::SkuAdded(SkuMade::from(&**sku)),
            SaleFact::StockAdded { sku, count } => Body::StockAdded { sku: self.sku(*sku), count: *count },
            SaleFact::StockWithdrawn { sku, count } => {
                Body::StockWithdrawn { sku: self.sku(*sku), count: *count }
            }
            SaleFact::PriceChanged { sku, price_minor } => {
                Body::PriceChanged { sku: self.sku(*sku), price_minor: *price_minor }
            }
            SaleFact::CheckedOut { checkout, buyer, lines, until } => Body::CheckedOut {
                checkout: self.checkout(*checkout),
                buyer: buyer.as_str(),
                fence,
                expires_at: Time(*until),
                lines: self.lines(lines),
            },
            SaleFact::CheckoutCancelled { checkout, why } => {
                Body::CheckoutCancelled { checkout: self.checkout(*checkout), why: (*why).into() }
            }
            SaleFact::CheckoutExpired { checkout } => {
                Body::CheckoutExpired { checkout: self.checkout(*checkout) }
            }
            SaleFact::CheckoutOrdered { checkout, order, until } => Body::CheckoutOrdered {
                checkout: self.checkout(*checkout),
                order: self.order(*order),
                expires_at: Time(*until),
            },
            SaleFact::CheckoutReturned { checkout, until } => {
                Body::CheckoutReturned { checkout: self.checkout(*checkout), expires_at: Time(*until) }
            }
            SaleFact::Purchased { checkout, order } => {
                Body::Purchased { checkout: self.checkout(*checkout), order: self.order(*order) }
            }
            SaleFact::TakenBack { checkout, order, buyer, lines } => Body::PurchaseTakenBack {
                checkout: self.checkout(*checkout),
                order: self.order(*order),
                buyer: buyer.as_str(),
                lines: self.lines(lines),
            },
            SaleFact::Refunded { order, lines, amount_minor, restock, reason } => Body::PurchaseRefunded {
                order: self.order(*order),
                lines: self.counts(lines),
                amount_minor: *amount_minor,
                restock: *restock,
                reason,
            },
        }
    }

    pub(super) fn checkout(&self, checkout: CheckoutId) -> String {
        write_inside("cod", &self.listing, checkout.0)
    }

    fn sku(&self, sku: SkuIndex) -> &str {
        let sku = self.sale.and_then(|sale| sale.skus.get(usize::from(sku)));
        sku.map_or("", |sku| sku.id.as_str())
    }

    fn lines(&self, lines: &[SkuLine]) -> Vec<LinePriced<'_>> {
        let line = |line: &SkuLine| LinePriced {
            sku: self.sku(line.sku),
            count: line.count,
            price_minor: line.price_minor,
        };
        lines.iter().map(line).collect()
    }

    fn counts(&self, lines: &[SkuCount]) -> Vec<LineBody> {
        let line = |line: &SkuCount| LineBody { sku: self.sku(line.sku).to_owned(), count: line.count };
        lines.iter().map(line).collect()
    }
}

impl<'a> From<&'a Sku> for SkuMade<'a> {
    fn from(sku: &'a Sku) -> SkuMade<'a> {
        SkuMade { sku: &sku.id, name: &sku.name, price_minor: sku.price_minor, stock: sku.stock }
    }
}
