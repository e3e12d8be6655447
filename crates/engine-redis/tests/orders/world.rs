//! A world of goods, and the orders that were placed for them.

use onsale_domain::order::OrderFact;
use onsale_domain::{BuyerId, Fact, Listing, ListingId, Millis, OrderId, PaymentId, Step};

use super::goods::Goods;
use crate::differential::chance::Chance;
use crate::differential::histories::{self, Ask, Course, SentCommands};
use crate::differential::tally::Reachable;

pub(crate) struct World<G> {
    pub goods: G,
    /// Whether the history is about one buyer who is declined again and again.
    pub stubborn: bool,
    pub orders: Vec<(OrderId, BuyerId)>,
    /// Payments that were asked for, and how much each was to bring.
    pub payments: Vec<(OrderId, PaymentId, i64)>,
    pub refunds: Vec<(OrderId, PaymentId, u16)>,
}

impl<G: Goods> histories::World for World<G> {
    const REACHABLE: Reachable = super::reachable::REACHABLE;
}

impl<G: Goods> Course for World<G> {
    fn of_seed(seed: u64) -> World<G> {
        let mut goods = G::of_seed(seed);
        let stubborn = goods.chance().one_in(8);
        World { goods, stubborn, orders: Vec::new(), payments: Vec::new(), refunds: Vec::new() }
    }

    fn chance(&mut self) -> &mut Chance {
        self.goods.chance()
    }

    fn now(&self) -> Millis {
        self.goods.now()
    }

    fn pass_time(&mut self) {
        // Whoever is declined twenty times is so within a quarter of an hour.
        if !self.stubborn || self.goods.chance().one_in(12) {
            self.goods.pass_time();
        }
    }

    fn fresh(&mut self) -> u64 {
        self.goods.fresh()
    }

    fn listing(&self) -> ListingId {
        self.goods.listing()
    }

    fn ask(&mut self, about: &Listing) -> Ask {
        World::ask(self, about)
    }

    fn asked(&mut self) -> &mut SentCommands {
        self.goods.asked()
    }

    fn learn(&mut self, step: &Step) {
        self.goods.learn(step);
        self.goods.learn_sold(step);
        for fact in &step.facts {
            let Fact::Order(fact) = fact else { continue };
            if let OrderFact::Placed(placed) = fact {
                self.orders.push((placed.order, placed.buyer.clone()));
            } else if let OrderFact::PaymentAsked { order, payment, amount_minor, .. } = fact {
                self.payments.push((*order, *payment, *amount_minor));
            } else if let OrderFact::RefundOwed { order, payment, refund, .. } = fact {
                self.refunds.push((*order, *payment, *refund));
            }
        }
    }
}
