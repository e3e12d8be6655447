//! What a series is: when it opens sales, and what such a sale is like.

use minicbor::{Decode, Encode};

use super::items;
use super::schedule::{Schedule, Slot};
use crate::drawing;
use crate::field::Field;
use crate::id::{LISTING_NUMBERS, ListingId, ListingKind};
use crate::layout::is_name;
use crate::limits::{ITEMS_MAX, SLOT_LENGTH_MS_MAX, SLOT_LENGTH_MS_MIN, STOCK_MAX, TIME_MAX};
use crate::money::{Currency, Minor};
use crate::refusal::Refusal;
use crate::stock::command::CreateSale;
use crate::stock::details::{Origin, SaleDetails, Sku, StockRules, check_price};
use crate::time::Millis;

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct SeriesDetails {
    #[n(0)]
    pub name: String,
    /// Never changes: another schedule is another series.
    #[n(1)]
    pub schedule: Schedule,
    /// Slots before this instant do not count.
    #[n(2)]
    pub from: Millis,
    #[n(3)]
    pub template: SaleTemplate,
}

/// What each sale of the series is like.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct SaleTemplate {
    #[n(0)]
    pub name: String,
    #[n(1)]
    pub description: String,
    #[n(2)]
    pub currency: Currency,
    #[n(3)]
    pub rules: StockRules,
    /// How long a sale lasts from its slot on.
    #[n(4)]
    pub length_ms: Millis,
    #[n(5)]
    pub items: Vec<ItemTemplate>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct ItemTemplate {
    #[n(0)]
    pub price_minor: Minor,
    #[n(1)]
    pub stock: u32,
    /// Absent: each sale makes up a name of its own.
    #[n(2)]
    pub name: Option<String>,
    /// Absent: each sale draws one of its own.
    #[n(3)]
    pub picture: Option<String>,
}

impl SeriesDetails {
    pub fn check(&self) -> Result<(), Refusal> {
        if !is_name(&self.name) {
            return Err(Refusal::invalid(Field::Name, "1–200 characters without control characters"));
        }
        if !(0..=TIME_MAX).contains(&self.from) {
            return Err(Refusal::invalid(Field::From, "a time between 1970 and 2200"));
        }
        self.schedule.check()?;
        self.template.check()
    }
}

impl SaleTemplate {
    pub fn check(&self) -> Result<(), Refusal> {
        if !(SLOT_LENGTH_MS_MIN..=SLOT_LENGTH_MS_MAX).contains(&self.length_ms) {
            return Err(Refusal::invalid(Field::TemplateLengthMs, "a minute to 31 days"));
        }
        if !(1..=ITEMS_MAX).contains(&self.items.len()) {
            return Err(Refusal::invalid(Field::TemplateItems, "1 to 20 items"));
        }
        for (n, item) in self.items.iter().enumerate() {
            check_price(Field::ItemPriceMinor.at(&[n]), item.price_minor)?;
            if item.name.as_ref().is_some_and(|name| !is_name(name)) {
                let why = "1–200 characters without control characters";
                return Err(Refusal::invalid(Field::ItemName.at(&[n]), why));
            }
            drawing::check(Field::ItemPicture.at(&[n]), item.picture.as_deref())?;
            if item.stock > STOCK_MAX {
                return Err(Refusal::invalid(Field::ItemStock.at(&[n]), "0 to 10,000,000"));
            }
        }
        // A sale of any slot must be one that could be created.
        self.details(0, None).check()
    }

    fn details(&self, starts_at: Millis, origin: Option<Origin>) -> SaleDetails {
        SaleDetails {
            name: self.name.clone(),
            description: self.description.clone(),
            starts_at,
            ends_at: starts_at + self.length_ms,
            currency: self.currency,
            rules: self.rules.clone(),
            origin,
        }
    }

    /// The command that creates the sale of a slot: the same, whoever asks.
    pub fn sale(&self, series: ListingId, slot: Slot) -> CreateSale {
        let sale = sale_of(series, slot.at);
        let sku = |(n, item): (usize, &ItemTemplate)| Sku {
            id: format!("item-{}", n + 1),
            name: item.name.clone().unwrap_or_else(|| items::name(sale.number, n)),
            price_minor: item.price_minor,
            stock: item.stock,
            picture: item.picture.clone(),
        };
        CreateSale {
            details: self.details(slot.at, Some(Origin { series, slot: slot.at })),
            skus: self.items.iter().enumerate().map(sku).collect(),
        }
    }
}

/// The id of the sale of a slot: a function of the series and the instant, so that nobody can open a slot twice.
/// For one series it is a bijection of the instant: two slots never share a sale.
pub fn sale_of(series: ListingId, slot: Millis) -> ListingId {
    const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
    const STIR: u64 = 0xd6e8_feb8_6659_fd93;
    // Odd factors and shifts by half are undone one by one, in 60 bits as in 64.
    const BITS: u64 = LISTING_NUMBERS - 1;
    let mut number = (series.number ^ (slot as u64).wrapping_mul(SPREAD)) & BITS;
    for _ in 0..3 {
        number ^= number >> 31;
        number = number.wrapping_mul(STIR) & BITS;
    }
    number ^= number >> 31;
    ListingId { tenant: series.tenant, kind: ListingKind::Sale, number }
}
