//! Confirm an entry: a place that was kept for its buyer is paid.

use super::Decision;
use super::command::ConfirmEntry;
use super::details::RegistrationStatus;
use super::fact::RegistrationFact;
use super::state::{EntryStep, Registration};
use crate::ended::End;
use crate::id::{BuyerId, EntryId};
use crate::outcome::Outcome;
use crate::refusal::{Code, Detail, Refusal};
use crate::time::Millis;

pub(super) fn decide(
    registration: &Registration,
    command: &ConfirmEntry,
    now: Millis,
) -> Result<Decision, Refusal> {
    if registration.status == RegistrationStatus::Cancelled {
        return Err(Refusal::of(Code::RegistrationCancelled));
    }
    let index = own_entry(registration, command.entry, Some(&command.buyer), now)?;
    let price_minor = match registration.entries[index].step {
        EntryStep::Waiting => return Err(Refusal::of(Code::NotOffered)),
        EntryStep::Confirmed { paid: Some(paid) } if paid.order != command.order => {
            return Err(Refusal { detail: Detail::Order(paid.order), ..Refusal::of(Code::EntryConfirmed) });
        }
        EntryStep::Confirmed { .. } => {
            let own = registration.entry_state(index);
            return Ok(Decision::Outcome(Outcome::AlreadyRegistered(Box::new(own))));
        }
        EntryStep::Offered { price_minor, .. } => price_minor,
    };
    if !command.settled && price_minor > 0 {
        return Err(Refusal::of(Code::PaymentRequired));
    }
    if registration.knows(command.order) {
        return Err(Refusal { detail: Detail::Order(command.order), ..Refusal::of(Code::IdTaken) });
    }
    Ok(Decision::Fact(RegistrationFact::Confirmed { entry: command.entry, order: command.order }))
}

/// The entry of this id, and of this buyer if one is named, or why there is none.
pub(super) fn own_entry(
    registration: &Registration,
    id: EntryId,
    buyer: Option<&BuyerId>,
    now: Millis,
) -> Result<u32, Refusal> {
    let Some(index) = registration.entry_index(id) else {
        return Err(Refusal::of(match registration.ended(id, now) {
            Some(End::Expired) => Code::Expired,
            Some(End::Released | End::Overridden | End::Confirmed | End::Dissolved | End::OverLimit) => {
                Code::Released
            }
            None => Code::EntryUnknown,
        }));
    };
    match buyer {
        Some(buyer) if *registration.entries[index].buyer != *buyer.as_str() => {
            Err(Refusal::of(Code::NotYours))
        }
        Some(_) | None => Ok(index),
    }
}
