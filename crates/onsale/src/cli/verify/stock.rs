//! A sale's facts in the words of the stock book, and the book's word against the listing's own.

use onsale_domain::stock::details::SaleStatus;
use onsale_domain::stock::fact::{SkuCount, SkuLine};
use onsale_domain::stock::{Sale, SaleFact};

use super::books::{Books, VerifiedKind};
use super::money::Money;
use crate::cli::stock_book::Entry;

impl VerifiedKind for Sale {
    fn book(&self, books: &mut Books, fact: &SaleFact, at: i64) -> Result<(), String> {
        let entries = entries(fact, books.stock.levels().count());
        entries.into_iter().try_for_each(|entry| books.stock.take(at, entry))
    }

    fn move_money(money: &mut Money, fact: &SaleFact) -> Result<(), String> {
        if let SaleFact::Purchased { order, .. } | SaleFact::TakenBack { order, .. } = fact {
            return money.sold(*order);
        }
        let SaleFact::Refunded { order, lines, amount_minor, .. } = fact else { return Ok(()) };
        let units = lines.iter().map(|line| u64::from(line.count)).sum();
        money.returned(*order, units, *amount_minor)
    }

    fn agrees(&self, books: &Books) -> Result<(), String> {
        for (n, level) in self.levels().iter().enumerate() {
            let shown = [level.stock, level.reserved, level.sold].map(u64::from);
            let booked =
                books.stock.level_of(&(n as u16)).map(|level| [level.stock, level.reserved, level.sold]);
            if booked != Some(shown) {
                let name = self.skus().get(n).map_or("", |sku| sku.id.as_str());
                return Err(format!(
                    "{name} has stock, reserved, sold {shown:?}, but the facts say {booked:?}"
                ));
            }
        }
        Ok(())
    }
}

fn priced(lines: &[SkuLine]) -> Vec<(u16, u64)> {
    lines.iter().map(|line| (line.sku, u64::from(line.count))).collect()
}

fn counted(lines: &[SkuCount]) -> Vec<(u16, u64)> {
    lines.iter().map(|line| (line.sku, u64::from(line.count))).collect()
}

/// What a fact does to stock. A SKU's number is its place: those that are known are counted first.
fn entries(fact: &SaleFact, known: usize) -> Vec<Entry<u16>> {
    let sku = |(n, stock): (usize, u32)| ((known + n) as u16, u64::from(stock));
    match fact {
        SaleFact::Created(created) => {
            let skus = created.skus.iter().map(|sku| sku.stock).enumerate().map(sku).collect();
            vec![Entry::Skus(skus), Entry::Limit(u64::from(created.details.rules.buyer_limit))]
        }
        SaleFact::Changed(details) => vec![Entry::Limit(u64::from(details.rules.buyer_limit))],
        SaleFact::StatusChanged { status: SaleStatus::Open, .. } => vec![Entry::Opened],
        SaleFact::StatusChanged { .. } => vec![Entry::Over],
        SaleFact::SkuAdded(added) => vec![Entry::Skus(vec![sku((0, added.stock))])],
        SaleFact::StockAdded { sku, count } => vec![Entry::Added(*sku, u64::from(*count))],
        SaleFact::StockWithdrawn { sku, count } => vec![Entry::Withdrawn(*sku, u64::from(*count))],
        SaleFact::PriceChanged { .. } => Vec::new(),
        SaleFact::CheckedOut { checkout, buyer, lines, until } => vec![Entry::Reserved {
            code: checkout.0,
            buyer: buyer.as_str().to_owned(),
            lines: priced(lines),
            until: *until,
        }],
        SaleFact::CheckoutCancelled { checkout, .. } => {
            vec![Entry::Returned { code: checkout.0, expired: false }]
        }
        SaleFact::CheckoutExpired { checkout } => vec![Entry::Returned { code: checkout.0, expired: true }],
        SaleFact::CheckoutOrdered { checkout, until, .. }
        | SaleFact::CheckoutReturned { checkout, until } => {
            vec![Entry::Until { code: checkout.0, until: *until }]
        }
        SaleFact::Purchased { checkout, order } => {
            vec![Entry::Bought { code: checkout.0, order: order.0 }]
        }
        SaleFact::TakenBack { checkout, order, buyer, lines } => vec![Entry::TakenBack {
            code: checkout.0,
            order: order.0,
            buyer: buyer.as_str().to_owned(),
            lines: priced(lines),
        }],
        SaleFact::Refunded { order, lines, restock, .. } => {
            vec![Entry::Refunded { order: order.0, lines: counted(lines), restock: *restock }]
        }
    }
}
