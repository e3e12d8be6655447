//! What the two worlds whose goods are ordered have in common.

use onsale_domain::command::HoldKey;
use onsale_domain::order::OrderFact;
use onsale_domain::order::command::GoodsKey;
use onsale_domain::stock::SaleFact;
use onsale_domain::stock::command::CheckoutKey;
use onsale_domain::{BuyerId, Fact, Listing, ListingId, Millis, Step};

use crate::differential::chance::Chance;
use crate::differential::histories::{Ask, Asked};
use crate::{sales, seats};

/// A world that has goods to order.
pub trait Goods: Send + Sync + 'static {
    const NAME: &'static str;
    fn of_seed(seed: u64) -> Self;
    fn chance(&mut self) -> &mut Chance;
    fn now(&self) -> Millis;
    fn pass_time(&mut self);
    fn fresh(&mut self) -> u128;
    fn listing(&self) -> ListingId;
    /// A listing of another kind, and one that does not exist.
    fn elsewhere(&self) -> [ListingId; 2];
    fn ask(&mut self, about: &Listing) -> Ask;
    fn asked(&mut self) -> &mut Asked;
    fn buyer(&mut self) -> BuyerId;
    /// A hold or code that was given once, mostly a recent one, and whose it is.
    fn goods(&mut self) -> Option<GoodsKey>;
    fn learn(&mut self, step: &Step);
}

impl Goods for seats::world::World {
    const NAME: &'static str = "holds";

    fn of_seed(seed: u64) -> Self {
        Self::new(seed)
    }

    fn chance(&mut self) -> &mut Chance {
        &mut self.chance
    }

    fn now(&self) -> Millis {
        self.now
    }

    fn pass_time(&mut self) {
        Self::pass_time(self);
    }

    fn fresh(&mut self) -> u128 {
        Self::fresh(self)
    }

    fn listing(&self) -> ListingId {
        self.event
    }

    fn elsewhere(&self) -> [ListingId; 2] {
        [self.venue, self.nowhere]
    }

    fn ask(&mut self, about: &Listing) -> Ask {
        Self::ask(self, about)
    }

    fn asked(&mut self) -> &mut Asked {
        &mut self.asked
    }

    fn buyer(&mut self) -> BuyerId {
        Self::buyer(self)
    }

    fn goods(&mut self) -> Option<GoodsKey> {
        let (hold, fence, buyer) = self.chance.recent(&self.holds, 6).cloned()?;
        let fence = if self.chance.one_in(24) { fence + 1 } else { fence };
        Some(GoodsKey::Hold(HoldKey { hold, fence, buyer }))
    }

    fn learn(&mut self, step: &Step) {
        Self::learn(self, step);
        for fact in &step.facts {
            if let Fact::Order(OrderFact::SeatsTakenBack { order }) = fact {
                self.orders.push((*order, Vec::new()));
            }
        }
    }
}

impl Goods for sales::world::World {
    const NAME: &'static str = "codes";

    fn of_seed(seed: u64) -> Self {
        Self::new(seed)
    }

    fn chance(&mut self) -> &mut Chance {
        &mut self.chance
    }

    fn now(&self) -> Millis {
        self.now
    }

    fn pass_time(&mut self) {
        Self::pass_time(self);
    }

    fn fresh(&mut self) -> u128 {
        Self::fresh(self)
    }

    fn listing(&self) -> ListingId {
        self.sale
    }

    fn elsewhere(&self) -> [ListingId; 2] {
        [self.venue, self.nowhere]
    }

    fn ask(&mut self, about: &Listing) -> Ask {
        Self::ask(self, about)
    }

    fn asked(&mut self) -> &mut Asked {
        &mut self.asked
    }

    fn buyer(&mut self) -> BuyerId {
        Self::buyer(self)
    }

    fn goods(&mut self) -> Option<GoodsKey> {
        let (checkout, buyer, _) = self.chance.recent(&self.codes, 6).cloned()?;
        Some(GoodsKey::Checkout(CheckoutKey { checkout, buyer }))
    }

    fn learn(&mut self, step: &Step) {
        Self::learn(self, step);
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
