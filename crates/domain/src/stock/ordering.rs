//! What an order needs of a sale: the code it takes, more time for it, its purchase, and units taken back.

use super::Run;
use super::cancel_checkout::own_code;
use super::command::{CheckoutKey, OrderCheckout, Purchase, ReturnCheckout, SaleCommand, TakeBack};
use super::expire::ExpiryScope;
use super::fact::SaleFact;
use super::purchase::not_cancelled;
use super::state::Sale;
use crate::command::Command;
use crate::fact::Fact;
use crate::id::{CheckoutId, OrderId};
use crate::kind::Kind;
use crate::money::{Currency, Minor};
use crate::order::command::GoodsKey;
use crate::order::fact::OrderedGoods;
use crate::order::guard::new_id;
use crate::order::{BookedOrder, Goods, GoodsChange, OrderStatus, OrderSummary, Orders, TakeBackOutcome};
use crate::refusal::{Code, Detail, Refusal};
use crate::step_writer::StepWriter;
use crate::time::{Millis, is_over};

impl Goods for Sale {
    fn quote(&self, key: &GoodsKey, now: Millis) -> Result<(OrderedGoods, Currency), Refusal> {
        let GoodsKey::Checkout(key) = key else { return Err(Refusal::of(Code::WrongKind)) };
        not_cancelled(self)?;
        let code = &self.codes[own_code(self, key, now)?];
        let (checkout, lines, placed_at) = (code.id, code.lines().to_vec(), code.placed_at);
        Ok((OrderedGoods::Checkout { checkout, lines, placed_at }, self.details().currency))
    }

    /// Whoever took the code without the book has it.
    fn not_ordered(&self, goods: &OrderedGoods) -> Result<(), Refusal> {
        let OrderedGoods::Checkout { checkout, .. } = goods else { return Ok(()) };
        self.code_index(*checkout).map_or(Ok(()), |index| super::cancel_checkout::not_ordered(self, index))
    }

    fn until(&self, goods: &OrderedGoods) -> Option<Millis> {
        let OrderedGoods::Checkout { checkout, .. } = goods else { return None };
        self.code_index(*checkout).map(|index| self.codes[index].until)
    }

    fn not_cancelled(&self) -> Result<(), Refusal> {
        not_cancelled(self)
    }

    fn knows_order(&self, order: OrderId) -> bool {
        self.purchase_of_order(order).is_some()
    }

    fn direct(&self, order: OrderId) -> Option<BookedOrder> {
        let bought = &self.purchases[self.purchase_of_order(order)?];
        let is_gone = bought.units_left() == 0;
        let status = if is_gone { OrderStatus::Refunded } else { OrderStatus::Confirmed };
        let left: Minor = bought.left().map(|line| line.total_minor()).sum();
        let lines = bought.lines().to_vec();
        let returned_minor = lines.iter().map(|line| line.total_minor()).sum::<Minor>() - left;
        let goods = OrderedGoods::Checkout { checkout: bought.code, lines, placed_at: bought.at };
        let (who, currency) = ((order, self.buyers[bought.buyer].id()), self.details().currency);
        Some(BookedOrder::direct(who, bought.at, goods, currency, (status, returned_minor)))
    }

    fn buying(&self, after: u64) -> Vec<(u64, OrderId)> {
        let later = self.purchases.values().filter(|bought| bought.fence > after);
        later.map(|bought| (bought.fence, bought.order)).collect()
    }

    fn bought_by(&self, number: u64) -> Option<OrderId> {
        self.purchase_of_code(CheckoutId(number)).map(|bought| self.purchases[bought].order)
    }

    fn expire(&mut self, key: &GoodsKey, writer: &mut StepWriter<'_>) {
        let GoodsKey::Checkout(key) = key else { return };
        let mut run = Run { sale: self, now: writer.now, writer };
        run.follow_schedule();
        run.expire_touched(&ExpiryScope::code(key.checkout, Some(&key.buyer)));
    }

    /// A code says itself that it is taken; nothing is pinned before somebody pays.
    fn take(&mut self, ordered: OrderSummary<'_>, writer: &mut StepWriter<'_>) -> Result<(), Refusal> {
        let key = key_of(ordered)?;
        let taken = OrderCheckout { key, order: ordered.order, pay_until: 0 };
        self.execute(&SaleCommand::OrderCheckout(taken), writer).map(drop)
    }

