//! An order takes a code to pay for it, and gives it back when the payment fails.

use super::Decision;
use super::cancel_checkout::{living_code, not_ordered, own_code};
use super::command::{OrderCheckout, ReturnCheckout};
use super::fact::SaleFact;
use super::purchase::not_cancelled;
use super::state::Sale;
use crate::field::Field;
use crate::limits::{DECLINED_MS, ORDERED_MS_MAX, TIME_MAX};
use crate::outcome::Outcome;
use crate::refusal::{Code, Detail, Refusal};
use crate::time::Millis;

pub(super) fn check(command: &OrderCheckout) -> Result<(), Refusal> {
    match (0..=TIME_MAX).contains(&command.pay_until) {
        true => Ok(()),
        false => Err(Refusal::invalid(Field::PayUntil, "a time between 1970 and 2200")),
    }
}

/// Pins the code until the provider's deadline, at most 15 minutes after the checkout; it never shortens it.
pub(super) fn decide(sale: &Sale, command: &OrderCheckout, now: Millis) -> Result<Decision, Refusal> {
    not_cancelled(sale)?;
    let index = own_code(sale, &command.key, now)?;
    let code = &sale.codes[index];
    if code.order.as_deref() == Some(&command.order) {
        return Ok(Decision::Outcome(Outcome::Unchanged));
    }
    not_ordered(sale, index)?;
    if sale.purchase_of_order(command.order).is_some() {
        return Err(Refusal { detail: Detail::Order(command.order), ..Refusal::of(Code::IdTaken) });
    }
    let until = code.until.max(command.pay_until.min(code.placed_at + ORDERED_MS_MAX));
    let (checkout, order) = (command.key.checkout, command.order);
    Ok(Decision::Fact(SaleFact::CheckoutOrdered { checkout, order, until }))
}

/// The code is the buyer's again, with at least a minute to try once more, within the same bound.
pub(super) fn give_back(sale: &Sale, command: &ReturnCheckout, now: Millis) -> Result<SaleFact, Refusal> {
    let code = &sale.codes[living_code(sale, command.checkout, now)?];
    if code.order.as_deref() != Some(&command.order) {
        return Err(Refusal { detail: Detail::Order(command.order), ..Refusal::of(Code::OrderUnknown) });
    }
    let until = code.until.max((now + DECLINED_MS).min(code.placed_at + ORDERED_MS_MAX));
    Ok(SaleFact::CheckoutReturned { checkout: command.checkout, until })
}
