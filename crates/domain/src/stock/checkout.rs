//! Check out: reserve units of one or several SKUs, all or nothing, the price fixed now.

use super::details::SaleStatus;
use super::fact::{SaleFact, SkuCount, SkuLine};
use super::state::{Sale, total_minor};
use crate::field::Field;
use crate::id::SkuIndex;
use crate::limits::{CHECKOUT_MS_MAX, CHECKOUT_MS_MIN, LINES_MAX, TOTAL_MAX_WHY, UNITS_PER_BUYER_MAX};
use crate::money::MINOR_MAX;
use crate::refusal::{Code, InTheWay, Refusal};
use crate::stock::command::Checkout;
use crate::time::Millis;

pub(super) fn check(command: &Checkout) -> Result<(), Refusal> {
    if !(1..=LINES_MAX).contains(&command.lines.len()) {
        return Err(Refusal::invalid(Field::Lines, "1 to 20 lines"));
    }
    for (n, line) in command.lines.iter().enumerate() {
        if !(1..=UNITS_PER_BUYER_MAX).contains(&line.count) {
            return Err(Refusal::invalid(Field::LineCount.at(&[n]), "1 to 100 units"));
        }
    }
    if command.checkout_ms.is_some_and(|ms| !(CHECKOUT_MS_MIN..=CHECKOUT_MS_MAX).contains(&ms)) {
        return Err(Refusal::invalid(Field::CheckoutMs, "30 to 3,600 seconds"));
    }
    Ok(())
}

/// The order of the refusals is the order of the lines below; `docs/rules.md` names it.
pub(super) fn decide(sale: &Sale, command: &Checkout, now: Millis) -> Result<SaleFact, Refusal> {
    on_sale(sale)?;
    let asked = summed(&command.lines);
    let unknown = asked.iter().filter(|line| sale.level(line.sku).is_none());
    Refusal::in_the_way(unknown.map(|line| InTheWay::Sku(line.sku, Code::SkuUnknown)).collect())?;
    if sale.knows(command.checkout, now) {
        return Err(Refusal::of(Code::IdTaken));
    }
    let lines: Vec<SkuLine> = asked.iter().map(|line| priced(sale, *line)).collect();
    if total_minor(&lines) > MINOR_MAX {
        return Err(Refusal::invalid(Field::Lines, TOTAL_MAX_WHY));
    }
    Refusal::in_the_way(obstacles(sale, &asked))?;
    let units: u32 = asked.iter().map(|line| line.count).sum();
    let (limit, taken) = (sale.details.rules.buyer_limit, sale.taken_by(&command.buyer));
    if taken + units > limit {
        return Err(Refusal::limit(Code::BuyerLimit, limit, taken));
    }
    let until = now + command.checkout_ms.unwrap_or(sale.details.rules.checkout_ms);
    Ok(SaleFact::CheckedOut { checkout: command.checkout, buyer: command.buyer.clone(), lines, until })
}

/// New codes only while the sale is open.
fn on_sale(sale: &Sale) -> Result<(), Refusal> {
    match sale.status {
        SaleStatus::Open => Ok(()),
        SaleStatus::Scheduled => Err(Refusal::of(Code::SaleNotStarted)),
        SaleStatus::Ended => Err(Refusal::of(Code::SaleClosed)),
        SaleStatus::Cancelled => Err(Refusal::of(Code::SaleCancelled)),
    }
}

/// Each SKU once, in the order of its first line.
pub(super) fn summed(lines: &[SkuCount]) -> Vec<SkuCount> {
    let mut sums: Vec<SkuCount> = Vec::with_capacity(lines.len());
    for line in lines {
        match sums.iter_mut().find(|sum| sum.sku == line.sku) {
            Some(sum) => sum.count += line.count,
            None => sums.push(*line),
        }
    }
    sums
}

fn priced(sale: &Sale, line: SkuCount) -> SkuLine {
    let price_minor = sale.skus[usize::from(line.sku)].price_minor;
    SkuLine { sku: line.sku, count: line.count, price_minor }
}

/// Every SKU of which there is too little, in the order asked, and why.
pub(super) fn obstacles(sale: &Sale, asked: &[SkuCount]) -> Vec<InTheWay> {
    let of_line = |line: &SkuCount| {
        let level = sale.level(line.sku)?;
        (level.available() < line.count).then(|| {
            let code = match level.sold_out() {
                None => Code::NotEnoughStock,
                Some(true) => Code::SoldOut,
                Some(false) => Code::SoldOutForNow,
            };
            InTheWay::Sku(line.sku, code)
        })
    };
    asked.iter().filter_map(of_line).collect()
}

/// Whether there is too little of anything asked for.
pub(super) fn is_short(sale: &Sale, asked: impl IntoIterator<Item = (SkuIndex, u32)>) -> bool {
    asked.into_iter().any(|(sku, count)| sale.level(sku).is_some_and(|level| level.available() < count))
}
