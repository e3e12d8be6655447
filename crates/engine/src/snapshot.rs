//! Snapshots: the state at one place in the journal, so that a start need not read all of it.
//! The engine writes one now and then and asks for the latest at its start. Parts are opaque bytes.
//! A snapshot is only ever a shortcut: a damaged one is passed over, never repaired.

mod format;
mod read;
mod write;

pub use format::MAX_PART_BYTES;
pub use read::{Latest, NamedSnapshot, SkippedSnapshot, Snapshot, all, latest, positions};
pub use write::{SnapshotWriter, write};

use std::io;

/// How many whole snapshots stay: the newest, and one to fall back to.
pub const KEPT: usize = 2;

#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    #[error(
        "cannot {action} {file}: {source}; the journal is unaffected, check the disk and take another snapshot"
    )]
    Io { action: &'static str, file: String, source: io::Error },
    #[error("a snapshot part of {bytes} bytes exceeds the limit of {MAX_PART_BYTES}; write smaller parts")]
    PartTooLarge { bytes: usize },
    #[error(
        "{file} is damaged at byte {at}: {reason}; remove it and start again from an older one or the journal"
    )]
    Damaged { file: String, at: u64, reason: &'static str },
}

impl SnapshotError {
    fn io(action: &'static str, file: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let file = file.into();
        move |source| Self::Io { action, file, source }
    }
}

#[cfg(test)]
mod tests;
