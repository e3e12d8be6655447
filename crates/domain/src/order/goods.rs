//! What an order can pay for: something of a listing that its buyer has for a while. Each kind that sells implements
//! [`Goods`] in its own `ordering.rs`; the book of orders knows no kind.

use super::command::GoodsKey;
use super::fact::OrderedGoods;
use super::state::{OrderStatus, Orders};
use super::view::BookedOrder;
use crate::command::Command;
use crate::fact::Fact;
use crate::id::{BuyerId, EntryId, OrderId};
use crate::money::{Currency, Minor};
use crate::refusal::Refusal;
use crate::step_writer::StepWriter;
use crate::time::Millis;

/// The goods of one listing, for its orders.
pub trait Goods {
    /// What this key has, as an order takes it.
    fn quote(&self, key: &GoodsKey, now: Millis) -> Result<(OrderedGoods, Currency), Refusal>;

    /// Whether goods that the book knows nothing of were taken all the same.
    fn not_ordered(&self, _goods: &OrderedGoods) -> Result<(), Refusal> {
        Ok(())
    }

    /// When a living order's goods are over.
    fn until(&self, goods: &OrderedGoods) -> Option<Millis>;

    /// Until when goods are kept for a payment that is waited for until `pinned`.
    fn pinned_until(&self, goods: &OrderedGoods, pinned: Millis) -> Millis {
        self.until(goods).unwrap_or(pinned).max(pinned)
    }

    fn not_cancelled(&self) -> Result<(), Refusal>;

    /// Whether an order of this id bought something without the book.
    fn knows_order(&self, order: OrderId) -> bool;

    /// What an order of this id bought without the book.
    fn direct(&self, _order: OrderId) -> Option<BookedOrder> {
        None
    }

    /// Orders that bought something, with the fences of the facts that made them, from behind a fence on: those of the book among them,
    /// in no order.
    fn buying(&self, _after: u64) -> Vec<(u64, OrderId)> {
        Vec::new()
    }

    /// Which order bought the goods of this number without the book.
    fn bought_by(&self, _number: u64) -> Option<OrderId> {
        None
    }

    /// Expires the goods, and whatever else their buyer's own command about them would.
    fn expire(&mut self, key: &GoodsKey, writer: &mut StepWriter<'_>);

    /// The goods say themselves that an order has taken them, where they do.
    fn take(&mut self, _ordered: OrderSummary<'_>, _tail: &mut StepWriter<'_>) -> Result<(), Refusal> {
        Ok(())
    }

    /// The order was cancelled: the goods are their buyer's again.
    fn give_back(&mut self, _ordered: OrderSummary<'_>, _tail: &mut StepWriter<'_>) -> Result<(), Refusal> {
        Ok(())
    }

    /// More time: a payment is waited for.
    fn pin(&mut self, goods: &OrderedGoods, until: Millis);

    /// The order's living goods are sold.
    fn confirm(&mut self, ordered: OrderSummary<'_>, writer: &mut StepWriter<'_>) -> Result<(), Refusal>;

    /// Late money: all of the order's goods are sold after all, or none.
    fn take_back(&mut self, ordered: OrderSummary<'_>, writer: &mut StepWriter<'_>) -> TakeBackOutcome;

    /// Takes the order's own fact of having taken them back into the goods.
    fn apply_taken_back(&mut self, _ordered: OrderSummary<'_>, _fence: u64, _at: Millis) {}

    /// What an order has taken is nobody else's to change: asked before a command of the goods is decided. A fact: the
    /// book has decided the command itself.
    fn guard(&self, orders: &Orders, command: &Command, now: Millis) -> Result<Option<Fact>, Refusal>;
}

/// An order as its goods see it.
#[derive(Clone, Copy, Debug)]
pub struct OrderSummary<'a> {
    pub order: OrderId,
    pub buyer: &'a BuyerId,
    pub goods: &'a OrderedGoods,
}

/// What came of taking goods back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TakeBackOutcome {
    Gone,
    /// The goods have said so.
    Sold,
    /// They are free; the order's own fact says it and takes them.
    Free,
}

/// What a fact of the goods means for the order that has taken or bought them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoodsChange {
    /// They are no longer the order's, which ends so.
    Gone {
        goods: u64,
        status: OrderStatus,
    },
    Sold {
        order: OrderId,
    },
    /// So many came back, for so much of their price.
    Returned {
        order: OrderId,
        units: u32,
        amount_minor: Minor,
    },
    /// A place was given up: unpaid, or paid and so much of its price with it.
    EntryGivenUp {
        entry: EntryId,
        amount_minor: Minor,
    },
}
