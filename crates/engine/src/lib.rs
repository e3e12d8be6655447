//! The port of the engines, its contract suite, and the embedded engine with its journal.
//! Readable alone: `engine.rs`, the port.

pub mod agenda;
pub mod buyers;
pub mod calendar;
mod catch_up;
pub mod contract;
pub mod disk;
pub mod embedded;
pub mod engine;
pub mod journal;
pub mod log;
pub mod moved;
pub mod packed;
pub mod running;
pub mod snapshot;

pub use agenda::Agenda;
pub use calendar::Calendar;
pub use engine::{
    Answer, DamagedListing, Engine, EngineError, EngineStatus, FactPage, Follower, FoundAt, HeldAt, Position,
    Request, SharedStoreCounts, View,
};
pub use log::{Cursor, Log, LogPage};
pub use moved::{MovedListings, Movements};
pub use running::{ActiveSales, Running};
