//! Second opinions on one listing, kept from its facts alone. Each kind says what its facts mean for them and compares them
//! with itself at the end; `each_kind!` finds the right one.

use onsale_domain::desk::Desk;
use onsale_domain::listing::Body;
use onsale_domain::order::OrderFact;
use onsale_domain::order::fact::OrderedGoods;
use onsale_domain::series::Series;
use onsale_domain::venue::Venue;
use onsale_domain::{Fact, Kind, Listing, OrderId, each_kind};

use super::money::Money;
use crate::cli::bidding::Book;
use crate::cli::entry_book::{self, EntryBook};
use crate::cli::ledger::{Ledger, Line};
use crate::cli::stock_book::{self, StockBook};

/// The books of one listing; those of other kinds stay empty.
#[derive(Default)]
pub(super) struct Books {
    pub ledger: Ledger<u32, u16>,
    pub bids: Book,
    pub stock: StockBook<u16>,
    pub entries: EntryBook,
    pub money: Money,
}

/// A kind whose facts are counted a second time.
pub(super) trait VerifiedKind: Kind {
    /// Books a fact that this state has just taken in.
    fn book(&self, _books: &mut Books, _fact: &Self::Fact, _at: i64) -> Result<(), String> {
        Ok(())
    }

    /// What a fact means for orders and their money.
    fn move_money(_money: &mut Money, _fact: &Self::Fact) -> Result<(), String> {
        Ok(())
    }

    /// The state counts for itself; the books counted from the facts: both must say the same.
    fn agrees(&self, _books: &Books) -> Result<(), String> {
        Ok(())
    }
}

macro_rules! verified {
    ($($(#[$doc:meta])* $number:literal $Kind:ident $name:ident $prefix:literal $letter:literal $State:ty;)*) => {
        impl Books {
            /// Books a fact that the listing has just taken in.
            pub(super) fn take(&mut self, listing: &Listing, fact: &Fact, at: i64) -> Result<(), String> {
                self.money.take(fact)?;
                match fact {
                    $(Fact::$Kind(fact) => listing.$name().map_or(Ok(()), |state| state.book(self, fact, at)),)*
                    // What is in use is not deleted, so that no book has anything to lose.
                    Fact::Listing(_) => Ok(()),
                    Fact::Order(fact) => self.take_order(fact, at),
                }
            }

            pub(super) fn agree_with(&self, listing: &Listing) -> Result<(), String> {
                match &listing.body {
                    Body::Nothing => Ok(()),
                    $(Body::$Kind(state) => VerifiedKind::agrees(&**state, self),)*
                }
            }
        }

        impl Money {
            pub(super) fn take(&mut self, fact: &Fact) -> Result<(), String> {
                match fact {
                    $(Fact::$Kind(fact) => <$State as VerifiedKind>::move_money(self, fact),)*
                    Fact::Listing(_) => Ok(()),
                    Fact::Order(fact) => self.take_own(fact),
                }
            }
        }
    };
}

each_kind!(verified);

impl VerifiedKind for Venue {}
impl VerifiedKind for Series {}
impl VerifiedKind for Desk {}

impl Books {
    fn take_order(&mut self, fact: &OrderFact, at: i64) -> Result<(), String> {
        if let OrderFact::PaymentAsked { order, until, .. }
        | OrderFact::PaymentDeclined { order, until: Some(until), .. } = fact
        {
            return self.pinned(*order, *until, at);
        }
        if let OrderFact::SeatsTakenBack { order } = fact {
            return self.taken_back(*order);
        }
        Ok(())
    }

    /// A payment that is asked for, or was declined, gives the code or the place of its order more time.
    fn pinned(&mut self, order: OrderId, until: i64, at: i64) -> Result<(), String> {
        let placed = self.money.placed(order).ok_or_else(|| format!("order {order:?} was never placed"))?;
        match &placed.goods {
            OrderedGoods::Hold { .. } | OrderedGoods::Award { .. } => Ok(()),
            OrderedGoods::Entry { entry, .. } => {
                self.entries.take(at, entry_book::Entry::Until { entry: entry.0, until })
            }
            OrderedGoods::Checkout { checkout, .. } => {
                self.stock.take(at, stock_book::Entry::Until { code: checkout.0, until })
            }
        }
    }

    /// Late money: held and sold in the same moment, as the order was placed.
    fn taken_back(&mut self, order: OrderId) -> Result<(), String> {
        let placed = self.money.placed(order).ok_or_else(|| format!("order {order:?} was never placed"))?;
        let OrderedGoods::Hold { seats, areas, .. } = &placed.goods else {
            return Err(format!("order {order:?} has no seats to take back"));
        };
        let held = Line::Placed {
            hold: order.0,
            seats: seats.iter().map(|line| line.seat).collect(),
            areas: areas.iter().map(|line| (line.area, u64::from(line.count))).collect(),
        };
        self.ledger.take(held)?;
        self.ledger.take(Line::Confirmed { hold: order.0, order: order.0 })
    }
}
