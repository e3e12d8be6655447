//! Private Redis and Valkey servers for tests: on free ports, in folders of their own, ended by their process id.
//! A program that is missing fails the test and says how to get it; nothing is skipped. Never used by what ships.

pub mod certificates;
pub mod cluster;
pub mod sentinel;
pub mod server;

pub use cluster::Six;
pub use sentinel::Trio;
pub use server::{Brand, Server, Setup, eventually};
