//! The rules of sales, series, registrations and auctions, kept by Lua: the same seeded histories on both engines.

mod differential;
#[path = "support/lua.rs"]
mod lua;
#[path = "differential/on_lua.rs"]
mod on_lua;
#[path = "seats/server.rs"]
mod server;

mod sales {
    mod asks;
    mod differential;
    mod reachable;
    mod world;
}

mod series {
    mod differential;
    mod reachable;
    mod world;
}

mod registrations {
    mod differential;
    mod reachable;
    mod world;
}

mod auctions {
    mod differential;
    mod limits;
    mod reachable;
    mod terms;
    mod world;
}
