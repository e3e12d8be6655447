//! A sliding view of a file for sequential scans: few large reads, no copy per frame.

use std::io;

use crate::disk::{DiskFile, read_exactly};

/// Large enough that system calls and seeks do not matter.
const PIECE_BYTES: usize = 4 << 20;
/// Zero tests compare with this block, at the speed of a memory comparison.
const ZEROES: [u8; 4096] = [0; 4096];

/// The buffer outlives the files it is used on.
#[derive(Debug, Default)]
pub(super) struct Window {
    buffer: Vec<u8>,
    start: u64,
    filled: usize,
    file_bytes: u64,
}

impl Window {
    /// Turns to another file.
    pub(super) fn reset(&mut self, file_bytes: u64) {
        self.start = 0;
        self.filled = 0;
        self.file_bytes = file_bytes;
    }

    /// At least `bytes` bytes from `at` on, fewer only if the file ends before.
    pub(super) fn view(&mut self, file: &dyn DiskFile, at: u64, bytes: usize) -> io::Result<&[u8]> {
        let wanted = bytes.min(self.file_bytes.saturating_sub(at) as usize);
        let end = self.start + self.filled as u64;
        if at < self.start || at + wanted as u64 > end {
            self.refill(file, at, wanted)?;
        }
        let from = (at - self.start) as usize;
        Ok(&self.buffer[from..self.filled])
    }

    fn refill(&mut self, file: &dyn DiskFile, at: u64, wanted: usize) -> io::Result<()> {
        let size = wanted.max(PIECE_BYTES).min(self.file_bytes.saturating_sub(at) as usize);
        let end = self.start + self.filled as u64;
        // Only a frame that straddles two pieces is moved.
        let kept = if at >= self.start && at < end { (end - at) as usize } else { 0 };
        let from = (self.filled - kept)..self.filled;
        if self.buffer.len() < size {
            self.buffer.resize(size, 0);
        }
        self.buffer.copy_within(from, 0);
        self.start = at;
        self.filled = 0;
        read_exactly(file, &mut self.buffer[kept..size], at + kept as u64)?;
        self.filled = size;
        Ok(())
    }

    /// Where the last byte that is not zero ends, at or after `from`; `None` if there is none.
    pub(super) fn last_used(&mut self, file: &dyn DiskFile, from: u64) -> io::Result<Option<u64>> {
        let (mut at, mut last) = (from, None);
        while at < self.file_bytes {
            let view = self.view(file, at, PIECE_BYTES)?;
            for (index, block) in view.chunks(ZEROES.len()).enumerate() {
                if *block != ZEROES[..block.len()] {
                    let used = block.iter().rposition(|byte| *byte != 0).map_or(0, |byte| byte + 1);
                    last = Some(at + (index * ZEROES.len() + used) as u64);
                }
            }
            at += view.len() as u64;
        }
        Ok(last)
    }
}
