//! The next command of a history: mostly one that may work, often one that must not.

use onsale_domain::layout::{Layout, Row, Seat, Section};
use onsale_domain::listing::Key;
use onsale_domain::stock::command::{
    ChangeSale, Checkout, CheckoutKey, OrderCheckout, Purchase, RefundPurchase, ReturnCheckout, TakeBack,
};
use onsale_domain::stock::fact::{SkuCount, SkuLine};
use onsale_domain::stock::{SaleCommand, SaleFound, SaleQuery};
use onsale_domain::venue::VenueCommand;
use onsale_domain::venue::command::CreateVenue;
use onsale_domain::{CheckoutId, Command, Listing, ListingId, Millis, OrderId};

use super::world::World;
use crate::differential::histories::{Ask, asked_before};

impl World {
    /// Moves the clock: mostly by moments, sometimes far enough for everything to be over, now and then backwards.
    pub(crate) fn pass_time(&mut self) {
        self.now += match self.chance.below(400) {
            0..=59 => 20 * self.chance.below(100) as Millis,
            60..=75 => 16_000,
            76..=81 => 45_000,
            82..=84 => 155_000,
            85 => 910_000,
            86 if self.chance.one_in(3) => 3_700_000,
            87 => -5_000,
            88 if self.chance.one_in(40) => 90_000_000,
            _ => 0,
        };
    }

    pub(crate) fn ask(&mut self, sale: &Listing) -> Ask {
        self.told += 1;
        // Now and then it is the very instant at which something is over.
        if let Some(due) = sale.next_due().filter(|due| (self.now..self.now + 4_000_000).contains(due))
            && self.chance.one_in(30)
        {
            self.now = due;
        }
        // The same question again, under the same key or a changed one.
        if self.chance.one_in(9)
            && let Some((key, listing, mut command)) = asked_before(&self.asked, &mut self.chance)
        {
            let twisted = self.chance.one_in(2);
            if let Command::Sale(SaleCommand::Checkout(checkout)) = &mut command
                && twisted
            {
                // Another wish under the same key is mostly another code.
                checkout.checkout = CheckoutId(self.fresh());
            }
            let fingerprint = key.fingerprint ^ u128::from(twisted);
            return Ask { listing, command, key: Some(Key { fingerprint, ..key }) };
        }
        let listing = self.listing();
        let command = match listing == self.sale {
            true if !sale.exists() && !self.chance.one_in(3) => self.create_sale(),
            true => self.command(sale),
            false if self.chance.one_in(4) => self.create_venue(),
            false => self.any_verb(sale),
        };
        let key = (!matches!(command, Command::ExpireDue { .. }) && self.chance.one_in(3))
            .then(|| Key { scope: self.fresh().into(), fingerprint: u128::from(self.chance.next()) << 1 });
        Ask { listing, command, key }
    }

    fn listing(&mut self) -> ListingId {
        match self.chance.one_in(if self.elsewhere { 2 } else { 60 }) {
            false => self.sale,
            true if self.chance.one_in(2) => self.venue,
            true => self.nowhere,
        }
    }

    fn create_sale(&mut self) -> Command {
        let mut create = self.create();
        match self.chance.below(9) {
            0 => create.details.name.clear(),
            1 => create.skus[1].id = create.skus[0].id.clone(),
            2 => create.details.ends_at = self.now,
            _ => {}
        }
        Command::Sale(SaleCommand::Create(Box::new(create)))
    }

    fn create_venue(&mut self) -> Command {
        let seat = Seat { id: "1".into(), label: "1".into(), ..Seat::default() };
        let rows = vec![Row { label: "r".into(), seats: vec![seat] }];
        let layout = Layout { sections: vec![Section { name: "s".into(), rows }], areas: Vec::new() };
        Command::Venue(VenueCommand::CreateVenue(Box::new(CreateVenue {
            name: "h".into(),
            place: "p".into(),
            layout: layout.into(),
        })))
    }

    /// One of every verb, as often as any other.
    fn any_verb(&mut self, sale: &Listing) -> Command {
        let choice = self.chance.below(16);
        match choice {
            0 => self.create_sale(),
            1 => self.checkout(),
            2 => self.purchase(),
            3 => self.cancel_checkout(),
            4 => self.order_checkout(),
            5 => self.return_checkout(sale),
            6 => self.take_back(),
            7 => self.refund(),
            8..=14 => self.staff(choice - 8),
            _ => Command::ExpireDue { limit: 5 },
        }
    }

    fn command(&mut self, sale: &Listing) -> Command {
        if self.cancels && self.told > 200 && self.chance.one_in(20) {
            return Command::Sale(SaleCommand::Cancel);
        }
        match self.chance.below(100) {
            0..=33 => self.checkout(),
            34..=46 => self.purchase(),
            47..=53 => self.cancel_checkout(),
            54..=62 => self.order_checkout(),
            63..=69 => self.return_checkout(sale),
            70..=75 => self.take_back(),
            76..=80 => self.refund(),
            81..=91 => {
                let choice = self.chance.below(7);
                // The end of a sale is the end of its history.
                let last = matches!(choice, 5 | 6) && !self.chance.one_in(30);
                self.staff(if last { 0 } else { choice })
            }
            92 => self.create_sale(),
            93 => self.create_venue(),
            _ => Command::ExpireDue { limit: [1, 2, 64][self.chance.below(3) as usize] },
        }
    }

    fn checkout(&mut self) -> Command {
        let count = if self.chance.one_in(4) { self.chance.below(4) } else { 1 };
        let lines = (0..count).map(|_| self.line()).collect();
        let reused = self.chance.one_in(24).then(|| self.chance.recent(&self.codes, 9).map(|(id, ..)| *id));
        let checkout = reused.flatten().unwrap_or_else(|| CheckoutId(self.fresh()));
        let checkout_ms = match self.chance.below(40) {
            0 => Some(1),
            1..=9 => Some(30_000),
            _ => None,
        };
        let buyer = self.buyer();
        Command::Sale(SaleCommand::Checkout(Checkout { checkout, buyer, lines, checkout_ms }))
    }

