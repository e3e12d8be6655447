//! Private PostgreSQL clusters for tests: on a Unix socket in a folder of their own, ended by their process id.
//! A program that is missing fails the test and says how to get it; nothing is skipped. Never used by what ships.

mod cluster;
mod owner;
mod template;
mod tls;

pub use cluster::{Cluster, Database};
