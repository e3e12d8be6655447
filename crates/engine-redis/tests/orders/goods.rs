//! What the worlds whose goods are ordered have in common.

use onsale_domain::order::OrderFact;
use onsale_domain::order::command::{EntryKey, GoodsKey};
use onsale_domain::registration::RegistrationFact;
use onsale_domain::seats::command::HoldKey;
use onsale_domain::stock::SaleFact;
use onsale_domain::stock::command::CheckoutKey;
use onsale_domain::{BuyerId, Fact, Listing, ListingId, ListingKind, Step};

use crate::differential::histories::Course;
use crate::{auctions, registrations, sales, seats};

/// A world that has goods to order.
pub(crate) trait Goods: Course {
    const NAME: &'static str;
    /// Whether goods live for days, and may be ordered again and again.
    const IS_KEPT: bool = false;
    /// A listing of another kind, and one that does not exist.
    fn elsewhere(&self) -> [ListingId; 2];
    fn buyer(&mut self) -> BuyerId;
    /// Something that was given once, mostly a recent thing, and whose it is.
    fn goods(&mut self, about: &Listing) -> Option<GoodsKey>;
    /// Lets time pass until there are goods, where they take long to come, and takes time for them.
    fn hurry(&mut self, _about: &Listing) {}
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

    fn goods(&mut self, _about: &Listing) -> Option<GoodsKey> {
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

    fn goods(&mut self, _about: &Listing) -> Option<GoodsKey> {
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

impl Goods for auctions::world::World {
    const NAME: &'static str = "awards";
    const IS_KEPT: bool = true;

    fn elsewhere(&self) -> [ListingId; 2] {
        [ListingId { kind: ListingKind::Venue, ..self.nowhere }, self.nowhere]
    }

    fn buyer(&mut self) -> BuyerId {
        Self::buyer(self)
    }

    fn goods(&mut self, about: &Listing) -> Option<GoodsKey> {
        let closed = about.auction().and_then(|auction| auction.view().closed)?;
        let line = self.chance.recent(&closed.awards, 2)?;
        Some(GoodsKey::Award(line.award.bidder.clone()))
    }

    /// Nothing is won before the end.
    fn hurry(&mut self, about: &Listing) {
        self.patience = 30;
        let led = about.auction().is_some_and(|auction| {
            let view = auction.view();
            view.closed.is_none() && view.leader.is_some()
        });
        if let Some(end) = about.next_due().filter(|end| led && *end > self.now)
            && self.chance.one_in(6)
        {
            self.now = end;
        }
        // Whoever pays in the last minutes is waited for.
        let end = about.next_due().filter(|end| !led && (self.now + 800_000..).contains(end));
        if let Some(end) = end.filter(|_| self.chance.one_in(20)) {
            self.now = end - 300_000;
        }
    }

    fn learn_sold(&mut self, step: &Step) {
        for fact in &step.facts {
            if let Fact::Order(OrderFact::Placed(placed)) = fact {
                self.orders.push(placed.order);
            }
        }
    }
}

impl Goods for registrations::world::World {
    const NAME: &'static str = "entries";
    const IS_KEPT: bool = true;

    fn elsewhere(&self) -> [ListingId; 2] {
        [ListingId { kind: ListingKind::Venue, ..self.nowhere }, self.nowhere]
    }

    fn buyer(&mut self) -> BuyerId {
        Self::buyer(self)
    }

    fn goods(&mut self, _about: &Listing) -> Option<GoodsKey> {
        let (entry, buyer) = self.chance.recent(&self.entries, 6).cloned()?;
        Some(GoodsKey::Entry(EntryKey { entry, buyer }))
    }

    fn learn_sold(&mut self, step: &Step) {
        for fact in &step.facts {
            if let Fact::Registration(RegistrationFact::Confirmed { order, .. }) = fact {
                self.orders.push(*order);
            } else if let Fact::Order(OrderFact::Placed(placed)) = fact {
                self.orders.push(placed.order);
            }
        }
    }
}
