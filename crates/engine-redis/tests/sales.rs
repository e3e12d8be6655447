//! The rules of sales, kept by Lua: the same seeded histories on both engines.

mod differential;
#[path = "support/lua.rs"]
mod lua;
#[path = "seats/server.rs"]
mod server;

mod sales {
    mod asks;
    mod differential;
    mod reachable;
    mod world;
}
