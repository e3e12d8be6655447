//! Cancel an entry: the place goes on to the first in line in the same step; who registers again is the last.

use super::command::CancelEntry;
use super::confirm_entry::own_entry;
use super::details::RegistrationStatus;
use super::fact::{EntryCancelCause, RegistrationFact};
use super::state::{EntryStep, Registration};
use crate::money::Minor;
use crate::refusal::{Code, Refusal};
use crate::time::Millis;

pub(super) fn decide(
    registration: &Registration,
    command: &CancelEntry,
    now: Millis,
) -> Result<RegistrationFact, Refusal> {
    if registration.status == RegistrationStatus::Cancelled {
        return Err(Refusal::of(Code::RegistrationCancelled));
    }
    let index = own_entry(registration, command.entry, command.buyer.as_ref(), now)?;
    let paid = paid_minor(registration, index);
    let (why, amount_minor) = match (&command.buyer, registration.status) {
        (None, _) => (EntryCancelCause::Staff, paid),
        (Some(_), RegistrationStatus::Started) => return Err(Refusal::of(Code::RegistrationClosed)),
        // Nobody can take the place after the cut-off, so it stays paid.
        (Some(_), RegistrationStatus::Closed) => (EntryCancelCause::Buyer, 0),
        (Some(_), _) => (EntryCancelCause::Buyer, paid),
    };
    let buyer = registration.entries[index].buyer();
    Ok(RegistrationFact::EntryCancelled { entry: command.entry, buyer, why, amount_minor })
}

pub(super) fn paid_minor(registration: &Registration, index: u32) -> Minor {
    match registration.entries[index].step {
        EntryStep::Confirmed { paid: Some(paid) } => paid.price_minor,
        EntryStep::Confirmed { paid: None } | EntryStep::Offered { .. } | EntryStep::Waiting => 0,
    }
}
