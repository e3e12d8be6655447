//! A registration's facts in the words of the entry book, and the book's word against the listing's own.

use onsale_domain::registration::details::RegistrationStatus;
use onsale_domain::registration::{Registration, RegistrationFact};

use super::books::{Books, VerifiedKind};
use super::money::Money;
use crate::cli::entry_book::Entry;

impl VerifiedKind for Registration {
    fn book(&self, books: &mut Books, fact: &RegistrationFact, at: i64) -> Result<(), String> {
        entry(fact, at).map_or(Ok(()), |entry| books.entries.take(at, entry))
    }

    fn move_money(money: &mut Money, fact: &RegistrationFact) -> Result<(), String> {
        if let RegistrationFact::Confirmed { entry, order } = fact {
            return money.place_sold(*entry, *order);
        }
        let RegistrationFact::EntryCancelled { entry, amount_minor, .. } = fact else { return Ok(()) };
        money.place_left(*entry, *amount_minor)
    }

    fn agrees(&self, books: &Books) -> Result<(), String> {
        let (view, totals) = (self.view(), books.entries.totals());
        let shown = [view.capacity, view.confirmed, view.offered, view.waiting].map(u64::from);
        let booked = [totals.capacity, totals.confirmed, totals.kept, totals.waiting];
        match shown == booked {
            true => Ok(()),
            false => {
                Err(format!("capacity, confirmed, kept, waiting are {shown:?}, but the facts say {booked:?}"))
            }
        }
    }
}

/// `None` for what changes nobody's place.
fn entry(fact: &RegistrationFact, at: i64) -> Option<Entry> {
    let name = |buyer: &onsale_domain::BuyerId| buyer.as_str().to_owned();
    Some(match fact {
        RegistrationFact::Created(created) => Entry::Capacity(u64::from(created.capacity)),
        RegistrationFact::Changed(_) => return None,
        RegistrationFact::StatusChanged { status, .. } => match status {
            RegistrationStatus::Started | RegistrationStatus::Cancelled => Entry::Over,
            RegistrationStatus::Open => Entry::Open(true),
            RegistrationStatus::Scheduled | RegistrationStatus::Closed => Entry::Open(false),
        },
        RegistrationFact::CapacityChanged { capacity } => Entry::Capacity(u64::from(*capacity)),
        RegistrationFact::Registered { entry, buyer } => {
            Entry::Confirmed { entry: entry.0, buyer: name(buyer) }
        }
        // Late money has a place that is over when it begins, for the one moment in which it is paid.
        RegistrationFact::Reserved { entry, buyer, until, .. } if *until <= at => {
            Entry::TakenBack { entry: entry.0, buyer: name(buyer) }
        }
        RegistrationFact::Reserved { entry, buyer, until, .. } => {
            Entry::Kept { entry: entry.0, buyer: name(buyer), until: *until }
        }
        RegistrationFact::Waitlisted { entry, buyer, ahead } => {
            Entry::Waits { entry: entry.0, buyer: name(buyer), ahead: u64::from(*ahead) }
        }
        RegistrationFact::Promoted { entry, .. } => Entry::Promoted { entry: entry.0 },
        RegistrationFact::Offered { entry, until, .. } => Entry::Offered { entry: entry.0, until: *until },
        RegistrationFact::OfferLapsed { entry, .. } => Entry::Lapsed { entry: entry.0 },
        RegistrationFact::Confirmed { entry, .. } => Entry::Paid { entry: entry.0 },
        RegistrationFact::EntryCancelled { entry, .. } => Entry::Left { entry: entry.0 },
    })
}
