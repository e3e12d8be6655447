//! Sales, series, registrations, auctions, desks and events with orders: decided by a second copy of the domain that was never written to a disk nor read
//! from one. What the rules say is compared with a naive reading of them in the domain's own tests; here it is what
//! crashes, snapshots and retries make of them. Each fact is held against the promises of its kind besides.

use onsale_domain::{Command, Fact, Listing, ListingId, ListingKind, Millis, Outcome};

use onsale_domain::event::EventStatus;
use onsale_domain::listing::Body;
use onsale_domain::registration::details::RegistrationStatus;
use onsale_domain::series::SeriesStatus;
use onsale_domain::stock::details::SaleStatus;

use super::money::{Courses, MoneyBook, Moved};
use super::promises::Promises;

/// Events above this number have orders, and no model of their own.
const PAID: u128 = 1 << 100;

#[derive(Clone, Debug)]
pub struct Other {
    pub listing: Listing,
    promises: Promises,
    money: MoneyBook,
}

/// The number of an event with orders.
pub fn paid_number(number: u128) -> u128 {
    number | PAID
}

pub fn is_paid_event(id: ListingId) -> bool {
    id.kind == ListingKind::Event && id.number >= PAID
}

impl Other {
    /// Nothing yet of a listing of such a kind; `None` for the kinds that have a model of their own.
    pub fn begin(id: ListingId) -> Option<Other> {
        match id.kind {
            ListingKind::Venue => None,
            ListingKind::Event if !is_paid_event(id) => None,
            ListingKind::Event
            | ListingKind::Sale
            | ListingKind::Series
            | ListingKind::Registration
            | ListingKind::Auction
            | ListingKind::Desk => {
                let (promises, money) = (Promises::default(), MoneyBook::default());
                Some(Other { listing: Listing::new(id, 1), promises, money })
            }
        }
    }

    /// Not over yet: there is something to be had.
    pub fn goes_on(&self) -> bool {
        match &self.listing.body {
            Body::Sale(sale) => matches!(sale.status(), SaleStatus::Scheduled | SaleStatus::Open),
            Body::Registration(registration) => {
                matches!(registration.view().status, RegistrationStatus::Scheduled | RegistrationStatus::Open)
            }
            Body::Series(series) => series.status() != SeriesStatus::Ended,
            Body::Auction(auction) => auction.next_due().is_some(),
            Body::Event(seats) => seats.status() == EventStatus::OnSale,
            Body::Nothing | Body::Venue(_) | Body::Desk(_) => false,
        }
    }

    /// Where the money of its orders is, by the book.
    pub fn moved(&self) -> Moved {
        self.money.moved()
    }

    /// What became of its orders for awards and places.
    pub fn courses(&self) -> Courses {
        self.money.courses()
    }

    /// Whether an award or a place is kept for somebody whose time is over.
    pub fn is_overdue(&self, now: Millis) -> bool {
        self.promises.are_overdue(now)
    }

    pub fn execute(&mut self, command: &Command, now: Millis) -> (Vec<Fact>, Outcome) {
        let mut facts = Vec::new();
        let outcome = self.listing.execute(command, now, &mut facts);
        self.money.begin();
        facts.iter().for_each(|fact| self.take(fact, now));
        self.money.check();
        self.promises.check();
        for (goods, buyer) in self.money.came_in_vain() {
            assert!(!self.promises.are_left_to(goods, buyer), "{goods:?} is free, and late money goes back");
        }
        (facts, outcome)
    }

    pub fn apply(&mut self, fact: &Fact, at: Millis) {
        self.listing.apply(fact, at);
        self.take(fact, at);
    }

    fn take(&mut self, fact: &Fact, at: Millis) {
        self.promises.take(fact, at);
        self.money.take(fact, at);
    }
}
