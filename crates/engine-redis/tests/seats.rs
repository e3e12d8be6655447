//! The rules of seats, kept by Lua: the contract's tables, and the same seeded histories on both engines.

mod differential;
#[path = "support/lua.rs"]
mod lua;
#[path = "seats/server.rs"]
mod server;

mod seats {
    mod asks;
    mod differential;
    pub(crate) mod engine;
    mod large;
    mod moves;
    pub(crate) mod scripts;
    mod tables;
    mod world;
}
