//! Money that goes back. One rule, asked after every step: of each captured payment, all that no confirmed order keeps
//! is owed back, in the same step. And how captured money buys goods, or buys them back.

use super::command::{EntryKey, GoodsKey};
use super::fact::{Goods, OrderFact, RefundCause};
use super::state::{Order, OrderStatus, Payment};
use crate::auction::AuctionFact;
use crate::auction::command::{AuctionCommand, SettleAward};
use crate::command::{Command, Pick, PlaceHold};
use crate::fact::{AreaCount, Fact};
use crate::id::{BuyerId, HoldId, OrderId};
use crate::listing::{Body, Listing};
use crate::refusal::{Code, Refusal};
use crate::registration::RegistrationFact;
use crate::registration::command::{ConfirmEntry, Register, RegistrationCommand};
use crate::stock::command::{CheckoutKey, Purchase, SaleCommand, TakeBack};
use crate::stock::fact::SaleFact;
use crate::time::Millis;

/// Writes down what the facts of this step, those from `before` on, leave to be paid back.
pub(crate) fn owe(listing: &mut Listing, before: usize, now: Millis, facts: &mut Vec<Fact>) {
    let mut touched: Vec<OrderId> =
        facts[before..].iter().filter_map(|fact| moves_money(listing, fact)).collect();
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
fn moves_money(listing: &Listing, fact: &Fact) -> Option<OrderId> {
    if let Fact::Registration(RegistrationFact::EntryCancelled { entry, .. }) = fact {
        return listing.orders.as_deref()?.of_entry(*entry).map(|order| order.id);
    }
    if let Fact::OrderRefunded { order, .. }
    | Fact::Sale(SaleFact::Refunded { order, .. })
    | Fact::Auction(AuctionFact::AwardRefunded { order, .. })
    | Fact::Order(OrderFact::PaymentCaptured { order, .. }) = fact
    {
        return Some(*order);
    }
    None
}

fn owed(order: &Order, payment: &Payment) -> Option<OrderFact> {
    let amount_minor = order.owed_minor(payment);
    let why = match (order.paid_by == Some(payment.id), order.status) {
        (true, _) if order.returned_units > 0 || order.returned_minor > 0 => RefundCause::Returned,
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
                Body::Registration(registration) => registration.knows_order(order),
                Body::Nothing | Body::Venue(_) | Body::Series(_) | Body::Auction(_) | Body::Desk(_) => false,
            }
    }

    pub(super) fn not_cancelled(&self) -> Result<(), Refusal> {
        match &self.body {
            Body::Event(seats) => seats.not_cancelled(),
            Body::Sale(sale) => sale.not_cancelled(),
            Body::Registration(registration) => registration.not_cancelled(),
            // A closed auction is no longer cancelled, and an open one has no award.
            Body::Auction(_) => Ok(()),
            Body::Nothing | Body::Venue(_) | Body::Series(_) | Body::Desk(_) => {
                Err(Refusal::of(Code::WrongKind))
            }
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
            GoodsKey::Entry(EntryKey { entry, buyer }) => {
                let (entry, buyer, order) = (*entry, buyer.clone(), OrderId(0));
                let paying = ConfirmEntry { entry, buyer, order, settled: false };
                let command = RegistrationCommand::Confirm(paying);
                self.in_registration(now, facts, |registration, fence, facts| {
                    registration.expire_as_for(&command, now, fence, facts);
                });
            }
            GoodsKey::Award(_) if matches!(self.body, Body::Auction(_)) => {
                let closing = Command::Auction(AuctionCommand::CloseDue);
                let _ = self.nested(&closing, now, facts);
            }
            GoodsKey::Hold(_) | GoodsKey::Award(_) => {}
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
                let buyer = self.buyer_of(order)?;
                let key = CheckoutKey { checkout: *checkout, buyer };
                let command = SaleCommand::Purchase(Purchase { key, order, settled: true });
                self.nested(&Command::Sale(command), now, facts)?;
            }
            Goods::Award { .. } => {
                let command = SettleAward { bidder: self.buyer_of(order)?, order };
                self.nested(&Command::Auction(AuctionCommand::SettleAward(command)), now, facts)?;
            }
            Goods::Entry { entry, .. } => {
                let (entry, buyer) = (*entry, self.buyer_of(order)?);
                let command = ConfirmEntry { entry, buyer, order, settled: true };
                self.nested(&Command::Registration(RegistrationCommand::Confirm(command)), now, facts)?;
            }
        }
        Ok(())
    }

    fn buyer_of(&self, order: OrderId) -> Result<BuyerId, Refusal> {
        let order = self.orders.as_deref().and_then(|orders| orders.find(order));
        Ok(order.ok_or(Refusal::of(Code::OrderUnknown))?.buyer.clone())
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
            Goods::Award { price_minor, .. } => {
                let Body::Auction(auction) = &self.body else { return false };
                let free = auction.is_left_to(&order.buyer);
                if free {
                    let (bidder, price_minor, order) = (order.buyer.clone(), *price_minor, order.id);
                    let fact = AuctionFact::AwardSettled { bidder, price_minor, order };
                    self.apply_all([Fact::Auction(fact)], now, facts);
                }
                free
            }
            Goods::Entry { entry, price_minor, .. } => {
                let key = EntryKey { entry: *entry, buyer: order.buyer.clone() };
                // Whatever is over shall not be in the way.
                let anew = Register { entry: *entry, buyer: order.buyer.clone() };
                let command = RegistrationCommand::Register(anew);
                self.in_registration(now, facts, |registration, fence, facts| {
                    registration.expire_as_for(&command, now, fence, facts);
                });
                let Body::Registration(registration) = &self.body else { return false };
                let free = registration.has_room_for(&key);
                if free {
                    let (entry, buyer, order) = (key.entry, key.buyer, order.id);
                    let price_minor = *price_minor;
                    let kept = RegistrationFact::Reserved { entry, buyer, price_minor, until: now };
                    let bought = RegistrationFact::Confirmed { entry, order };
                    self.apply_all([kept, bought].map(Fact::Registration), now, facts);
                }
                free
            }
        }
    }
}
