//! What tests of the engine share: servers, scripts, and a counter under fire.
#![allow(dead_code, unused_imports, reason = "every test binary uses another part")]

pub(crate) mod counter;
pub(crate) mod facts;
pub(crate) mod lua;

pub(crate) use onsale_redis_servers::{
    Brand, Server, Setup, Six, Trio, certificates, cluster, eventually, sentinel, server,
};
