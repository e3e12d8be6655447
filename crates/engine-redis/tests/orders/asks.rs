//! The next command of a history: about an order as often as about its goods.

use onsale_domain::listing::Key;
use onsale_domain::order::command::{
    EntryKey, GoodsKey, NotePayment, NoteRefund, OrderKey, PayOrder, PaymentResult, PlaceOrder,
};
use onsale_domain::order::fact::OrderedGoods as Booked;
use onsale_domain::order::{Fees, OrderCommand, OrderStatus, OrdersFound, OrdersQuery};
use onsale_domain::stock::command::CheckoutKey;
use onsale_domain::{CheckoutId, Command, Listing, Millis, OrderId, PaymentId};
use onsale_domain::{Found, Query};

use super::goods::Goods;
use super::world::World;
use crate::differential::histories::Ask;

impl<G: Goods> World<G> {
    pub(crate) fn ask(&mut self, about: &Listing) -> Ask {
        // Now and then it is the very instant at which something is over.
        let of_goods = !about.exists() || self.goods.chance().one_in(if self.stubborn { 4 } else { 2 });
        if of_goods {
            return self.goods.ask(about);
        }
        self.goods.hurry(about);
        let command = Command::Order(self.command(about));
        let fingerprint = u128::from(self.goods.chance().next()) << 1;
        let key =
            self.goods.chance().one_in(3).then(|| Key { scope: self.goods.fresh().into(), fingerprint });
        let mut listing = self.goods.listing();
        if self.goods.chance().one_in(30) {
            let elsewhere = self.goods.elsewhere();
            listing = elsewhere[self.goods.chance().below(2) as usize];
        }
        Ask { listing, command, key }
    }

    fn command(&mut self, about: &Listing) -> OrderCommand {
        if self.stubborn
            && let Some(command) = self.once_more(about)
        {
            return command;
        }
        if G::IS_KEPT
            && self.goods.chance().one_in(3)
            && let Some(command) = self.and_again(about)
        {
            return command;
        }
        match self.goods.chance().below(100) {
            0..=32 => self.place(about),
            33..=59 => self.pay(),
            60..=66 => OrderCommand::Cancel(self.order_key()),
            67..=92 => self.note_payment(),
            _ => self.note_refund(),
        }
    }

    /// The latest living order is paid, and declined, and paid.
    fn once_more(&mut self, about: &Listing) -> Option<OrderCommand> {
        let (order, buyer) = self.orders.last().cloned()?;
        let found = about.ask(&Query::Orders(OrdersQuery::Order(order)), self.goods.now());
        let Found::Orders(OrdersFound::Order(booked)) = found else { return None };
        match booked.status.as_str() {
            "pending" => Some(self.pay_for(OrderKey { order, buyer }, false)),
            "paying" => {
                let payment = booked.payments.last()?.payment;
                let result = PaymentResult::Declined { reason: "no, %s | again".into() };
                Some(OrderCommand::NotePayment(NotePayment { order, payment, result }))
            }
            _ => None,
        }
    }

    /// What is kept for days is paid, declined, cancelled and ordered again, and paid when it is over.
    fn and_again(&mut self, about: &Listing) -> Option<OrderCommand> {
        let (order, buyer) = self.goods.chance().recent(&self.orders, 3).cloned()?;
        let found = about.ask(&Query::Orders(OrdersQuery::Order(order)), self.goods.now());
        let Found::Orders(OrdersFound::Order(booked)) = found else { return None };
        let latest = booked.payments.last().map(|payment| (payment.payment, payment.amount_minor));
        let captured = |amount_minor| PaymentResult::Captured { amount_minor, reference: "late".into() };
        match (booked.status, latest) {
            (OrderStatus::Pending, None) => Some(self.pay_for(OrderKey { order, buyer }, false)),
            (OrderStatus::Pending, Some(_)) => Some(OrderCommand::Cancel(OrderKey { order, buyer })),
            (OrderStatus::Paying, Some((payment, _))) => {
                let result = PaymentResult::Declined { reason: "not yet".into() };
                Some(OrderCommand::NotePayment(NotePayment { order, payment, result }))
            }
            (OrderStatus::Expired, Some((payment, amount))) => {
                let result = captured(amount);
                Some(OrderCommand::NotePayment(NotePayment { order, payment, result }))
            }
            (OrderStatus::Cancelled, _) => {
                let goods = match &booked.goods {
                    Booked::Award { .. } => GoodsKey::Award(buyer),
                    Booked::Entry { entry, .. } => GoodsKey::Entry(EntryKey { entry: *entry, buyer }),
                    Booked::Hold { .. } | Booked::Checkout { .. } => return None,
                };
                let order = if self.goods.chance().one_in(5) { order } else { OrderId(self.goods.fresh()) };
                Some(OrderCommand::Place(PlaceOrder { order, goods, fees: Fees::default() }))
            }
            (OrderStatus::Paying | OrderStatus::Expired, None)
            | (OrderStatus::Confirmed | OrderStatus::Refunded, _) => None,
        }
    }

