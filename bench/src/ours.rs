//! What we measure of ourselves: the engine in process, its memory, its recovery, and the server over HTTP.

pub mod bidding;
pub mod cost;
pub mod engine;
pub mod fight;
pub mod hall;
pub mod http;
pub mod idle;
pub mod market;
pub mod memory;
pub mod on_redis;
pub mod recovery;
pub mod stages;
