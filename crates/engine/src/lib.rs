//! The engine: who gets what, decided once and kept. This crate owns the bytes on disk.

pub mod disk;
pub mod journal;
pub mod snapshot;
