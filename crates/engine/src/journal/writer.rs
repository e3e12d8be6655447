//! The one writer of a journal: appends frames, makes them durable, rolls over to new segments.
//! `recovery::open` makes it, the committer owns it. It never reads and never repairs: after a
//! failed write or sync nobody knows what the disk holds, so it stops until the next recovery.

use std::sync::Arc;

use super::{
    FramePosition, JournalError, Options, Reader, Room,
    frame::{FrameBuffer, MAX_FRAME_BYTES, frame_bytes},
    prepare::Preparer,
    segment::{self, Header},
};
use crate::disk::{Disk, DiskFile};

/// What a system keeps of a file in memory, and reads from the disk if only a part of it is written.
const PAGE_BYTES: u64 = 4096;

/// Room for two of the largest batches: one being written, one already decided.
const RESERVE_BYTES: u64 = 2 * (8 << 20);

#[derive(Debug)]
pub struct Writer {
    disk: Arc<dyn Disk>,
    generation: u128,
    current: CurrentSegment,
    /// The last frame known to be durable.
    synced: u64,
    reserve: u64,
    room: Arc<Room>,
    preparer: Preparer,
    scratch: FrameBuffer,
    poisoned: bool,
}

/// The segment in use and where its next frame goes.
#[derive(Debug)]
pub(super) struct CurrentSegment {
    pub(super) file: Arc<dyn DiskFile>,
    pub(super) bytes: u64,
    pub(super) next: FramePosition,
}

impl CurrentSegment {
    /// How much is written for the next frame of so many bytes. One that begins another page writes that page to its
    /// end, over zeroes: a segment was filled long before it is used, and the system may have let go of it since.
    fn written_bytes(&self, frame: u64) -> u64 {
        let (at, end) = (self.next.at, self.next.at + frame);
        if at.div_ceil(PAGE_BYTES) == end.div_ceil(PAGE_BYTES) {
            return frame;
        }
        end.next_multiple_of(PAGE_BYTES).min(self.bytes.max(end)) - at
    }
}

impl Writer {
    /// Continues at `current.next`; everything before it is durable.
    pub(super) fn start(
        disk: Arc<dyn Disk>,
        options: &Options,
        generation: u128,
        current: CurrentSegment,
    ) -> Result<Self, JournalError> {
        let room = Arc::new(Room::default());
        let preparer = Preparer::start(disk.clone(), options, room.clone(), current.next.segment + 1)?;
        let writer = Self {
            disk,
            generation,
            synced: current.next.sequence - 1,
            current,
            reserve: RESERVE_BYTES.min(options.segment_bytes / 4),
            room,
            preparer,
            scratch: FrameBuffer::new(),
            poisoned: false,
        };
        writer.update_room();
        Ok(writer)
    }

    /// Appends a copy of `payload`. It is durable after the next `sync`.
    pub fn append(&mut self, payload: &[u8]) -> Result<FramePosition, JournalError> {
        if payload.len() > MAX_FRAME_BYTES {
            return Err(JournalError::FrameTooLarge { bytes: payload.len() });
        }
        let mut frame = std::mem::take(&mut self.scratch);
        frame.clear();
        frame.payload_mut().extend_from_slice(payload);
        let result = self.append_frame(&mut frame);
        self.scratch = frame;
        result
    }

    /// An empty buffer for `append_frame`. Keep it and `clear` it: its allocation is worth reusing.
    pub fn frame_buffer(&self) -> FrameBuffer {
        FrameBuffer::new()
    }

    /// Appends without copying. The buffer keeps its payload until it is cleared.
    pub fn append_frame(&mut self, frame: &mut FrameBuffer) -> Result<FramePosition, JournalError> {
        self.check_poison()?;
        frame.check()?;
        let bytes = frame_bytes(frame.payload().len());
        if self.current.next.at + bytes > self.current.bytes {
            self.roll_over(bytes)?;
        }
        let position = self.current.next;
        let unsynced = u32::try_from(position.sequence - 1 - self.synced).unwrap_or(u32::MAX);
        let file = &self.current.file;
        let (generation, sequence) = (self.generation, position.sequence);
        let written_bytes = self.current.written_bytes(bytes) as usize;
        let written = frame
            .sealed(generation, sequence, unsynced, written_bytes, |bytes| file.write_at(bytes, position.at));
        self.or_poison(written, "write to")?;
        self.current.next.at += bytes;
        self.current.next.sequence += 1;
        self.update_room();
        Ok(position)
    }

