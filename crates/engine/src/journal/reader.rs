//! Reads frames back while the writer appends: projections that catch up, followers, exports.
//! Any number of threads share one reader. It never returns a frame the caller did not call synced.

use std::sync::Arc;

use parking_lot::Mutex;

use super::{
    Damage, FramePosition, JournalError,
    frame::{self, frame_bytes},
    segment::{self, Header},
};
use crate::disk::{Disk, DiskFile, read_up_to};

/// Readers are near the end or in a row behind it; a few open files serve them all.
const OPEN_FILES_MAX: usize = 8;

#[derive(Debug)]
pub struct Reader {
    disk: Arc<dyn Disk>,
    generation: u128,
    /// The most recently used last.
    files: Mutex<Vec<(u64, Segment)>>,
}

/// One frame that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    pub position: FramePosition,
    /// The cursor of the frame after it.
    pub next: FramePosition,
    pub payload: Vec<u8>,
}

#[derive(Clone, Debug)]
struct Segment {
    file: Arc<dyn DiskFile>,
    first_sequence: u64,
}

impl Reader {
    pub fn new(disk: Arc<dyn Disk>, generation: u128) -> Self {
        Self { disk, generation, files: Mutex::new(Vec::new()) }
    }

    /// The cursor of the oldest frame the journal still has.
    pub fn first(&self) -> Result<FramePosition, JournalError> {
        let number = self.segments()?.first().copied().unwrap_or(FramePosition::FIRST.segment);
        let sequence = self.segment(number)?.first_sequence;
        Ok(FramePosition { segment: number, at: segment::HEADER_BYTES, sequence })
    }

    /// The frame at the cursor, or `None` if its sequence is beyond `limit`, the last synced one.
    pub fn read_frame(&self, at: FramePosition, limit: u64) -> Result<Option<Frame>, JournalError> {
        let Some((position, header)) = self.locate(at, limit)? else { return Ok(None) };
        let file = self.segment(position.segment)?.file;
        let mut payload = vec![0; header.len as usize];
        let count = read_up_to(&*file, &mut payload, position.at + frame::HEADER_BYTES as u64)
            .map_err(JournalError::io("read", segment::name(position.segment)))?;
        if !header.is_valid(self.generation, &payload[..count]) {
            return Err(damage(position, "its checksum is wrong"));
        }
        Ok(Some(Frame { position, next: after(position, &header), payload }))
    }

    /// The cursor of frame `sequence`, found by its number alone. `None` if it is beyond `limit`;
    /// an error if it was removed. Walks the headers of one segment: for a start, not for each frame.
    pub fn find(&self, sequence: u64, limit: u64) -> Result<Option<FramePosition>, JournalError> {
        if sequence > limit {
            return Ok(None);
        }
        let numbers = self.segments()?;
        let mut start = None;
        // The newest segment may be blank still, so from the end to the first that begins early enough.
        for number in numbers.into_iter().rev() {
            match self.segment(number) {
                Ok(segment) if segment.first_sequence <= sequence => {
                    start = Some((number, segment.first_sequence));
                    break;
                }
                Ok(_) | Err(JournalError::Damaged(_)) => {}
                Err(error) => return Err(error),
            }
        }
        let Some((number, first)) = start else {
            let gone = FramePosition { sequence, ..FramePosition::FIRST };
            return Err(damage(gone, "it was removed from the journal"));
        };
        let mut cursor = FramePosition { segment: number, at: segment::HEADER_BYTES, sequence: first };
        while cursor.sequence < sequence {
            let Some((position, header)) = self.locate(cursor, limit)? else { return Ok(None) };
            cursor = after(position, &header);
        }
        Ok(Some(cursor))
    }

    /// Resolves a cursor to the place and header of its frame, in its segment or the next.
    fn locate(
        &self,
        cursor: FramePosition,
        limit: u64,
    ) -> Result<Option<(FramePosition, frame::Header)>, JournalError> {
        if cursor.sequence > limit {
            return Ok(None);
        }
        let mut position = cursor;
        if let Some(header) = self.header_at(position)? {
            return Ok(Some((position, header)));
        }
        position = FramePosition { segment: cursor.segment + 1, at: segment::HEADER_BYTES, ..cursor };
        // After a cut at its very beginning a segment holds no frame, and the next starts alike.
        while self.segment(position.segment)?.first_sequence == cursor.sequence {
            if let Some(header) = self.header_at(position)? {
                return Ok(Some((position, header)));
            }
            position.segment += 1;
        }
        Err(damage(cursor, "neither is it in the segment after it"))
    }

    /// The header of the frame at `position`; `None` where the segment holds no further frame.
    fn header_at(&self, position: FramePosition) -> Result<Option<frame::Header>, JournalError> {
        let segment = self.segment(position.segment)?;
        let mut bytes = [0; frame::HEADER_BYTES];
        let count = read_up_to(&*segment.file, &mut bytes, position.at)
            .map_err(JournalError::io("read", segment::name(position.segment)))?;
        match frame::Header::read(&bytes[..count]) {
            None => Ok(None),
            Some(header) if header.len == 0 => Ok(None),
            Some(header) if header.len as usize > frame::MAX_FRAME_BYTES => {
                Err(damage(position, "its length is impossible"))
            }
            Some(header) if header.sequence != position.sequence => {
                Err(damage(position, "another frame is there"))
            }
            Some(header) => Ok(Some(header)),
        }
    }

    fn segments(&self) -> Result<Vec<u64>, JournalError> {
        let names = self.disk.list().map_err(JournalError::io("list", "the data folder"))?;
        let mut numbers: Vec<u64> = names.iter().filter_map(|name| segment::number(name)).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    fn segment(&self, number: u64) -> Result<Segment, JournalError> {
        let mut files = self.files.lock();
        if let Some(index) = files.iter().position(|(cached, _)| *cached == number) {
            let entry = files.remove(index);
            files.push(entry);
            return Ok(files[files.len() - 1].1.clone());
        }
        let name = segment::name(number);
        let file = self.disk.open(&name).map_err(JournalError::io("open", &name))?;
        let header = Header::read(&*file).map_err(JournalError::io("read", &name))?;
        let first_sequence = match header {
            Ok(header) if header.generation == self.generation && header.segment == number => {
                header.first_sequence
            }
            Ok(_) | Err(_) => {
                let start = FramePosition { segment: number, at: 0, sequence: 0 };
                return Err(damage(start, "its header is bad or that of another journal"));
            }
        };
        let segment = Segment { file, first_sequence };
        if files.len() == OPEN_FILES_MAX {
            files.remove(0);
        }
        files.push((number, segment.clone()));
        Ok(segment)
    }
}

fn after(position: FramePosition, header: &frame::Header) -> FramePosition {
    FramePosition {
        at: position.at + frame_bytes(header.len as usize),
        sequence: position.sequence + 1,
        ..position
    }
}

fn damage(position: FramePosition, reason: &str) -> JournalError {
    JournalError::Damaged(Damage {
        file: segment::name(position.segment),
        at: position.at,
        expected: (position.sequence > 0).then_some(position.sequence),
        reason: reason.to_owned(),
    })
}

#[cfg(test)]
mod tests;
