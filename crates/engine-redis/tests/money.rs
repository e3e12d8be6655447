//! Orders, kept by Lua: random histories of an event, a sale, an auction and a registration whose holds, codes, awards and
//! places are ordered, paid, declined, paid late, refunded and cancelled, on the domain and on Lua; and a desk, decided
//! here and kept there.

mod differential;
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

/// Where the goods come from: the worlds of the tests of each kind of listing.
mod seats {
    mod asks;
    pub(crate) mod world;
}

mod sales {
    mod asks;
    pub(crate) mod world;
}

mod auctions {
    mod terms;
    pub(crate) mod world;
}

mod registrations {
    pub(crate) mod world;
}

mod orders {
    mod asks;
    mod differential;
    mod goods;
    mod reachable;
    mod world;
}
