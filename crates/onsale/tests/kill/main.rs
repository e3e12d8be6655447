//! The real binary on bad days: killed under load, started twice, damaged, interrupted, crowded.
//! `ONSALE_BIN` names another binary to test, such as the packaged one.

mod bad_days;
mod buyers;
mod dice;
#[path = "../it/document.rs"]
mod document;
mod recovered;
mod rounds;
mod server;
mod wire;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The API key of every server here.
const KEY: &str = "kill-test-key";

/// One test at a time: each fills the machine by itself, and their times shall mean something.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}