    /// A code that was given once, mostly a recent one; now and then in the wrong hands, or nobody's.
    fn code(&mut self) -> (CheckoutKey, Vec<SkuLine>) {
        let (mut checkout, mut buyer, mut lines) = match self.chance.recent(&self.codes, 8).cloned() {
            Some(known) => known,
            None => (CheckoutId(7), self.buyer(), Vec::new()),
        };
        if self.chance.one_in(16) {
            buyer = self.buyer();
        }
        if self.chance.one_in(24) {
            (checkout, lines) = (CheckoutId(self.fresh()), Vec::new());
        }
        (CheckoutKey { checkout, buyer }, lines)
    }

    fn order(&mut self, code: CheckoutId) -> OrderId {
        let of_code = self.orders.iter().rev().find(|(_, of)| *of == code).map(|(order, _)| *order);
        let known = match self.chance.below(6) {
            0 => self.chance.recent(&self.orders, 9).map(|(order, _)| *order),
            1 | 2 => None,
            _ => of_code,
        };
        let order = known.unwrap_or_else(|| OrderId(self.fresh()));
        self.orders.push((order, code));
        order
    }

    fn purchase(&mut self) -> Command {
        let (key, settled) = (self.code().0, !self.chance.one_in(3));
        let order = self.order(key.checkout);
        Command::Sale(SaleCommand::Purchase(Purchase { key, order, settled }))
    }

    fn cancel_checkout(&mut self) -> Command {
        Command::Sale(SaleCommand::CancelCheckout(self.code().0))
    }

    fn order_checkout(&mut self) -> Command {
        let key = self.code().0;
        let order = self.order(key.checkout);
        let pay_until = self.now + self.chance.below(12) as Millis * 100_000;
        let pay_until = if self.chance.one_in(20) { -1 } else { pay_until };
        Command::Sale(SaleCommand::OrderCheckout(OrderCheckout { key, order, pay_until }))
    }

    /// Mostly of a code that an order has taken.
    fn return_checkout(&mut self, sale: &Listing) -> Command {
        let taken = self.orders.iter().rev().take(20).copied().find(|(order, code)| {
            let found = sale.sale().map(|sale| sale.ask(&SaleQuery::Checkout(*code), self.now));
            matches!(found, Some(SaleFound::Checkout(state)) if state.order == Some(*order))
        });
        let (order, checkout) = match taken.filter(|_| self.chance.one_in(2)) {
            Some(taken) => taken,
            None => {
                let checkout = self.code().0.checkout;
                (self.order(checkout), checkout)
            }
        };
        Command::Sale(SaleCommand::ReturnCheckout(ReturnCheckout { checkout, order }))
    }

    fn take_back(&mut self) -> Command {
        let (key, mut lines) = self.code();
        if lines.is_empty() || self.chance.one_in(6) {
            let SkuCount { sku, count } = self.line();
            lines.push(SkuLine { sku, count, price_minor: 7 });
        }
        let order = self.order(key.checkout);
        Command::Sale(SaleCommand::TakeBack(TakeBack { key, order, lines }))
    }

    fn refund(&mut self) -> Command {
        let order = self.chance.recent(&self.orders, 20).map(|(order, _)| *order);
        let order = order.filter(|_| !self.chance.one_in(12)).unwrap_or(OrderId(9));
        let lines = if self.chance.one_in(2) { Vec::new() } else { vec![self.line()] };
        let reason = if self.chance.one_in(16) { "" } else { "broken | {x}" }.to_owned();
        let restock = self.chance.one_in(2);
        Command::Sale(SaleCommand::Refund(RefundPurchase { order, lines, restock, reason }))
    }

    /// What staff does; the last two end the sale.
    fn staff(&mut self, choice: u64) -> Command {
        let mut line = self.line();
        if self.chance.one_in(16) {
            line.count = if self.chance.one_in(2) { 10_000_000 } else { 0 };
        }
        Command::Sale(match choice {
            0 => SaleCommand::AddStock(line),
            1 => SaleCommand::WithdrawStock(line),
            2 => SaleCommand::ChangePrice {
                sku: line.sku,
                price_minor: if self.chance.one_in(8) { -1 } else { self.price() },
            },
            3 => {
                let ids = ["A b", "D", "", "E\u{1f600}", "F"];
                let id = ids[self.chance.below(ids.len() as u64) as usize];
                SaleCommand::AddSku(Box::new(self.sku(id)))
            }
            4 => self.change(),
            5 => SaleCommand::Close,
            _ => SaleCommand::Cancel,
        })
    }

    fn change(&mut self) -> SaleCommand {
        let nothing = ChangeSale::default();
        SaleCommand::Change(Box::new(match self.chance.below(8) {
            0 => ChangeSale { starts_at: Some(self.now + 30_000), ..nothing },
            1 => ChangeSale { ends_at: Some(self.now - 1), starts_at: Some(self.now - 9_000), ..nothing },
            2 => ChangeSale { ends_at: Some(self.now - 1), ..nothing },
            3 => ChangeSale { ends_at: Some(self.now + 9_000_000), ..nothing },
            4 => ChangeSale { name: Some(String::new()), ..nothing },
            5 => ChangeSale { checkout_ms: Some(40_000 + self.chance.below(9) as Millis), ..nothing },
            6 => ChangeSale { buyer_limit: Some(1 + self.chance.below(9) as u32), ..nothing },
            _ => nothing,
        }))
    }
}
