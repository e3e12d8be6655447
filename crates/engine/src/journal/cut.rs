//! The mark that recovery leaves where it cuts a torn tail off: the only way in which a segment becomes short.
//! A short file without it has lost its end, and with it answers that were given.

use std::io;

use super::{FramePosition, frame::Header};
use crate::disk::DiskFile;

/// A frame's header without a frame; none fits behind the place it stands at.
pub(super) const BYTES: u64 = super::frame::HEADER_BYTES as u64;
/// No frame is so long, so nobody takes the mark for one.
const MARK: u32 = u32::MAX;

/// Shortens the file behind its last good frame. The mark comes first: whenever the power fails, the file is as long
/// as before and has a torn tail still, or it is short and has its mark.
pub(super) fn make(file: &dyn DiskFile, generation: u128, next: FramePosition) -> io::Result<()> {
    let mut bytes = [0; BYTES as usize];
    mark(generation, next.sequence).write(&mut bytes);
    file.write_at(&bytes, next.at)?;
    file.sync()?;
    file.set_len(next.at + BYTES)
}

/// Whether these bytes, with which the file ends, are the mark of a cut before frame `sequence`.
pub(super) fn is_mark(bytes: &[u8], generation: u128, sequence: u64) -> bool {
    bytes.len() as u64 == BYTES && Header::read(bytes) == Some(mark(generation, sequence))
}

fn mark(generation: u128, sequence: u64) -> Header {
    // What calls itself unsynced testifies for nothing.
    let mut header = Header { len: MARK, unsynced: u32::MAX, sequence, checksum: 0 };
    header.checksum = header.checksum_of(generation, &[]);
    header
}
