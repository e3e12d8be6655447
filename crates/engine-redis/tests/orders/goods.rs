//! What the two worlds whose goods are ordered have in common.

use onsale_domain::command::HoldKey;
use onsale_domain::order::OrderFact;
use onsale_domain::order::command::GoodsKey;
use onsale_domain::stock::SaleFact;
use onsale_domain::stock::command::CheckoutKey;
use onsale_domain::{BuyerId, Fact, ListingId, Step};

use crate::differential::histories::Course;
use crate::{sales, seats};

/// A world that has goods to order.
pub trait Goods: Course {
    const NAME: &'static str;
    /// A listing of another kind, and one that does not exist.
    fn elsewhere(&self) -> [ListingId; 2];
    fn buyer(&mut self) -> BuyerId;
    /// A hold or code that was given once, mostly a recent one, and whose it is.
    fn goods(&mut self) -> Option<GoodsKey>;
    /// Goods may be sold by an order's own facts, too.
    fn learn_sold(&mut self, step: &Step);
}

impl Goods for seats::world::World {
    const NAME: &'static str = "holds";

    fn elsewhere(&self) -> [ListingId; 2] {
        [self.venue, self.nowhere]
    }

    fn buyer(&mut self) -> BuyerId {
        Self::buyer(self)
    }

    fn goods(&mut self) -> Option<GoodsKey> {
        let (hold, fence, buyer) = self.chance.recent(&self.holds, 6).cloned()?;
        let fence = if self.chance.one_in(24) { fence + 1 } else { fence };
        Some(GoodsKey::Hold(HoldKey { hold, fence, buyer }))
    }

    fn learn_sold(&mut self, step: &Step) {
        for fact in &step.facts {
            if let Fact::Order(OrderFact::SeatsTakenBack { order }) = fact {
                self.orders.push((*order, Vec::new()));
            }
        }
    }
}

impl Goods for sales::world::World {
    const NAME: &'static str = "codes";

    fn elsewhere(&self) -> [ListingId; 2] {
        [self.venue, self.nowhere]
    }

    fn buyer(&mut self) -> BuyerId {
        Self::buyer(self)
    }

    fn goods(&mut self) -> Option<GoodsKey> {
        let (checkout, buyer, _) = self.chance.recent(&self.codes, 6).cloned()?;
        Some(GoodsKey::Checkout(CheckoutKey { checkout, buyer }))
    }

    fn learn_sold(&mut self, step: &Step) {
        for fact in &step.facts {
            if let Fact::Sale(
                SaleFact::Purchased { checkout, order } | SaleFact::TakenBack { checkout, order, .. },
            ) = fact
            {
                self.orders.push((*order, *checkout));
            }
        }
    }
}
