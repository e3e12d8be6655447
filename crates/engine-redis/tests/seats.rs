//! The rules of seats, kept by Lua: the contract's tables, and the same seeded histories on both engines.

mod seats {
    pub mod engine;
    pub mod scripts;
    pub mod server;
    mod tables;
}
