//! The same seeded histories of an auction on the domain and on Lua.

use super::world::World;
use crate::differential::histories;
use crate::differential::tally::Reachable;
use crate::on_lua::compare_on_lua;

impl histories::World for World {
    const REACHABLE: Reachable = super::reachable::REACHABLE;

    fn is_plain(seed: u64) -> bool {
        !seed.is_multiple_of(3)
    }
}

#[test]
fn lua_holds_auctions_as_the_domain_does() {
    compare_on_lua::<World>("auctions", 100, 800);
}
