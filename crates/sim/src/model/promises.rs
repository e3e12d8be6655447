//! What each kind promises, asserted of every fact: counted from the facts alone, by lists and sums. A kind brings its
//! book along, and `each_kind!` finds it; kinds that promise nothing are at the end.

mod entries;
mod sales;

use std::fmt::Debug;

use onsale_domain::desk::{Desk, DeskFact};
use onsale_domain::listing::Body;
use onsale_domain::order::fact::OrderedGoods;
use onsale_domain::series::{Series, SeriesStatus};
use onsale_domain::venue::Venue;
use onsale_domain::{BuyerId, Fact, Kind, Millis, each_kind};

use super::money::MoneyBook;

/// What the simulation knows of a kind besides its rules.
pub(super) trait ModelledKind: Kind {
    /// Not over yet: there is something to be had.
    fn goes_on(&self) -> bool {
        false
    }

    /// The book of promises that a listing's first fact opens.
    fn open_book(_first: &Self::Fact) -> Option<Box<dyn Book>> {
        None
    }

    /// What a fact means for orders and their money. Panics if it breaks a promise.
    fn move_money(_money: &mut MoneyBook, _fact: &Self::Fact, _now: Millis) {}
}

/// The promises of one listing.
pub trait Book: Debug {
    /// Panics if the fact, the listing's own or an order's, breaks a promise.
    fn take(&mut self, fact: &Fact, now: Millis);

    /// At the end of a step nothing is left half done.
    fn check(&self) {}

    /// Whether an award or a place that its buyer lost for not paying in time is still there for the buyer.
    fn is_left_to(&self, _goods: &OrderedGoods, _buyer: &BuyerId) -> bool {
        false
    }

    /// Whether an award or a place is kept for somebody whose time is over.
    fn is_overdue(&self, _now: Millis) -> bool {
        false
    }

    fn boxed(&self) -> Box<dyn Book>;
}

impl Clone for Box<dyn Book> {
    fn clone(&self) -> Box<dyn Book> {
        (**self).boxed()
    }
}

macro_rules! modelled {
    ($($(#[$doc:meta])* $number:literal $Kind:ident $name:ident $prefix:literal $letter:literal $State:ty;)*) => {
        pub(super) fn goes_on(body: &Body) -> bool {
            match body {
                Body::Nothing => false,
                $(Body::$Kind(state) => <$State as ModelledKind>::goes_on(state),)*
            }
        }

        pub(super) fn open_book(first: &Fact) -> Option<Box<dyn Book>> {
            match first {
                $(Fact::$Kind(first) => <$State as ModelledKind>::open_book(first),)*
                Fact::Listing(_) | Fact::Order(_) => None,
            }
        }

        pub(super) fn move_money(money: &mut MoneyBook, fact: &Fact, now: Millis) {
            match fact {
                $(Fact::$Kind(fact) => <$State as ModelledKind>::move_money(money, fact, now),)*
                Fact::Listing(_) => {}
                Fact::Order(fact) => money.take_own(fact),
            }
        }
    };
}

each_kind!(modelled);

impl ModelledKind for Venue {}

impl ModelledKind for Series {
    fn goes_on(&self) -> bool {
        self.status() != SeriesStatus::Ended
    }
}

impl ModelledKind for Desk {
    fn move_money(money: &mut MoneyBook, fact: &DeskFact, now: Millis) {
        money.desk.take(fact, now);
    }
}
