//! Reads frames back while the writer appends: projections that catch up, followers, exports.
//! Any number of threads share one reader. It never returns a frame the caller did not call synced.

use std::{io, sync::Arc};

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
        if at.sequence > limit {
            return Ok(None);
        }
        let mut position = at;
        loop {
            match self.frame_at(position)? {
                Ok(frame) => return Ok(Some(frame)),
                Err(reason) => position = self.following(position, reason)?,
            }
        }
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
            cursor = match self.header_at(cursor)? {
                Ok(header) => after(cursor, &header),
                Err(reason) => self.following(cursor, reason)?,
            };
        }
        Ok(Some(cursor))
    }

    /// The whole frame at `position`, or why there is none.
    fn frame_at(&self, position: FramePosition) -> Result<Result<Frame, &'static str>, JournalError> {
        let header = match self.header_at(position)? {
            Ok(header) => header,
            Err(reason) => return Ok(Err(reason)),
        };
        let file = self.segment(position.segment)?.file;
        let mut payload = vec![0; header.len as usize];
        let count = read_up_to(&*file, &mut payload, position.at + frame::HEADER_BYTES as u64)
            .map_err(JournalError::io("read", segment::name(position.segment)))?;
        if !header.is_valid(self.generation, &payload[..count]) {
            return Ok(Err("its checksum is wrong"));
        }
        Ok(Ok(Frame { position, next: after(position, &header), payload }))
    }

    /// The header of the frame at `position`, or why there is none. Its checksum is not looked at.
    fn header_at(
        &self,
        position: FramePosition,
    ) -> Result<Result<frame::Header, &'static str>, JournalError> {
        let segment = self.segment(position.segment)?;
        let mut bytes = [0; frame::HEADER_BYTES];
        let count = read_up_to(&*segment.file, &mut bytes, position.at)
            .map_err(JournalError::io("read", segment::name(position.segment)))?;
        Ok(match frame::Header::read(&bytes[..count]) {
            None => Err("the file ends"),
            Some(header) if header.len == 0 => Err("no frame is there"),
            Some(header) if header.len as usize > frame::MAX_FRAME_BYTES => Err("its length is impossible"),
            Some(header) if header.sequence != position.sequence => Err("another frame is there"),
            Some(header) => Ok(header),
        })
    }

    /// The start of the next segment, if that begins with the frame that is not at `position`. Its
    /// header decides, as in recovery: what stands behind the last frame of a segment means nothing.
    fn following(&self, position: FramePosition, reason: &str) -> Result<FramePosition, JournalError> {
        let number = position.segment + 1;
        match self.segment(number) {
            Ok(next) if next.first_sequence == position.sequence => {
                Ok(FramePosition { segment: number, at: segment::HEADER_BYTES, ..position })
            }
            Ok(_) | Err(JournalError::Damaged(_)) => Err(damage(position, reason)),
            Err(JournalError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                Err(damage(position, reason))
            }
            Err(error) => Err(error),
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
