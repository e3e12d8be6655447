//! The rules of seats, kept by Lua: the contract's tables, and the same seeded histories on both engines.

#[path = "support/lua.rs"]
mod lua;

mod seats {
    mod asks;
    mod differential;
    pub mod engine;
    mod large;
    mod moves;
    mod reference;
    pub mod scripts;
    pub mod server;
    mod tables;
    mod tally;
    mod world;
}
