//! The port of the engines, its contract suite, and the embedded engine.

pub mod contract;
pub mod engine;

pub use engine::{
    Answer, Engine, EngineError, EngineStatus, FactPage, Follower, HeldAt, Position, Request, View,
};