    fn give_back(&mut self, ordered: OrderSummary<'_>, writer: &mut StepWriter<'_>) -> Result<(), Refusal> {
        let checkout = key_of(ordered)?.checkout;
        let returned = ReturnCheckout { checkout, order: ordered.order };
        self.execute(&SaleCommand::ReturnCheckout(returned), writer).map(drop)
    }

    fn pin(&mut self, goods: &OrderedGoods, until: Millis) {
        let OrderedGoods::Checkout { checkout, .. } = goods else {
            panic!("the goods of an order are its listing's")
        };
        let index = self.code_index(*checkout).expect("an order's code lives");
        self.reschedule(index, until);
    }

    fn confirm(&mut self, ordered: OrderSummary<'_>, writer: &mut StepWriter<'_>) -> Result<(), Refusal> {
        let purchase = Purchase { key: key_of(ordered)?, order: ordered.order, settled: true };
        self.execute(&SaleCommand::Purchase(purchase), writer).map(drop)
    }

    fn take_back(&mut self, ordered: OrderSummary<'_>, writer: &mut StepWriter<'_>) -> TakeBackOutcome {
        let (Ok(key), OrderedGoods::Checkout { lines, .. }) = (key_of(ordered), ordered.goods) else {
            return TakeBackOutcome::Gone;
        };
        let command = TakeBack { key, order: ordered.order, lines: lines.clone() };
        match self.execute(&SaleCommand::TakeBack(command), writer) {
            Ok(_) => TakeBackOutcome::Sold,
            Err(_) => TakeBackOutcome::Gone,
        }
    }

    /// A code in an order is bought, returned and taken back by the order alone.
    fn guard(&self, orders: &Orders, command: &Command, now: Millis) -> Result<Option<Fact>, Refusal> {
        let Command::Sale(command) = command else { return Ok(None) };
        let (checkout, key, order) = if let SaleCommand::Purchase(command) = command {
            (command.key.checkout, Some(&command.key), command.order)
        } else if let SaleCommand::OrderCheckout(command) = command {
            (command.key.checkout, Some(&command.key), command.order)
        } else if let SaleCommand::ReturnCheckout(command) = command {
            (command.checkout, None, command.order)
        } else if let SaleCommand::TakeBack(command) = command {
            (command.key.checkout, None, command.order)
        } else {
            return Ok(None);
        };
        if key.is_some_and(|key| !self.opens(key, now)) {
            return Ok(None);
        }
        if let Some(taken) = orders.of_goods(checkout.0) {
            return Err(Refusal { detail: Detail::Order(taken.id), ..Refusal::of(Code::CheckoutOrdered) });
        }
        new_id(orders, order).map(|()| None)
    }
}

impl Sale {
    /// Whether this key opens a code that is not over.
    fn opens(&self, key: &CheckoutKey, now: Millis) -> bool {
        own_code(self, key, now).is_ok_and(|index| !is_over(self.codes[index].until, now))
    }
}

fn key_of(ordered: OrderSummary<'_>) -> Result<CheckoutKey, Refusal> {
    let OrderedGoods::Checkout { checkout, .. } = ordered.goods else {
        return Err(Refusal::of(Code::WrongKind));
    };
    Ok(CheckoutKey { checkout: *checkout, buyer: ordered.buyer.clone() })
}

/// What a fact of a sale means for the order that has taken the code.
pub(super) fn goods_change(fact: &SaleFact) -> Option<GoodsChange> {
    if let SaleFact::CheckoutExpired { checkout } = fact {
        Some(GoodsChange::Gone { goods: checkout.0, status: OrderStatus::Expired })
    } else if let SaleFact::CheckoutCancelled { checkout, .. } | SaleFact::CheckoutReturned { checkout, .. } =
        fact
    {
        Some(GoodsChange::Gone { goods: checkout.0, status: OrderStatus::Cancelled })
    } else if let SaleFact::Purchased { order, .. } | SaleFact::TakenBack { order, .. } = fact {
        Some(GoodsChange::Sold { order: *order })
    } else if let SaleFact::Refunded { order, lines, amount_minor, .. } = fact {
        let units = lines.iter().map(|line| line.count).sum();
        Some(GoodsChange::Returned { order: *order, units, amount_minor: *amount_minor })
    } else {
        None
    }
}
