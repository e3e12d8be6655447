//! Cancel a checkout; and how any verb finds the code that its caller may act on.

use super::command::CheckoutKey;
use super::fact::{CancelCause, SaleFact};
use super::state::Sale;
use crate::ended::End;
use crate::id::CheckoutId;
use crate::refusal::{Code, Detail, Refusal};
use crate::time::Millis;

pub(super) fn decide(sale: &Sale, key: &CheckoutKey, now: Millis) -> Result<SaleFact, Refusal> {
    let index = own_code(sale, key, now)?;
    not_ordered(sale, index)?;
    Ok(SaleFact::CheckoutCancelled { checkout: key.checkout, why: CancelCause::Buyer })
}

/// The living code of this buyer, or why there is none.
pub(super) fn own_code(sale: &Sale, key: &CheckoutKey, now: Millis) -> Result<u32, Refusal> {
    let index = living_code(sale, key.checkout, now)?;
    if *sale.buyers[sale.codes[index].buyer].name != *key.buyer.as_str() {
        return Err(Refusal::of(Code::NotYours));
    }
    Ok(index)
}

pub(super) fn living_code(sale: &Sale, id: CheckoutId, now: Millis) -> Result<u32, Refusal> {
    if let Some(index) = sale.code_index(id) {
        return Ok(index);
    }
    if sale.purchase_of_code(id).is_some() {
        return Err(Refusal::of(Code::CheckoutPurchased));
    }
    Err(Refusal::of(match sale.ended(id, now) {
        Some(End::Expired) => Code::Expired,
        Some(End::Released | End::Overridden | End::Confirmed | End::Dissolved | End::OverLimit) => {
            Code::Released
        }
        None => Code::CheckoutUnknown,
    }))
}

pub(super) fn not_ordered(sale: &Sale, index: u32) -> Result<(), Refusal> {
    match sale.codes[index].order.as_deref() {
        None => Ok(()),
        Some(order) => Err(Refusal { detail: Detail::Order(*order), ..Refusal::of(Code::CheckoutOrdered) }),
    }
}
