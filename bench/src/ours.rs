//! What we measure of ourselves: the engine in process, its memory, its recovery, and the server over HTTP.

pub(crate) mod bidding;
pub(crate) mod cost;
pub(crate) mod engine;
pub(crate) mod fight;
pub(crate) mod hall;
pub(crate) mod http;
pub(crate) mod idle;
pub(crate) mod market;
pub(crate) mod memory;
pub(crate) mod on_redis;
pub(crate) mod recovery;
pub(crate) mod stages;
