//! Money that goes back. One rule, asked after every step: of each captured payment, all that no confirmed order keeps
//! is owed back, in the same step. And how captured money buys goods, or buys them back.

use super::command::GoodsKey;
use super::fact::{Goods, OrderFact, RefundCause};
use super::state::{Order, OrderStatus, Payment};
use crate::command::{Command, Pick, PlaceHold};
use crate::fact::{AreaCount, Fact};
use crate::id::{HoldId, OrderId};
use crate::listing::{Body, Listing};
use crate::refusal::{Code, Refusal};
use crate::stock::command::{CheckoutKey, Purchase, SaleCommand, TakeBack};
use crate::stock::fact::SaleFact;
use crate::time::Millis;

/// Writes down what the facts of this step, those from `before` on, leave to be paid back.
pub(crate) fn owe(listing: &mut Listing, before: usize, now: Millis, facts: &mut Vec<Fact>) {
    let mut touched: Vec<OrderId> = facts[before..].iter().filter_map(moves_money).collect();
    touched.dedup();
    for id in touched {
        let order = listing.orders.as_deref().and_then(|orders| orders.find(id));
        let owed: Vec<_> = order.map_or(Vec::new(), |order| {
            order.payments.iter().filter_map(|payment| owed(order, payment)).collect()
        });
        listing.apply_all(owed.into_iter().map(Fact::Order), now, facts);
    }
}

/// The order whose money or goods this fact moves.
fn moves_money(fact: &Fact) -> Option<OrderId> {
    if let Fact::OrderRefunded { order, .. }
    | Fact::Sale(SaleFact::Refunded { order, .. })
    | Fact::Order(OrderFact::PaymentCaptured { order, .. }) = fact
    {
        return Some(*order);
    }
    None
}

fn owed(order: &Order, payment: &Payment) -> Option<OrderFact> {
    let amount_minor = order.owed_minor(payment);
    let why = match (order.paid_by == Some(payment.id), order.status) {
        (true, _) if order.returned_units > 0 => RefundCause::Returned,
        (true, _) => RefundCause::Amount,
        (false, OrderStatus::Confirmed | OrderStatus::Refunded) => RefundCause::Twice,
        (false, _) if payment.captured_minor.is_some_and(|captured| captured < payment.amount_minor) => {
            RefundCause::Amount
        }
        (false, _) => RefundCause::Late,
    };
    let refund = payment.refunds.len() as u16 + 1;
    (amount_minor > 0).then_some(OrderFact::RefundOwed {
        order: order.id,
        payment: payment.id,
        refund,
        amount_minor,
        why,
    })
}

impl Listing {
    pub(super) fn knows_order(&self, order: OrderId) -> bool {
        let booked = self.orders.as_deref().is_some_and(|orders| orders.knows(order));
        booked
            || match &self.body {
                Body::Event(seats) => seats.knows_order(order),
                Body::Sale(sale) => sale.knows_order(order),
                Body::Nothing
                | Body::Venue(_)
                | Body::Series(_)
                | Body::Registration(_)
                | Body::Auction(_)
                | Body::Desk(_) => false,
            }
    }

    pub(super) fn not_cancelled(&self) -> Result<(), Refusal> {
        match &self.body {
            Body::Event(seats) => seats.not_cancelled(),
            Body::Sale(sale) => sale.not_cancelled(),
            Body::Nothing
            | Body::Venue(_)
            | Body::Series(_)
            | Body::Registration(_)
            | Body::Auction(_)
            | Body::Desk(_) => Err(Refusal::of(Code::WrongKind)),
        }
    }

    /// Expires the hold or code, and whatever else a buyer's own command about it would.
    pub(super) fn expire_goods(&mut self, goods: &GoodsKey, now: Millis, facts: &mut Vec<Fact>) {
        match goods {
            GoodsKey::Hold(key) if self.seats().is_some() => {
                crate::seats::expire_as_for(self, &Command::ReleaseHold(key.clone()), now, facts);
            }
            GoodsKey::Checkout(key) => {
                let command = SaleCommand::CancelCheckout(key.clone());
                self.in_sale(now, facts, |sale, fence, facts| {
                    sale.expire_as_for(&command, now, fence, facts);
                });
            }
            GoodsKey::Hold(_) => {}
        }
    }

    /// The order's living goods are sold.
    pub(super) fn confirm_goods(
        &mut self,
        order: OrderId,
        goods: &Goods,
        now: Millis,
        facts: &mut Vec<Fact>,
    ) -> Result<(), Refusal> {
        self.not_cancelled()?;
        match goods {
            Goods::Hold { hold, .. } => crate::seats::confirm(self, *hold, order, now, facts),
            Goods::Checkout { checkout, .. } => {
                let buyer = self.orders.as_deref().and_then(|orders| orders.find(order));
                let buyer = buyer.ok_or(Refusal::of(Code::OrderUnknown))?.buyer.clone();
                let key = CheckoutKey { checkout: *checkout, buyer };
                let command = SaleCommand::Purchase(Purchase { key, order, settled: true });
                self.nested(&Command::Sale(command), now, facts)?;
            }
        }
        Ok(())
    }

    /// Late money: all of the order's goods are sold after all, or none.
    pub(super) fn take_goods_back(&mut self, order: &Order, now: Millis, facts: &mut Vec<Fact>) -> bool {
        if self.not_cancelled().is_err() {
            return false;
        }
        match &order.goods {
            Goods::Hold { seats, areas, .. } => {
                // Whatever is over on these seats shall not be in the way.
                let as_if = Command::PlaceHold(PlaceHold {
                    hold: HoldId(0),
                    buyer: order.buyer.clone(),
                    pick: Pick::Seats(seats.iter().map(|line| line.seat).collect()),
                    areas: areas
                        .iter()
                        .map(|line| AreaCount { area: line.area, count: line.count })
                        .collect(),
                    hold_ms: None,
                });
                crate::seats::expire_as_for(self, &as_if, now, facts);
                let free = self.seats().is_some_and(|all| all.are_free(seats, areas));
                if free {
                    let fact = OrderFact::SeatsTakenBack { order: order.id };
                    self.apply_all([Fact::Order(fact)], now, facts);
                }
                free
            }
            Goods::Checkout { checkout, lines, .. } => {
                let key = CheckoutKey { checkout: *checkout, buyer: order.buyer.clone() };
                let command = SaleCommand::TakeBack(TakeBack { key, order: order.id, lines: lines.clone() });
                self.nested(&Command::Sale(command), now, facts).is_ok()
            }
        }
    }
}
