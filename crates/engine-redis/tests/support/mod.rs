//! What tests of the engine share: servers, scripts, and a counter under fire.
#![allow(dead_code, unused_imports, reason = "every test binary uses another part")]

pub mod counter;
pub mod facts;
pub mod lua;

pub use onsale_redis_servers::{
    Brand, Server, Setup, Six, Trio, certificates, cluster, eventually, sentinel, server,
};
