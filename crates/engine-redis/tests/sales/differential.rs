//! The same seeded histories of a sale on the domain and on Lua.

use super::world::World;
use crate::differential::histories;
use crate::differential::tally::Reachable;
use crate::on_lua::compare_on_lua;

impl histories::World for World {
    const REACHABLE: Reachable = super::reachable::REACHABLE;
}

#[test]
fn lua_sells_as_the_domain_does() {
    compare_on_lua::<World>("sales", 80, 500);
}
