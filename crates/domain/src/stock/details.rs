//! What a sale is, apart from who has what: its window, its SKUs, the rules of its codes, and its life.

use minicbor::{Decode, Encode};

use crate::drawing;
use crate::field::{Field, FieldPath};
use crate::fields::{check_description, check_name, check_time};
use crate::id::ListingId;
use crate::layout::is_name;
use crate::limits::{
    CHECKOUT_MS_DEFAULT, CHECKOUT_MS_MAX, CHECKOUT_MS_MIN, SKU_ID_CHARS_MAX, SKUS_MAX, STOCK_MAX,
    UNITS_PER_BUYER_DEFAULT, UNITS_PER_BUYER_MAX,
};
use crate::money::{Currency, MINOR_MAX, Minor};
use crate::refusal::Refusal;
use crate::time::Millis;

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct SaleDetails {
    #[n(0)]
    pub name: String,
    #[n(1)]
    pub description: String,
    #[n(2)]
    pub starts_at: Millis,
    #[n(3)]
    pub ends_at: Millis,
    #[n(4)]
    pub currency: Currency,
    #[n(5)]
    pub rules: StockRules,
    /// The series and the slot that this sale belongs to.
    #[n(6)]
    pub origin: Option<Origin>,
}

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct StockRules {
    /// Units per buyer, summed over SKUs, reserved and bought.
    #[n(0)]
    pub buyer_limit: u32,
    /// How long a code lives.
    #[n(1)]
    pub checkout_ms: Millis,
}

impl Default for StockRules {
    fn default() -> Self {
        StockRules { buyer_limit: UNITS_PER_BUYER_DEFAULT, checkout_ms: CHECKOUT_MS_DEFAULT }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Origin {
    #[n(0)]
    pub series: ListingId,
    #[n(1)]
    pub slot: Millis,
}

/// One thing on sale. Its place in the sale is its index, for ever.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct Sku {
    /// The seller's own name for it, unique in the sale.
    #[n(0)]
    pub id: String,
    #[n(1)]
    pub name: String,
    #[n(2)]
    pub price_minor: Minor,
    /// Units at the beginning.
    #[n(3)]
    pub stock: u32,
    /// An `https` address or a drawing; without one an item of a series is drawn from its sale's id.
    #[n(4)]
    pub picture: Option<String>,
}

/// A SKU without its numbers: what readers see beside the level of this moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkuInfo {
    pub id: String,
    pub name: String,
    pub price_minor: Minor,
    pub picture: Option<String>,
}

impl From<&Sku> for SkuInfo {
    fn from(sku: &Sku) -> SkuInfo {
        SkuInfo {
            id: sku.id.clone(),
            name: sku.name.clone(),
            price_minor: sku.price_minor,
            picture: sku.picture.clone(),
        }
    }
}

/// `scheduled → open → ended`; `cancelled` from anywhere. Ended is for good: another sale sells the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub enum SaleStatus {
    #[n(0)]
    Scheduled,
    #[n(1)]
    Open,
    #[n(2)]
    Ended,
    #[n(3)]
    Cancelled,
}

impl SaleStatus {
    pub fn as_str(self) -> &'static str {
        match self {
            SaleStatus::Scheduled => "scheduled",
            SaleStatus::Open => "open",
            SaleStatus::Ended => "ended",
            SaleStatus::Cancelled => "cancelled",
        }
    }

    pub const ALL: [SaleStatus; 4] =
        [SaleStatus::Scheduled, SaleStatus::Open, SaleStatus::Ended, SaleStatus::Cancelled];
}

impl SaleDetails {
    /// Refuses details that break a bound, naming the field.
    pub fn check(&self) -> Result<(), Refusal> {
        let invalid = |field: Field, why: &str| Err(Refusal::invalid(field, why));
        check_name(Field::Name, &self.name)?;
        check_description(&self.description)?;
        for (field, time) in [(Field::StartsAt, self.starts_at), (Field::EndsAt, self.ends_at)] {
            check_time(field, time)?;
        }
        if self.ends_at <= self.starts_at {
            return invalid(Field::EndsAt, "after starts_at");
        }
        if !(1..=UNITS_PER_BUYER_MAX).contains(&self.rules.buyer_limit) {
            return invalid(Field::RulesBuyerLimit, "1 to 100");
        }
        if !(CHECKOUT_MS_MIN..=CHECKOUT_MS_MAX).contains(&self.rules.checkout_ms) {
            return invalid(Field::RulesCheckoutMs, "30 to 3,600 seconds");
        }
        Ok(())
    }
}

/// Refuses SKUs that break a bound, or whose names are not their own.
pub fn check_skus(known: &[SkuInfo], new: &[Sku]) -> Result<(), Refusal> {
    let invalid = |n: usize, field: Field, why: &str| Err(Refusal::invalid(field.at(&[n]), why));
    if !(1..=SKUS_MAX).contains(&(known.len() + new.len())) {
        return Err(Refusal::invalid(Field::Skus, "1 to 100 SKUs"));
    }
    for (n, sku) in new.iter().enumerate() {
        let length = sku.id.chars().count();
        if !(1..=SKU_ID_CHARS_MAX).contains(&length) || sku.id.chars().any(char::is_control) {
            return invalid(n, Field::SkuId, "1–64 characters without control characters");
        }
        if known.iter().any(|other| other.id == sku.id) || new[..n].iter().any(|other| other.id == sku.id) {
            return invalid(n, Field::SkuId, "the same id twice");
        }
        if !is_name(&sku.name) {
            return invalid(n, Field::SkuName, "1–200 characters without control characters");
        }
        check_price(Field::SkuPriceMinor.at(&[n]), sku.price_minor)?;
        drawing::check(Field::SkuPicture.at(&[n]), sku.picture.as_deref())?;
        if sku.stock > STOCK_MAX {
            return invalid(n, Field::SkuStock, "0 to 10,000,000");
        }
    }
    Ok(())
}

pub fn check_price(field: FieldPath, price_minor: Minor) -> Result<(), Refusal> {
    match (0..=MINOR_MAX).contains(&price_minor) {
        true => Ok(()),
        false => Err(Refusal::invalid(field, "0 to 1,000,000,000,000 minor units")),
    }
}
