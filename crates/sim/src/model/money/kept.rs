//! Orders for what is kept for days: an auction's award, a place of a registration. Bought once, by its own order's money
//! or by somebody who may say so; lapsed, late money has it back or goes back, and never both.

use std::collections::BTreeMap;

use onsale_domain::registration::RegistrationFact;
use onsale_domain::registration::fact::EntryCancelCause;

use super::{BuyerId, Millis, MoneyBook, OrderId, OrderMoney};
use onsale_domain::order::fact::OrderedGoods;

/// What became of orders, by name: a run in which nothing lapses proves nothing about late money.
pub type Courses = BTreeMap<&'static str, u64>;

impl MoneyBook {
    /// A step begins: what came late before was judged then.
    pub(crate) fn begin(&mut self) {
        self.late.clear();
    }

    /// The goods of orders whose late money came in this step, was enough, and bought nothing.
    pub(crate) fn came_in_vain(&self) -> Vec<(&OrderedGoods, &BuyerId)> {
        let late = self.late.iter().filter_map(|(id, payment)| {
            let order = &self.orders[id];
            let came = order.payments[payment].captured.unwrap_or(0);
            (!order.sold && came >= order.total_minor()).then_some(&order.placed)
        });
        late.map(|placed| (&placed.goods, &placed.buyer)).collect()
    }

    pub(crate) fn take_registration(&mut self, fact: &RegistrationFact, now: Millis) {
        if let RegistrationFact::OfferLapsed { entry, .. } = fact {
            self.lapse(entry.0, now);
        } else if let RegistrationFact::Confirmed { entry, order } = fact {
            self.sell_kept(entry.0, *order);
            if self.orders.contains_key(order) {
                self.places.insert(*entry, *order);
            }
        } else if let RegistrationFact::EntryCancelled { entry, why, amount_minor, .. } = fact {
            self.end(entry.0, *why == EntryCancelCause::Buyer);
            if let Some(order) = self.places.remove(entry).filter(|_| *amount_minor > 0) {
                self.bring_back(order, 1, *amount_minor);
            }
        }
    }

    /// In time or late: the fact is the same.
    pub(super) fn sell_kept(&mut self, goods: u64, id: OrderId) {
        if !self.orders.get(&id).is_some_and(|order| order.lapsed) {
            return self.sell(goods, id);
        }
        assert!(!self.taken.contains_key(&goods), "late money buys what another order has");
        let order = self.order(id);
        assert!(!std::mem::replace(&mut order.sold, true), "{id:?} is sold twice");
    }

    /// What became of orders for awards and places.
    pub(crate) fn courses(&self) -> Courses {
        let mut courses = Courses::new();
        for order in self.orders.values() {
            let names: &[&str] = match &order.placed.goods {
                OrderedGoods::Hold { .. } | OrderedGoods::Checkout { .. } => continue,
                OrderedGoods::Award { .. } => &AWARD_COURSES,
                OrderedGoods::Entry { .. } => &PLACE_COURSES,
            };
            for (name, _) in names.iter().zip(order.courses()).filter(|(_, so)| *so) {
                *courses.entry(name).or_default() += 1;
            }
        }
        courses
    }
}

pub const AWARD_COURSES: [&str; 4] = ["award_paid", "award_lapsed", "award_taken_back", "award_paid_back"];
pub const PLACE_COURSES: [&str; 5] =
    ["place_paid", "place_lapsed", "place_taken_back", "place_paid_back", "place_returned"];

impl OrderMoney {
    /// Paid in time, lapsed, late and bought after all, late and paid back, returned.
    fn courses(&self) -> [bool; 5] {
        let came = self.payments.values().any(|came| came.captured.is_some());
        [
            self.sold && !self.lapsed && came,
            self.lapsed,
            self.lapsed && self.sold,
            self.lapsed && !self.sold && came,
            self.returned_units > 0 && came,
        ]
    }
}
