//! Purchase: a code is used exactly once. A retry by its owner gets the first answer, another's attempt none.

use super::Decision;
use super::cancel_checkout::{not_ordered, own_code};
use super::command::Purchase;
use super::details::SaleStatus;
use super::fact::SaleFact;
use super::state::Sale;
use crate::outcome::Outcome;
use crate::refusal::{Code, Detail, Refusal};
use crate::time::Millis;

pub(super) fn decide(sale: &Sale, command: &Purchase, now: Millis) -> Result<Decision, Refusal> {
    if let Some(bought) = sale.purchase_of_code(command.key.checkout) {
        let bought = sale.purchase_state(bought);
        return match bought.buyer == command.key.buyer {
            true => Ok(Decision::Outcome(Outcome::AlreadyPurchased(Box::new(bought)))),
            false => Err(Refusal::of(Code::NotYours)),
        };
    }
    not_cancelled(sale)?;
    let index = own_code(sale, &command.key, now)?;
    let code = &sale.codes[index];
    // An order that has taken the code is the only one that may use it, and only once it is paid.
    if !command.settled || code.order.as_deref() != Some(&command.order) {
        not_ordered(sale, index)?;
    }
    if !command.settled && code.total_minor() > 0 {
        return Err(Refusal::of(Code::PaymentRequired));
    }
    if sale.purchase_of_order(command.order).is_some() {
        return Err(Refusal { detail: Detail::Order(command.order), ..Refusal::of(Code::IdTaken) });
    }
    Ok(Decision::Fact(SaleFact::Purchased { checkout: command.key.checkout, order: command.order }))
}

/// A cancelled sale takes everything back: nothing of it can be ordered or bought.
pub(super) fn not_cancelled(sale: &Sale) -> Result<(), Refusal> {
    match sale.status {
        SaleStatus::Cancelled => Err(Refusal::of(Code::SaleCancelled)),
        SaleStatus::Scheduled | SaleStatus::Open | SaleStatus::Ended => Ok(()),
    }
}
