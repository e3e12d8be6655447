//! The edge of the house: HTTP routes over the engine's port, and what the binary `onsale` is made of.
//! Ids, labels and secrets are translated here; nothing here decides who gets what.

pub mod app;
pub mod cli;
pub mod clockwork;
pub mod config;
pub mod http;
pub mod idempotency;
pub mod listen;
pub mod logs;
pub mod metrics;
pub mod provider;
pub mod secrets;
pub mod token;
pub mod zone;
