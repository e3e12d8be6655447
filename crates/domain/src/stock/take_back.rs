//! Late money: the code is over, but the buyer has paid. All its lines are sold after all, or none.

use super::Decision;
use super::checkout::obstacles;
use super::command::TakeBack;
use super::details::check_price;
use super::fact::{SaleFact, SkuCount};
use super::purchase::not_cancelled;
use super::state::Sale;
use crate::field::Field;
use crate::limits::{LINES_MAX, UNITS_PER_BUYER_MAX};
use crate::outcome::Outcome;
use crate::refusal::{Code, InTheWay, Refusal};

pub(super) fn check(command: &TakeBack) -> Result<(), Refusal> {
    if !(1..=LINES_MAX).contains(&command.lines.len()) {
        return Err(Refusal::invalid(Field::Lines, "1 to 20 lines"));
    }
    for (n, line) in command.lines.iter().enumerate() {
        let twice = command.lines[..n].iter().any(|before| before.sku == line.sku);
        if twice || !(1..=UNITS_PER_BUYER_MAX).contains(&line.count) {
            return Err(Refusal::invalid(Field::Line.at(&[n]), "each SKU once, with 1 to 100 units"));
        }
        check_price(Field::LinePriceMinor.at(&[n]), line.price_minor)?;
    }
    Ok(())
}

/// Neither the sale's window nor the buyer's limit stands in the way, only a cancellation and an empty shelf.
pub(super) fn decide(sale: &Sale, command: &TakeBack) -> Result<Decision, Refusal> {
    if let Some(bought) = sale.purchase_of_code(command.key.checkout) {
        let bought = sale.purchase_state(bought);
        return match bought.order == command.order {
            true => Ok(Decision::Outcome(Outcome::AlreadyPurchased(Box::new(bought)))),
            false => Err(Refusal::of(Code::CheckoutPurchased)),
        };
    }
    not_cancelled(sale)?;
    // While the code lives it is used, not taken back.
    if sale.code_index(command.key.checkout).is_some() || sale.purchase_of_order(command.order).is_some() {
        return Err(Refusal::of(Code::IdTaken));
    }
    let unknown = command.lines.iter().filter(|line| sale.level(line.sku).is_none());
    Refusal::in_the_way(unknown.map(|line| InTheWay::Sku(line.sku, Code::SkuUnknown)).collect())?;
    let asked: Vec<_> =
        command.lines.iter().map(|line| SkuCount { sku: line.sku, count: line.count }).collect();
    Refusal::in_the_way(obstacles(sale, &asked))?;
    Ok(Decision::Fact(SaleFact::TakenBack {
        checkout: command.key.checkout,
        order: command.order,
        buyer: command.key.buyer.clone(),
        lines: command.lines.clone(),
    }))
}
