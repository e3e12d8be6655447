//! What the binary `onsale` is made of: configuration, wiring, and one file per command of its command line.

pub mod app;
pub mod cli;
pub mod clockwork;
pub mod config;
pub mod first_key;
pub mod logs;
pub mod secrets;
