//! A sale of one hot SKU and auctions to measure with, and the commands that fight for them.

use anyhow::{Context, Result};
use onsale_domain::auction::AuctionCommand;
use onsale_domain::auction::command::PlaceBid;
use onsale_domain::auction::details::{AuctionDetails, AuctionTerms, SoftClose};
use onsale_domain::auction::increment::Increment;
use onsale_domain::money::Currency;
use onsale_domain::stock::SaleCommand;
use onsale_domain::stock::command::{Checkout, CheckoutKey, CreateSale};
use onsale_domain::stock::details::{SaleDetails, Sku, StockRules};
use onsale_domain::stock::fact::SkuCount;
use onsale_domain::{BuyerId, CheckoutId, Command, ListingId, ListingKind, Tenant};
use onsale_engine::Request;

use super::hall;

/// More than any round takes.
pub(crate) const STOCK: u32 = 10_000_000;
/// The year 2100: nothing ends in a measurement.
const FAR: i64 = 4_102_444_800_000;
/// An auction lasts a year at most.
const YEAR_MS: i64 = 365 * 86_400_000;

pub(crate) fn euro() -> Result<Currency> {
    Currency::parse("EUR").context("three capital letters")
}

pub(crate) fn sale(number: u64) -> ListingId {
    ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Sale, number }
}

pub(crate) fn auction(number: u64) -> ListingId {
    ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Auction, number }
}

pub(crate) fn create_sale() -> Result<Command> {
    let details = SaleDetails {
        name: "Measured".into(),
        description: String::new(),
        starts_at: 0,
        ends_at: FAR,
        currency: euro()?,
        rules: StockRules::default(),
        origin: None,
    };
    let skus = vec![Sku { id: "A".into(), name: "A".into(), price_minor: 900, stock: STOCK, picture: None }];
    Ok(Command::Sale(SaleCommand::Create(Box::new(CreateSale { details, skus }))))
}

fn code(number: u64) -> CheckoutId {
    CheckoutId(number | 1 << 50)
}

pub(crate) fn checkout(number: u64, buyer: &BuyerId) -> Command {
    Command::Sale(SaleCommand::Checkout(Checkout {
        checkout: code(number),
        buyer: buyer.clone(),
        lines: vec![SkuCount { sku: 0, count: 1 }],
        checkout_ms: None,
    }))
}

pub(crate) fn cancel(number: u64, buyer: &BuyerId) -> Command {
    Command::Sale(SaleCommand::CancelCheckout(CheckoutKey { checkout: code(number), buyer: buyer.clone() }))
}

/// An auction that began a moment ago and lasts nearly a year.
pub(crate) fn create_auction(now: i64) -> Result<Command> {
    let details = AuctionDetails {
        name: "Measured".into(),
        description: String::new(),
        seller: BuyerId::parse("seller").context("a seller")?,
        currency: euro()?,
        starts_at: now - 1,
        ends_at: now + YEAR_MS,
        terms: AuctionTerms {
            start_minor: 1,
            tick_minor: 1,
            increment: Increment::Fixed(1),
            reserve_minor: None,
            buy_now: None,
            soft_close: Some(SoftClose::default()),
            bidders_may_retract: false,
        },
    };
    Ok(Command::Auction(AuctionCommand::CreateAuction(Box::new(details))))
}

/// The `number`-th bid passes all before it.
pub(crate) fn bid(number: u64, bidder: &BuyerId, currency: Currency) -> Command {
    Command::Auction(AuctionCommand::PlaceBid(PlaceBid {
        bidder: bidder.clone(),
        max_minor: 10 + 2 * number as i64,
        currency,
    }))
}

/// Under a key of its own.
pub(crate) fn request(listing: ListingId, command: Command, number: u64) -> Request {
    Request { listing, command, key: hall::key(number), by: None }
}

/// The time, in the engine's unit.
pub(crate) fn now_ms() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis() as i64)
}
