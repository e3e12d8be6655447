//! One small world for a random history: a sale of few units and fewer buyers, and what was granted, so that
//! everything collides with everything. `asks` makes the commands.

use onsale_domain::id::LISTING_NUMBERS;
use onsale_domain::money::Currency;
use onsale_domain::stock::SaleFact;
use onsale_domain::stock::command::CreateSale;
use onsale_domain::stock::details::{Origin, SaleDetails, Sku, StockRules};
use onsale_domain::stock::fact::{SkuCount, SkuLine};
use onsale_domain::{BuyerId, CheckoutId, Fact, ListingId, ListingKind, Millis, OrderId, Step, Tenant};

use crate::differential::chance::{BUYERS, Chance};
use crate::differential::histories::{SentCommands, takes_its_course};

pub(crate) struct World {
    pub chance: Chance,
    pub now: Millis,
    pub sale: ListingId,
    pub venue: ListingId,
    pub nowhere: ListingId,
    /// Whether the history speaks mostly of other listings.
    pub elsewhere: bool,
    /// Whether it cancels the sale when half of it is told.
    pub cancels: bool,
    pub told: u32,
    ids: u64,
    /// Codes ever given, with whose they are and what they reserved.
    pub codes: Vec<(CheckoutId, BuyerId, Vec<SkuLine>)>,
    /// Orders ever named, and the code each was named for.
    pub orders: Vec<(OrderId, CheckoutId)>,
    pub asked: SentCommands,
}

takes_its_course!(World, sale);

impl World {
    pub(crate) fn new(seed: u64) -> World {
        let mut chance = Chance::new(seed);
        let listing = |kind, number| ListingId { tenant: Tenant::DEFAULT, kind, number };
        let number = (seed << 8) % LISTING_NUMBERS;
        let (elsewhere, cancels) = (chance.one_in(8), chance.one_in(6));
        World {
            chance,
            now: 1_700_000_000_000,
            sale: listing(ListingKind::Sale, number | 1),
            venue: listing(ListingKind::Venue, number | 2),
            nowhere: listing(ListingKind::Sale, number | 3),
            elsewhere,
            cancels,
            told: 0,
            ids: seed << 40,
            codes: Vec::new(),
            orders: Vec::new(),
            asked: Vec::new(),
        }
    }

    pub(crate) fn fresh(&mut self) -> u64 {
        self.ids += 1;
        // Spread over all bits, as real ids are.
        self.ids.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    pub(crate) fn buyer(&mut self) -> BuyerId {
        let name = BUYERS[self.chance.below(BUYERS.len() as u64) as usize];
        BuyerId::parse(name).expect("a name that the domain admits")
    }

    pub(crate) fn price(&mut self) -> i64 {
        match self.chance.below(6) {
            0 | 1 => 0,
            2 => 1_000_000_000_000,
            _ => 700,
        }
    }

    pub(crate) fn sku(&mut self, id: &str) -> Sku {
        let (price_minor, stock) = (self.price(), self.chance.below(9) as u32);
        let picture = match self.chance.below(6) {
            0 => Some("https://cdn.example/mug.png".into()),
            1 => Some("<svg>\n\t<g id=\"x\\y\"/>\r</svg>".into()),
            2 if id == "A" => Some("javascript:alert(1)".into()),
            _ => None,
        };
        Sku { id: id.into(), name: format!("one | {{{id}}}"), price_minor, stock, picture }
    }

    /// Some units of some SKU, now and then of one that there is not.
    pub(crate) fn line(&mut self) -> SkuCount {
        let count = if self.chance.one_in(3) { 1 + self.chance.below(4) as u32 } else { 1 };
        SkuCount { sku: self.chance.below(30) as u16 % if self.chance.one_in(8) { 6 } else { 3 }, count }
    }

    pub(crate) fn create(&mut self) -> CreateSale {
        let early = self.chance.one_in(3);
        let starts_at = self.now + if early { 20_000 } else { -1_000 };
        let length = match self.chance.below(10) {
            0 => 500,
            1 => 300_000,
            2 => 4_000_000,
            _ => 90_000_000,
        };
        let origin = Origin { series: self.nowhere, slot: self.now };
        let details = SaleDetails {
            name: "Ausverkauf | {x}".into(),
            description: "Two\nlines | of \"text\"".into(),
            starts_at,
            ends_at: starts_at + length,
            currency: Currency::parse("EUR").expect("three letters"),
            rules: StockRules {
                buyer_limit: 2 + self.chance.below(7) as u32,
                checkout_ms: 30_000 + self.chance.below(10) as Millis * 10_000,
            },
            origin: self.chance.one_in(2).then_some(origin),
        };
        let ids = ["A b", "B|{1}", "C:0"];
        CreateSale { details, skus: ids.map(|id| self.sku(id)).to_vec() }
    }

    /// Takes in what was granted, so that later commands can speak of it.
    pub(crate) fn learn(&mut self, step: &Step) {
        for fact in &step.facts {
            if let Fact::Sale(SaleFact::CheckedOut { checkout, buyer, lines, .. }) = fact {
                self.codes.push((*checkout, buyer.clone(), lines.clone()));
            }
        }
    }
}
