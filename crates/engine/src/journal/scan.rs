//! Reads a whole journal and judges it: whole, torn at the end, or damaged. Changes nothing.
//! Recovery and inspection share it, so that `onsale verify` and a start never disagree.

mod segments;

use std::io;

use super::{
    Damage, FramePosition, JournalError, cut,
    frame::{self, MAX_FRAME_BYTES, frame_bytes},
    recovery::{OnFrame, OpenError, Report},
    segment,
    window::Window,
};
use crate::disk::{Disk, DiskFile};
use segments::{Segments, UsedSegment};

/// What a journal holds, as far as it is not damaged.
#[derive(Debug, Default)]
pub(super) struct Scan {
    pub(super) report: Report,
    /// `None` if no segment has ever been in use.
    pub(super) end: Option<End>,
    /// Half-made files and blank segments; nothing in them counts.
    pub(super) leftovers: Vec<String>,
}

/// Where the journal ends and in which state.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    pub(super) generation: u128,
    pub(super) next: FramePosition,
    pub(super) segment_bytes: u64,
    /// No later frame or header proves that the bytes from here on were ever synced.
    pub(super) unproven_from: u64,
    pub(super) torn: bool,
}

/// Scans into `scan`, which holds what was read so far when this fails.
pub(super) fn run<E>(
    disk: &dyn Disk,
    from: Option<FramePosition>,
    on_frame: OnFrame<'_, E>,
    scan: &mut Scan,
) -> Result<(), OpenError<E>> {
    let mut window = Window::default();
    let Segments { used, leftovers } = segments::find(disk, from, &mut window)?;
    scan.leftovers = leftovers;
    scan.report.segments = used.len() as u64;
    let Some(first) = used.first() else { return Ok(()) };
    let mut walk = Walk {
        generation: first.header.generation,
        from: from.unwrap_or(FramePosition::FIRST),
        window,
        unproven: Vec::new(),
        next: FramePosition { segment: 0, at: 0, sequence: first.header.first_sequence },
    };
    for (index, segment) in used.iter().enumerate() {
        let stopped = walk.segment(segment, &mut scan.report, on_frame)?;
        match used.get(index + 1) {
            // Its header was written after all before it was synced, so it tells what had to be here.
            Some(after) if after.header.first_sequence == walk.next.sequence => walk.unproven.clear(),
            Some(after) => {
                let first = after.header.first_sequence;
                let reason = format!("{stopped}, but the next segment starts with frame {first}");
                return Err(walk.damage(&segment.name, reason).into());
            }
            None => scan.end = Some(walk.end(segment, &stopped, &mut scan.report)?),
        }
    }
    if walk.next.sequence < walk.from.sequence {
        let last = used.last().map_or("", |segment| &segment.name);
        let reason =
            format!("the journal ends before frame {}, where the start was asked for", walk.from.sequence);
        return Err(walk.damage(last, reason).into());
    }
    Ok(())
}

struct Walk {
    generation: u128,
    from: FramePosition,
    window: Window,
    /// Frames of the current segment that no later one has called synced: sequence and start.
    unproven: Vec<(u64, u64)>,
    next: FramePosition,
}

impl Walk {
    /// Delivers the frames of one segment; says why it stopped.
    fn segment<E>(
        &mut self,
        segment: &UsedSegment,
        report: &mut Report,
        on_frame: OnFrame<'_, E>,
    ) -> Result<String, OpenError<E>> {
        let failed = |error| JournalError::io("read", &segment.name)(error);
        self.window.reset(segment.bytes);
        self.next.segment = segment.header.segment;
        self.next.at = segment::HEADER_BYTES;
        loop {
            let file = &*segment.file;
            let (header, payload) =
                match frame_at(&mut self.window, file, self.generation, self.next.at).map_err(failed)? {
                    Ok(found) => found,
                    Err(reason) => return Ok(reason.to_owned()),
                };
            if header.sequence != self.next.sequence {
                return Ok(format!("frame {} is there instead", header.sequence));
            }
            let position = self.next;
            let misplaced = position.sequence == self.from.sequence
                && position.segment == self.from.segment
                && position.at != self.from.at;
            if position.sequence >= self.from.sequence && !misplaced {
                on_frame(position, payload).map_err(OpenError::Frame)?;
            }
            let bytes = frame_bytes(payload.len());
            if misplaced {
                let reason = format!("the start was asked for at byte {} instead", self.from.at);
                return Err(self.damage(&segment.name, reason).into());
            }
            let proven = self.unproven.partition_point(|(sequence, _)| *sequence <= header.synced());
            self.unproven.drain(..proven);
            self.unproven.push((position.sequence, position.at));
            self.next.at += bytes;
            self.next.sequence += 1;
            report.frames += 1;
            report.bytes += bytes;
            report.last_sequence = position.sequence;
        }
    }