    /// Makes every appended frame durable with one `fdatasync`; none if all are.
    pub fn sync(&mut self) -> Result<(), JournalError> {
        self.check_poison()?;
        if self.synced + 1 == self.current.next.sequence {
            return Ok(());
        }
        let synced = self.current.file.sync();
        self.or_poison(synced, "sync")?;
        self.synced = self.current.next.sequence - 1;
        Ok(())
    }

    /// Prepares the next segment now (on request) or hurries the helper after a failure.
    pub fn prepare(&mut self) {
        if !self.poisoned {
            self.preparer.prepare();
        }
    }

    /// False when the engine should refuse new work because the disk is full.
    pub fn has_room(&self) -> bool {
        self.room.has_room()
    }

    pub fn room(&self) -> Arc<Room> {
        self.room.clone()
    }

    pub fn is_poisoned(&self) -> bool {
        self.poisoned
    }

    pub fn generation(&self) -> u128 {
        self.generation
    }

    /// The sequence of the last durable frame; 0 if there is none.
    pub fn synced(&self) -> u64 {
        self.synced
    }

    /// A cursor to the frame that will be appended next.
    pub fn next_position(&self) -> FramePosition {
        self.current.next
    }

    /// A reader of the same journal, for any thread.
    pub fn reader(&self) -> Reader {
        Reader::new(self.disk.clone(), self.generation)
    }

    /// Removes the segments before the one that holds `position`, oldest first, so that what remains
    /// is always without a gap. The caller made sure that every snapshot it may fall back to
    /// (`snapshot::positions`) and every projection is at or after `position`.
    pub fn remove_before(&mut self, position: FramePosition) -> Result<usize, JournalError> {
        let names = self.disk.list().map_err(JournalError::io("list", "the data folder"))?;
        let mut old: Vec<u64> = names.iter().filter_map(|name| segment::number(name)).collect();
        old.retain(|number| *number < position.segment.min(self.current.next.segment));
        old.sort_unstable();
        for number in &old {
            let name = segment::name(*number);
            self.disk.remove(&name).map_err(JournalError::io("remove", &name))?;
            self.disk.sync_folder().map_err(JournalError::io("sync the folder of", &name))?;
        }
        Ok(old.len())
    }

    /// Moves to the next segment, made large enough for a frame of `bytes`.
    fn roll_over(&mut self, bytes: u64) -> Result<(), JournalError> {
        let number = self.current.next.segment + 1;
        let (file, len) = self.take_segment(number, segment::HEADER_BYTES + bytes)?;
        // First the frames before, then the header that vouches for them, then the frames after it.
        self.sync()?;
        let header = Header {
            segment: number,
            generation: self.generation,
            first_sequence: self.current.next.sequence,
            bytes: len,
        };
        let sealed = file.write_at(&header.encode(), 0).and_then(|()| file.sync());
        let next = FramePosition { segment: number, at: segment::HEADER_BYTES, ..self.current.next };
        self.current = CurrentSegment { file, bytes: len, next };
        self.or_poison(sealed, "write the header of")?;
        self.preparer.want(number + 1);
        Ok(())
    }

    /// Nothing is in doubt when this fails: no frame was touched, so the writer stays usable.
    fn take_segment(&self, number: u64, needed: u64) -> Result<(Arc<dyn DiskFile>, u64), JournalError> {
        let file = self.preparer.take()?;
        let grown = file.len().and_then(|len| {
            if len < needed {
                segment::fill(&*file, len, needed)?;
            }
            Ok(len.max(needed))
        });
        match grown {
            Ok(len) => Ok((file, len)),
            Err(error) => {
                self.preparer.put_back(file);
                Err(JournalError::NoRoom { file: segment::name(number), reason: error.to_string() })
            }
        }
    }

    fn update_room(&self) {
        let left = self.current.bytes.saturating_sub(self.current.next.at);
        self.room.set_in_current(left >= self.reserve);
    }

    fn check_poison(&self) -> Result<(), JournalError> {
        if self.poisoned { Err(JournalError::Poisoned) } else { Ok(()) }
    }

    fn or_poison(&mut self, result: std::io::Result<()>, action: &'static str) -> Result<(), JournalError> {
        self.poisoned |= result.is_err();
        result.map_err(JournalError::io(action, segment::name(self.current.next.segment)))
    }
}

#[cfg(test)]
mod tests;
