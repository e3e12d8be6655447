//! What can go wrong with a journal, in words that say what to do next.

use std::io;

use super::frame::MAX_FRAME_BYTES;

#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    #[error("cannot {action} {file}: {source}; check the disk, then restart")]
    Io { action: &'static str, file: String, source: io::Error },
    #[error("the journal stopped after a failed write or sync; restart, which recovers what is durable")]
    Poisoned,
    #[error("a frame of {bytes} bytes exceeds the limit of {MAX_FRAME_BYTES}; write smaller batches")]
    FrameTooLarge { bytes: usize },
    #[error("a frame must not be empty; append at least one byte")]
    FrameEmpty,
    #[error(
        "no room for the next segment {file}: {reason}; nothing was written, free disk space and append again"
    )]
    NoRoom { file: String, reason: String },
    #[error(
        "{file} has format version {version}, this program reads {}; start the program that wrote it, or a newer one",
        super::segment::VERSION
    )]
    UnknownVersion { file: String, version: u32 },
    #[error(transparent)]
    Damaged(#[from] Damage),
}

impl JournalError {
    pub(super) fn io(action: &'static str, file: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let file = file.into();
        move |source| Self::Io { action, file, source }
    }
}

/// Bytes that were durable are gone or changed. Nothing was modified.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{file} is damaged at byte {at}{}: {reason}; \
     nothing was changed: run `onsale verify`, then restore the data folder from a backup",
    expected.map_or(String::new(), |sequence| format!(", where frame {sequence} was expected"))
)]
pub struct Damage {
    pub file: String,
    pub at: u64,
    /// The sequence of the frame that should be there; `None` where only a header was expected.
    pub expected: Option<u64>,
    pub reason: String,
}