    /// Judges what stands behind the last good frame of the last segment in use.
    fn end(
        &mut self,
        segment: &UsedSegment,
        stopped: &str,
        report: &mut Report,
    ) -> Result<End, JournalError> {
        let failed = |error| JournalError::io("read", &segment.name)(error);
        let mut segment_bytes = segment.bytes;
        let mut used = self.window.last_used(&*segment.file, self.next.at).map_err(failed)?;
        if self.is_cut(segment).map_err(failed)? {
            segment_bytes = self.next.at;
            used = None;
        } else if segment.bytes < segment.header.bytes {
            // It was written full of zeroes before it was used, and no crash makes a file shorter.
            let (bytes, made) = (segment.bytes, segment.header.bytes);
            let reason = format!("the file has {bytes} bytes of the {made} it was made with");
            return Err(self.damage(&segment.name, reason));
        }
        if let Some(used) = used {
            if let Some((at, header)) = self.witness(segment, used).map_err(failed)? {
                let reason = format!(
                    "{stopped}, but frame {} at byte {at} was written after it had been synced",
                    header.sequence
                );
                return Err(self.damage(&segment.name, reason));
            }
            report.cut_bytes = used - self.next.at;
        }
        report.last_sequence = self.next.sequence - 1;
        let unproven_from = match self.unproven.first() {
            Some((_, at)) => *at,
            // A frame is written only after the header was synced; without one the header is in doubt too.
            None => 0,
        };
        Ok(End {
            generation: self.generation,
            next: self.next,
            segment_bytes,
            unproven_from,
            torn: used.is_some(),
        })
    }

    /// Whether an earlier recovery cut the segment here.
    fn is_cut(&mut self, segment: &UsedSegment) -> io::Result<bool> {
        let rest = self.window.view(&*segment.file, self.next.at, cut::BYTES as usize)?;
        let ends_here = self.next.at + cut::BYTES == segment.bytes;
        Ok(ends_here && cut::is_mark(rest, self.generation, self.next.sequence))
    }

    /// Looks behind the end for a valid frame which says that the missing one had been synced.
    /// Valid frames that do not say so were in flight together with it; nobody was told of them.
    fn witness(&mut self, segment: &UsedSegment, used: u64) -> io::Result<Option<(u64, frame::Header)>> {
        let expected = self.next.sequence;
        // More frames than fit between here and the end cannot have been written.
        let latest = expected + segment.bytes / frame_bytes(1);
        let mut at = self.next.at;
        while at < used {
            let view = self.window.view(&*segment.file, at, frame::HEADER_BYTES)?;
            let Some(header) = frame::Header::read(view) else { break };
            let plausible = (expected..=latest).contains(&header.sequence) && header.synced() >= expected;
            if plausible
                && let Ok((header, _)) = frame_at(&mut self.window, &*segment.file, self.generation, at)?
            {
                return Ok(Some((at, header)));
            }
            at += frame::ALIGNMENT as u64;
        }
        Ok(None)
    }

    fn damage(&self, file: &str, reason: String) -> JournalError {
        let (at, expected) = (self.next.at, Some(self.next.sequence));
        JournalError::Damaged(Damage { file: file.to_owned(), at, expected, reason })
    }
}

/// The valid frame at `at`, or why there is none.
fn frame_at<'w>(
    window: &'w mut Window,
    file: &dyn DiskFile,
    generation: u128,
    at: u64,
) -> io::Result<Result<(frame::Header, &'w [u8]), &'static str>> {
    let view = window.view(file, at, frame::HEADER_BYTES)?;
    let Some(header) = frame::Header::read(view) else { return Ok(Err("the file ends")) };
    let len = header.len as usize;
    if len == 0 {
        return Ok(Err("no frame is there"));
    }
    if len > MAX_FRAME_BYTES {
        return Ok(Err("its length is impossible"));
    }
    let whole = frame_bytes(len) as usize;
    let Some(bytes) = window.view(file, at, whole)?.get(frame::HEADER_BYTES..whole) else {
        return Ok(Err("the file ends within it"));
    };
    let (payload, padding) = bytes.split_at(len);
    if padding.iter().any(|byte| *byte != 0) {
        return Ok(Err("its padding is not zero"));
    }
    if !header.is_valid(generation, payload) {
        return Ok(Err("its checksum is wrong"));
    }
    Ok(Ok((header, payload)))
}
