//! Orders, kept by Lua: random histories of an event and of a sale whose holds and codes are ordered, paid, declined,
//! paid late, refunded and cancelled, on the domain and on Lua; and a desk, decided here and kept there.

mod differential;
#[path = "../../domain/tests/order/house.rs"]
#[expect(clippy::wildcard_enum_match_arm, reason = "a table tells only what it is about")]
mod house;
#[path = "support/lua.rs"]
mod lua;
#[path = "differential/on_lua.rs"]
mod on_lua;
#[path = "seats/server.rs"]
mod server;

mod desks {
    mod lease;
    mod world;
}

/// Where the goods come from: the worlds of the tests of seats and of sales.
mod seats {
    mod asks;
    pub mod world;
}

mod sales {
    mod asks;
    pub mod world;
}

mod orders {
    mod asks;
    mod differential;
    mod goods;
    mod reachable;
    mod tables;
    mod world;
}
