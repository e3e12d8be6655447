//! The same seeded histories of a registration on the domain and on Lua.

use super::world::World;
use crate::differential::histories;
use crate::differential::tally::Reachable;
use crate::on_lua::compare_on_lua;

impl histories::World for World {
    const REACHABLE: Reachable = super::reachable::REACHABLE;
}

#[test]
fn lua_registers_as_the_domain_does() {
    compare_on_lua::<World>("registrations", 50, 400);
}
