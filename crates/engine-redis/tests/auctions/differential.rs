//! The same seeded histories of an auction on the domain and on Lua.

use onsale_domain::{Listing, ListingId, Millis, Step};

use super::world::World;
use crate::differential::chance::Chance;
use crate::differential::histories::{self, Ask, Asked};
use crate::differential::tally::Reachable;
use crate::on_lua::compare_on_lua;

impl histories::World for World {
    const REACHABLE: Reachable = super::reachable::REACHABLE;

    fn of_seed(seed: u64) -> World {
        World::new(seed)
    }

    fn is_plain(seed: u64) -> bool {
        !seed.is_multiple_of(4)
    }

    fn chance(&mut self) -> &mut Chance {
        &mut self.chance
    }

    fn now(&self) -> Millis {
        self.now
    }

    fn pass_time(&mut self) {
        World::pass_time(self);
    }

    fn fresh(&mut self) -> u128 {
        World::fresh(self)
    }

    fn listing(&self) -> ListingId {
        self.auction
    }

    fn ask(&mut self, about: &Listing) -> Ask {
        World::ask(self, about)
    }

    fn asked(&mut self) -> &mut Asked {
        &mut self.asked
    }

    fn learn(&mut self, step: &Step) {
        World::learn(self, step);
    }
}

#[test]
fn lua_holds_auctions_as_the_domain_does() {
    compare_on_lua::<World>("auctions", 100, 800);
}
