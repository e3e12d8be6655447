//! Refund a purchase, wholly or in part. The units return to the shelf, or are written off.

use super::command::RefundPurchase;
use super::fact::{SaleFact, SkuCount};
use super::state::Sale;
use crate::field::Field;
use crate::fields::check_reason;
use crate::refusal::{Code, InTheWay, Refusal};

pub(super) fn check(command: &RefundPurchase) -> Result<(), Refusal> {
    for (n, away) in command.lines.iter().enumerate() {
        if away.count == 0 || command.lines[..n].iter().any(|before| before.sku == away.sku) {
            return Err(Refusal::invalid(Field::Line.at(&[n]), "each SKU once, with at least one unit"));
        }
    }
    check_reason(&command.reason)
}

pub(super) fn decide(sale: &Sale, command: &RefundPurchase) -> Result<SaleFact, Refusal> {
    let index = sale.purchase_of_order(command.order).ok_or(Refusal::of(Code::OrderUnknown))?;
    let bought = &sale.purchases[index];
    if bought.units_left() == 0 {
        return Err(Refusal::of(Code::NotRefundable));
    }
    if command.lines.is_empty() {
        return Ok(all_of(sale, index, command.restock, &command.reason));
    }
    let mut amount_minor = 0;
    let mut foreign = Vec::new();
    for away in &command.lines {
        match bought.left().find(|line| line.sku == away.sku && line.count >= away.count) {
            Some(line) => amount_minor += line.price_minor * i64::from(away.count),
            None => foreign.push(InTheWay::Sku(away.sku, Code::NotRefundable)),
        }
    }
    Refusal::in_the_way(foreign)?;
    Ok(SaleFact::Refunded {
        order: command.order,
        lines: command.lines.clone(),
        amount_minor,
        restock: command.restock,
        reason: command.reason.clone(),
    })
}

/// The refund of all that is left of a purchase.
pub(super) fn all_of(sale: &Sale, index: u32, restock: bool, reason: &str) -> SaleFact {
    let bought = &sale.purchases[index];
    let left = || bought.left().filter(|line| line.count > 0);
    SaleFact::Refunded {
        order: bought.order,
        lines: left().map(|line| SkuCount { sku: line.sku, count: line.count }).collect(),
        amount_minor: left().map(|line| line.total_minor()).sum(),
        restock,
        reason: reason.to_owned(),
    }
}
