//! New SKUs, more stock, less stock, other prices: while the sale has not ended.

use super::Decision;
use super::change_sale::not_over;
use super::details::{Sku, check_price, check_skus};
use super::fact::{SaleFact, SkuCount};
use super::state::{Level, Sale};
use crate::field::Field;
use crate::id::SkuIndex;
use crate::limits::{STOCK_MAX, STOCK_MAX_WHY};
use crate::money::Minor;
use crate::outcome::Outcome;
use crate::refusal::{Code, InTheWay, Refusal};

pub(super) fn check_count(line: SkuCount) -> Result<(), Refusal> {
    match (1..=STOCK_MAX).contains(&line.count) {
        true => Ok(()),
        false => Err(Refusal::invalid(Field::StockCount, "1 to 10,000,000")),
    }
}

pub(super) fn add_sku(sale: &Sale, sku: &Sku) -> Result<SaleFact, Refusal> {
    not_over(sale)?;
    check_skus(&sale.skus, std::slice::from_ref(sku))?;
    Ok(SaleFact::SkuAdded(Box::new(sku.clone())))
}

pub(super) fn add_stock(sale: &Sale, line: SkuCount) -> Result<SaleFact, Refusal> {
    not_over(sale)?;
    let level = known(sale, line.sku)?;
    if level.stock + line.count > STOCK_MAX {
        return Err(Refusal::invalid(Field::StockCount, STOCK_MAX_WHY));
    }
    Ok(SaleFact::StockAdded { sku: line.sku, count: line.count })
}

/// Only what nobody has reserved or bought can be taken away.
pub(super) fn withdraw(sale: &Sale, line: SkuCount) -> Result<SaleFact, Refusal> {
    not_over(sale)?;
    let level = known(sale, line.sku)?;
    if level.available() < line.count {
        return Err(of_sku(line.sku, Code::NotEnoughStock));
    }
    Ok(SaleFact::StockWithdrawn { sku: line.sku, count: line.count })
}

pub(super) fn change_price(sale: &Sale, sku: SkuIndex, price_minor: Minor) -> Result<Decision, Refusal> {
    not_over(sale)?;
    known(sale, sku)?;
    check_price(Field::PriceMinor.into(), price_minor)?;
    Ok(match sale.skus[usize::from(sku)].price_minor == price_minor {
        true => Decision::Outcome(Outcome::Unchanged),
        false => Decision::Fact(SaleFact::PriceChanged { sku, price_minor }),
    })
}

fn known(sale: &Sale, sku: SkuIndex) -> Result<Level, Refusal> {
    sale.level(sku).ok_or_else(|| of_sku(sku, Code::SkuUnknown))
}

fn of_sku(sku: SkuIndex, code: Code) -> Refusal {
    Refusal { in_the_way: vec![InTheWay::Sku(sku, code)], ..Refusal::of(code) }
}
