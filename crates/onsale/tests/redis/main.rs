//! Real servers on real deployments of Redis: two of them under load while servers, masters and connections are lost.
//! Afterwards nothing was given away twice, and what Redis itself forgot is counted.

mod auctions;
mod bad_days;
mod bank;
mod buyers;
mod by;
mod check;
mod clocks;
mod damaged;
#[path = "../kill/dice.rs"]
mod dice;
#[path = "../it/document.rs"]
mod document;
mod first_start;
mod kept;
mod lost;
mod payments;
mod rounds;
mod same_key;
mod server;
mod takeover;
#[path = "../kill/wire.rs"]
mod wire;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The API key of every server here.
const KEY: &str = "redis-test-key";

/// One test at a time: each fills the machine by itself.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}
