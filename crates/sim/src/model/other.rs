//! Sales, series, registrations, auctions, desks and events with orders: decided by a second copy of the domain that was never written to a disk nor read
//! from one. What the rules say is compared with a naive reading of them in the domain's own tests; here it is what
//! crashes, snapshots and retries make of them. Each fact is held against the promises of its kind besides.

use onsale_domain::{Command, Fact, Listing, ListingId, ListingKind, Millis, Outcome};

use super::money::{Courses, MoneyBook, MoneyTotals};
use super::promises::{Book, goes_on, move_money, open_book};

/// Events above this number have orders, and no model of their own.
const PAID: u64 = 1 << 50;

#[derive(Clone, Debug)]
pub struct Other {
    pub listing: Listing,
    promises: Option<Box<dyn Book>>,
    money: MoneyBook,
}

/// The number of an event with orders.
pub fn paid_number(number: u64) -> u64 {
    number | PAID
}

pub fn is_paid_event(id: ListingId) -> bool {
    id.kind == ListingKind::Event && id.number >= PAID
}

impl Other {
    /// Nothing yet of a listing of such a kind; `None` for the kinds that have a model of their own.
    pub fn begin(id: ListingId) -> Option<Other> {
        let is_modelled =
            id.kind == ListingKind::Venue || (id.kind == ListingKind::Event && !is_paid_event(id));
        let listing = Listing::new(id, 1);
        (!is_modelled).then(|| Other { listing, promises: None, money: MoneyBook::default() })
    }

    /// Not over yet: there is something to be had.
    pub fn goes_on(&self) -> bool {
        goes_on(&self.listing.body)
    }

    /// Where the money of its orders is, by the book.
    pub fn moved(&self) -> MoneyTotals {
        self.money.moved()
    }

    /// What became of its orders for awards and places.
    pub fn courses(&self) -> Courses {
        self.money.courses()
    }

    /// Whether an award or a place is kept for somebody whose time is over.
    pub fn is_overdue(&self, now: Millis) -> bool {
        self.promises.as_ref().is_some_and(|book| book.is_overdue(now))
    }

    pub fn execute(&mut self, command: &Command, now: Millis) -> (Vec<Fact>, Outcome) {
        let mut facts = Vec::new();
        let outcome = self.listing.execute(command, now, &mut facts);
        self.money.begin();
        facts.iter().for_each(|fact| self.take(fact, now));
        self.money.check();
        if let Some(book) = &self.promises {
            book.check();
            for (goods, buyer) in self.money.came_in_vain() {
                assert!(!book.is_left_to(goods, buyer), "{goods:?} is free, and late money goes back");
            }
        }
        (facts, outcome)
    }

    pub fn apply(&mut self, fact: &Fact, at: Millis) {
        self.listing.apply(fact, at);
        self.take(fact, at);
    }

    fn take(&mut self, fact: &Fact, at: Millis) {
        match &mut self.promises {
            Some(book) => book.take(fact, at),
            None => self.promises = open_book(fact),
        }
        move_money(&mut self.money, fact, at);
    }
}
