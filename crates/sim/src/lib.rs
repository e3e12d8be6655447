//! The simulation: the embedded engine on one thread, with virtual time and a disk that fails, against a second,
//! simpler model of the rules. One seed is one history; two runs of it are the same to the last bit.

pub mod auditor;
pub mod client;
pub mod coverage;
pub mod faults;
pub mod model;
pub mod rng;
pub mod trace;
pub mod workload;
pub mod world;

pub use world::{Config, Failure, Run, run};
