//! Create and change a registration, its capacity, close it before its time, or cancel it.

use super::Decision;
use super::command::{ChangeRegistration, CreateRegistration};
use super::details::{RegistrationDetails, RegistrationStatus, check_capacity};
use super::fact::{RegistrationCreated, RegistrationFact};
use super::state::Registration;
use crate::field::Field;
use crate::outcome::Outcome;
use crate::refusal::{Code, Refusal};
use crate::time::{Millis, is_over};

impl Registration {
    /// The facts that create a registration, and open it if its hour has come.
    pub fn create(command: &CreateRegistration, now: Millis) -> Result<Vec<RegistrationFact>, Refusal> {
        command.details.check()?;
        check_capacity(command.capacity)?;
        if is_over(command.details.closes_at(), now) {
            return Err(Refusal::invalid(Field::StartsAt, "later than now by more than the cut-off"));
        }
        let created = RegistrationCreated { details: command.details.clone(), capacity: command.capacity };
        let mut facts = vec![RegistrationFact::Created(Box::new(created))];
        if is_over(command.details.opens_at, now) {
            let (status, by_schedule) = (RegistrationStatus::Open, true);
            facts.push(RegistrationFact::StatusChanged { status, by_schedule });
        }
        Ok(facts)
    }

    /// The details after a change, if they keep every bound.
    pub fn changed(&self, command: &ChangeRegistration) -> Result<RegistrationDetails, Refusal> {
        let details = merged(&self.details, command);
        details.check().map(|()| details)
    }
}

fn not_over(registration: &Registration) -> Result<(), Refusal> {
    match registration.status {
        RegistrationStatus::Scheduled | RegistrationStatus::Open => Ok(()),
        RegistrationStatus::Closed | RegistrationStatus::Started => {
            Err(Refusal::of(Code::RegistrationClosed))
        }
        RegistrationStatus::Cancelled => Err(Refusal::of(Code::RegistrationCancelled)),
    }
}

pub(super) fn decide(
    registration: &Registration,
    command: &ChangeRegistration,
    now: Millis,
) -> Result<Decision, Refusal> {
    not_over(registration)?;
    let details = registration.changed(command)?;
    if registration.status == RegistrationStatus::Open && details.opens_at != registration.details.opens_at {
        return Err(Refusal::of(Code::StatusConflict));
    }
    if details.closes_at() != registration.details.closes_at() && is_over(details.closes_at(), now) {
        return Err(Refusal::invalid(Field::StartsAt, "later than now by more than the cut-off"));
    }
    // Nobody keeps an offer into the start.
    let latest = registration.due.iter().last().map(|(until, _, _)| until);
    if latest.is_some_and(|latest| latest > details.starts_at) {
        return Err(Refusal::invalid(Field::StartsAt, "not before the end of a living offer"));
    }
    Ok(match details == *registration.details {
        true => Decision::Outcome(Outcome::Unchanged),
        false => Decision::Fact(RegistrationFact::Changed(Box::new(details))),
    })
}

fn merged(old: &RegistrationDetails, change: &ChangeRegistration) -> RegistrationDetails {
    let mut details = old.clone();
    fn set<T: Clone>(into: &mut T, from: &Option<T>) {
        if let Some(from) = from {
            *into = from.clone();
        }
    }
    set(&mut details.name, &change.name);
    set(&mut details.description, &change.description);
    set(&mut details.opens_at, &change.opens_at);
    set(&mut details.starts_at, &change.starts_at);
    set(&mut details.cut_off_ms, &change.cut_off_ms);
    set(&mut details.price_minor, &change.price_minor);
    set(&mut details.checkout_ms, &change.checkout_ms);
    set(&mut details.ends_at, &change.ends_at);
    set(&mut details.event, &change.event);
    set(&mut details.venue, &change.venue);
    details
}

/// Nobody loses a place: what is confirmed or kept for somebody stays within the capacity.
pub(super) fn capacity(registration: &Registration, capacity: u32) -> Result<Decision, Refusal> {
    not_over(registration)?;
    if capacity < registration.taken() {
        return Err(Refusal::limit(Code::NotEnoughStock, capacity, registration.taken()));
    }
    Ok(match capacity == registration.capacity {
        true => Decision::Outcome(Outcome::Unchanged),
        false => Decision::Fact(RegistrationFact::CapacityChanged { capacity }),
    })
}

pub(super) fn close(registration: &Registration) -> Result<Decision, Refusal> {
    Ok(match registration.status {
        RegistrationStatus::Scheduled | RegistrationStatus::Open => by_staff(RegistrationStatus::Closed),
        RegistrationStatus::Closed | RegistrationStatus::Started => Decision::Outcome(Outcome::Unchanged),
        RegistrationStatus::Cancelled => return Err(Refusal::of(Code::RegistrationCancelled)),
    })
}

pub(super) fn cancel(registration: &Registration) -> Result<Decision, Refusal> {
    Ok(match registration.status {
        RegistrationStatus::Cancelled => Decision::Outcome(Outcome::Unchanged),
        RegistrationStatus::Started => return Err(Refusal::of(Code::RegistrationClosed)),
        RegistrationStatus::Scheduled | RegistrationStatus::Open | RegistrationStatus::Closed => {
            by_staff(RegistrationStatus::Cancelled)
        }
    })
}

fn by_staff(status: RegistrationStatus) -> Decision {
    Decision::Fact(RegistrationFact::StatusChanged { status, by_schedule: false })
}
