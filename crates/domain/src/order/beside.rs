//! The book beside a listing's body: how an order's facts reach the goods, and the goods' facts the book.

use super::fact::{Goods, OrderFact};
use super::view::{OrdersFound, OrdersQuery};
use crate::fact::Fact;
use crate::listing::{Body, Listing, fence};
use crate::registration::Registration;
use crate::stock::Sale;
use crate::time::Millis;

impl Listing {
    /// Takes a fact of an order into the book, and into the goods that it pins or takes back.
    pub(crate) fn apply_order(&mut self, fact: &OrderFact, fence: u64, at: Millis) {
        let orders = self.orders.get_or_insert_default();
        if let Some((goods, until)) = orders.pinned_by(fact) {
            match (&mut self.body, goods) {
                (Body::Event(seats), Goods::Hold { hold, .. }) => seats.pin(*hold, until),
                (Body::Sale(sale), Goods::Checkout { checkout, .. }) => sale.pin(*checkout, until),
                (Body::Auction(auction), Goods::Award { .. }) => auction.pin(until),
                (Body::Registration(registration), Goods::Entry { entry, .. }) => {
                    registration.pin(*entry, until);
                }
                (
                    _,
                    Goods::Hold { .. } | Goods::Checkout { .. } | Goods::Award { .. } | Goods::Entry { .. },
                ) => {
                    panic!("the goods of an order are its listing's")
                }
            }
        }
        if let (OrderFact::SeatsTakenBack { order }, Body::Event(seats)) = (fact, &mut self.body)
            && let Some(order) = orders.find(*order)
            && let Goods::Hold { seats: lines, areas, .. } = &order.goods
        {
            seats.take_back(order.id, &order.buyer, (lines, areas), fence);
        }
        orders.apply(fact, fence, at);
    }

    /// Lets a sale write facts of its own, and counts them.
    pub(super) fn in_sale(
        &mut self,
        now: Millis,
        facts: &mut Vec<Fact>,
        act: impl FnOnce(&mut Sale, u64, &mut Vec<Fact>),
    ) {
        let (before, fence) = (facts.len(), fence(self.epoch, self.offset));
        if let Body::Sale(sale) = &mut self.body {
            act(sale, fence, facts);
        }
        self.count(before, now, facts);
    }

    /// The same for a registration.
    pub(super) fn in_registration(
        &mut self,
        now: Millis,
        facts: &mut Vec<Fact>,
        act: impl FnOnce(&mut Registration, u64, &mut Vec<Fact>),
    ) {
        let (before, fence) = (facts.len(), fence(self.epoch, self.offset));
        if let Body::Registration(registration) = &mut self.body {
            act(registration, fence, facts);
        }
        self.count(before, now, facts);
    }

    pub(crate) fn ask_orders(&self, query: &OrdersQuery) -> OrdersFound {
        match self.orders.as_deref() {
            Some(orders) => orders.ask(query, |goods| self.goods_until(goods)),
            None => match query {
                OrdersQuery::Order(_) => OrdersFound::Nothing,
                OrdersQuery::OrdersOf { .. } => OrdersFound::Orders(Vec::new()),
                OrdersQuery::WorkAfter { .. } => OrdersFound::Work(Vec::new()),
            },
        }
    }

    /// Whether the money of its orders adds up; see [`super::check_invariants`].
    pub(crate) fn check_orders(&self) -> Result<(), String> {
        let Some(orders) = self.orders.as_deref() else { return Ok(()) };
        super::check_invariants(orders, |goods| self.goods_until(goods))
    }
}
