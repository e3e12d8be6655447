//! The journal: an endless row of checksummed frames in preallocated segment files.
//! The engine appends, syncs and reads through it; payloads are opaque bytes here.
//! The format and the rules of recovery are drawn in `docs/journal-format.md`.

mod cut;
mod error;
pub mod frame;
mod prepare;
pub mod reader;
pub mod recovery;
mod scan;
pub mod segment;
mod window;
pub mod writer;

#[cfg(test)]
mod crash_tests;

pub use error::{Damage, JournalError};
pub use frame::{FrameBuffer, MAX_FRAME_BYTES};
pub use prepare::Room;
pub use reader::{Frame, Reader};
pub use recovery::{Inspection, OnFrame, OpenError, Report};
pub use writer::Writer;

/// Where a frame starts. As a cursor: where the frame of that sequence starts, or would start if
/// its segment has room for it; the reader and the recovery look into the next segment if not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FramePosition {
    pub segment: u64,
    pub at: u64,
    /// Frames are numbered from 1 without a gap, over all segments.
    pub sequence: u64,
}

impl FramePosition {
    /// Where the first frame of a journal is.
    pub const FIRST: Self = Self { segment: 1, at: segment::HEADER_BYTES, sequence: 1 };
}

#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How large a segment is made. A frame that does not fit gets a larger one.
    pub segment_bytes: u64,
    pub preparation: Preparation,
}

/// Who fills the next segment with zeroes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preparation {
    /// A thread of its own, as soon as the one before was taken into use.
    Background,
    /// The caller, in `Writer::prepare`, or at the latest when a frame needs the segment. One
    /// thread only, so that a simulation is the same for the same seed.
    OnRequest,
}

impl Default for Options {
    fn default() -> Self {
        // 64 MiB: filled in about a tenth of a second, and rare enough that rolling over costs nothing.
        Self { segment_bytes: 64 << 20, preparation: Preparation::Background }
    }
}