    fn place(&mut self, about: &Listing) -> OrderCommand {
        let mut goods = match self.goods.goods(about) {
            Some(goods) => goods,
            None => {
                let buyer = self.goods.buyer();
                GoodsKey::Checkout(CheckoutKey { checkout: CheckoutId(self.goods.fresh()), buyer })
            }
        };
        if self.goods.chance().one_in(20) {
            let other = self.goods.buyer();
            match &mut goods {
                GoodsKey::Hold(key) => key.buyer = other,
                GoodsKey::Checkout(key) => key.buyer = other,
                GoodsKey::Award(bidder) => *bidder = other,
                GoodsKey::Entry(key) => key.buyer = other,
            }
        }
        let known = self.goods.chance().recent(&self.orders, 9).map(|(order, _)| *order);
        let known = known.filter(|_| self.goods.chance().one_in(10));
        let order = known.unwrap_or_else(|| OrderId(self.goods.fresh()));
        let fees = match self.goods.chance().below(16) {
            0 => Fees { per_order_minor: -1, ..Fees::default() },
            1 => Fees { share: 10_001, ..Fees::default() },
            2 => Fees { per_unit_minor: 1_000_000_000_000, ..Fees::default() },
            3..=6 => Fees::default(),
            _ => {
                let chance = self.goods.chance();
                Fees {
                    per_order_minor: chance.below(300) as i64,
                    per_unit_minor: chance.below(50) as i64,
                    share: [0, 1, 250, 333, 9_999, 10_000][chance.below(6) as usize],
                }
            }
        };
        OrderCommand::Place(PlaceOrder { order, goods, fees })
    }

    /// An order that was placed once, mostly a recent one; now and then another's, or nobody's.
    fn order_key(&mut self) -> OrderKey {
        let known = self.goods.chance().recent(&self.orders, 7).cloned();
        let (mut order, mut buyer) = known.unwrap_or_else(|| (OrderId(7), self.goods.buyer()));
        if self.goods.chance().one_in(20) {
            buyer = self.goods.buyer();
        }
        if self.goods.chance().one_in(24) {
            order = OrderId(self.goods.fresh());
        }
        OrderKey { order, buyer }
    }

    fn pay(&mut self) -> OrderCommand {
        let (key, settled) = (self.order_key(), self.goods.chance().one_in(7));
        self.pay_for(key, settled)
    }

    fn pay_for(&mut self, key: OrderKey, settled: bool) -> OrderCommand {
        let known = self.payments.iter().rev().find(|(order, ..)| *order == key.order).map(|known| known.1);
        let known = known.filter(|_| self.goods.chance().one_in(12));
        let payment = known.unwrap_or_else(|| PaymentId(self.goods.fresh()));
        let now = self.goods.now();
        let pay_until = match self.goods.chance().below(20) {
            0 => -1,
            1 => now - 1,
            n => now + n as Millis * 60_000,
        };
        let method = match self.goods.chance().below(5) {
            0 => Some("a\tb".to_owned()),
            1 => Some(String::new()),
            2 => Some("pm_|1|%s é=".to_owned()),
            _ => None,
        };
        let method = method.filter(|method| !method.contains('\t') || self.goods.chance().one_in(5));
        OrderCommand::Pay(PayOrder { key, payment, pay_until, method, settled })
    }

    fn note_payment(&mut self) -> OrderCommand {
        let known = self.goods.chance().recent(&self.payments, 6).cloned();
        let (mut order, mut payment, amount) = known.unwrap_or((OrderId(7), PaymentId(7), 1));
        match self.goods.chance().below(40) {
            0 => order = OrderId(self.goods.fresh()),
            1 => payment = PaymentId(self.goods.fresh()),
            _ => {}
        }
        let amount_minor = match self.goods.chance().below(16) {
            0 => 0,
            1 => amount - 1,
            2 => amount + 1,
            _ => amount,
        };
        let reference = if self.goods.chance().one_in(24) { "a\nb" } else { "pi_|%d é" }.to_owned();
        let reason = if self.goods.chance().one_in(24) { "" } else { "no | money %s" }.to_owned();
        let result = match self.goods.chance().below(5) {
            0 | 1 => PaymentResult::Declined { reason },
            _ => PaymentResult::Captured { amount_minor, reference },
        };
        OrderCommand::NotePayment(NotePayment { order, payment, result })
    }

    fn note_refund(&mut self) -> OrderCommand {
        let known = self.goods.chance().recent(&self.refunds, 6).copied();
        let (mut order, mut payment, mut refund) = known.unwrap_or((OrderId(7), PaymentId(7), 1));
        match self.goods.chance().below(20) {
            0 => order = OrderId(self.goods.fresh()),
            1 => payment = PaymentId(self.goods.fresh()),
            2 => refund = 0,
            3 => refund += 1,
            _ => {}
        }
        OrderCommand::NoteRefund(NoteRefund { order, payment, refund })
    }
}
