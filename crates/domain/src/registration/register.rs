//! Register: a place if there is room and nobody waits, otherwise the end of the line. One entry per buyer.

use super::Decision;
use super::command::Register;
use super::details::RegistrationStatus;
use super::fact::RegistrationFact;
use super::state::Registration;
use crate::limits::WAITING_MAX;
use crate::outcome::Outcome;
use crate::refusal::{Code, Refusal};
use crate::time::Millis;

pub(super) fn decide(
    registration: &Registration,
    command: &Register,
    now: Millis,
) -> Result<Decision, Refusal> {
    match registration.status {
        RegistrationStatus::Cancelled => return Err(Refusal::of(Code::RegistrationCancelled)),
        RegistrationStatus::Scheduled => return Err(Refusal::of(Code::RegistrationNotOpen)),
        RegistrationStatus::Open | RegistrationStatus::Closed | RegistrationStatus::Started => {}
    }
    // Told after the close too, so that an answer that got lost can be asked for again.
    if let Some(own) = registration.entry_of(&command.buyer) {
        let own = registration.entry_state(own);
        return Ok(Decision::Outcome(Outcome::AlreadyRegistered(Box::new(own))));
    }
    if registration.status != RegistrationStatus::Open {
        return Err(Refusal::of(Code::RegistrationClosed));
    }
    if registration.entry_index(command.entry).is_some() || registration.ended(command.entry, now).is_some() {
        return Err(Refusal::of(Code::IdTaken));
    }
    let (entry, buyer) = (command.entry, command.buyer.clone());
    let ahead = registration.waiting.len();
    if registration.free() == 0 || ahead > 0 {
        if ahead >= WAITING_MAX {
            return Err(Refusal::limit(Code::WaitingListFull, WAITING_MAX as u32, ahead as u32));
        }
        let ahead = ahead as u32;
        return Ok(Decision::Fact(RegistrationFact::Waitlisted { entry, buyer, ahead }));
    }
    let price_minor = registration.details.price_minor;
    if price_minor == 0 {
        return Ok(Decision::Fact(RegistrationFact::Registered { entry, buyer }));
    }
    let until = (now + registration.details.checkout_ms).min(registration.details.starts_at);
    Ok(Decision::Fact(RegistrationFact::Reserved { entry, buyer, price_minor, until }))
}
