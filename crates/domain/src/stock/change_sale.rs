//! Create and change a sale, end it before its time, or cancel it.

use super::Decision;
use super::command::{ChangeSale, CreateSale};
use super::details::{SaleDetails, SaleStatus, check_skus};
use super::fact::{SaleCreated, SaleFact};
use super::state::Sale;
use crate::field::Field;
use crate::outcome::Outcome;
use crate::refusal::{Code, Refusal};
use crate::time::{Millis, is_over};

impl Sale {
    /// The facts that create a sale, and open it if its hour has come.
    pub fn create(command: &CreateSale, now: Millis) -> Result<Vec<SaleFact>, Refusal> {
        command.details.check()?;
        check_skus(&[], &command.skus)?;
        if is_over(command.details.ends_at, now) {
            return Err(Refusal::invalid(Field::EndsAt, "in the future"));
        }
        let (details, skus) = (command.details.clone(), command.skus.clone());
        let mut facts = vec![SaleFact::Created(Box::new(SaleCreated { details, skus }))];
        if is_over(command.details.starts_at, now) {
            facts.push(SaleFact::StatusChanged { status: SaleStatus::Open, by_schedule: true });
        }
        Ok(facts)
    }

    /// The details after a change, if they keep every bound.
    pub fn changed(&self, command: &ChangeSale) -> Result<SaleDetails, Refusal> {
        let details = merged(&self.details, command);
        details.check().map(|()| details)
    }
}

/// Refuses what only a sale that is still to come or open may do.
pub(super) fn not_over(sale: &Sale) -> Result<(), Refusal> {
    match sale.status {
        SaleStatus::Scheduled | SaleStatus::Open => Ok(()),
        SaleStatus::Ended => Err(Refusal::of(Code::SaleClosed)),
        SaleStatus::Cancelled => Err(Refusal::of(Code::SaleCancelled)),
    }
}

pub(super) fn decide(sale: &Sale, command: &ChangeSale, now: Millis) -> Result<Decision, Refusal> {
    not_over(sale)?;
    let details = sale.changed(command)?;
    // Codes may live that were made in a sale which now would not have begun.
    if sale.status == SaleStatus::Open && details.starts_at != sale.details.starts_at {
        return Err(Refusal::of(Code::StatusConflict));
    }
    if details.ends_at != sale.details.ends_at && is_over(details.ends_at, now) {
        return Err(Refusal::invalid(Field::EndsAt, "in the future; to end the sale now, close it"));
    }
    Ok(match details == *sale.details {
        true => Decision::Outcome(Outcome::Unchanged),
        false => Decision::Fact(SaleFact::Changed(Box::new(details))),
    })
}

fn merged(old: &SaleDetails, change: &ChangeSale) -> SaleDetails {
    let mut details = old.clone();
    fn set<T: Clone>(into: &mut T, from: &Option<T>) {
        if let Some(from) = from {
            *into = from.clone();
        }
    }
    set(&mut details.name, &change.name);
    set(&mut details.description, &change.description);
    set(&mut details.starts_at, &change.starts_at);
    set(&mut details.ends_at, &change.ends_at);
    set(&mut details.rules.buyer_limit, &change.buyer_limit);
    set(&mut details.rules.checkout_ms, &change.checkout_ms);
    details
}

pub(super) fn close(sale: &Sale) -> Result<Decision, Refusal> {
    Ok(match sale.status {
        SaleStatus::Scheduled | SaleStatus::Open => by_staff(SaleStatus::Ended),
        SaleStatus::Ended => Decision::Outcome(Outcome::Unchanged),
        SaleStatus::Cancelled => return Err(Refusal::of(Code::SaleCancelled)),
    })
}

pub(super) fn cancel(sale: &Sale) -> Decision {
    match sale.status {
        SaleStatus::Cancelled => Decision::Outcome(Outcome::Unchanged),
        SaleStatus::Scheduled | SaleStatus::Open | SaleStatus::Ended => by_staff(SaleStatus::Cancelled),
    }
}

fn by_staff(status: SaleStatus) -> Decision {
    Decision::Fact(SaleFact::StatusChanged { status, by_schedule: false })
}
