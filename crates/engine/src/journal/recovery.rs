//! Opens a journal: reads every frame, cuts a torn tail, hands out the writer. Or only looks.
//! The engine starts through `open`; `onsale verify` calls `inspect`. Durable data that is damaged
//! is never repaired here: `open` refuses, and then has changed nothing.

use std::{convert::Infallible, sync::Arc};

use super::{
    Damage, FramePosition, JournalError, Options, Writer, cut,
    scan::{self, End, Scan},
    segment::{self, Header},
    writer::CurrentSegment,
};
use crate::disk::{Disk, DiskFile, read_exactly};

/// What a journal holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Frames that were read, those before the asked start included.
    pub frames: u64,
    /// Their bytes, headers and padding included.
    pub bytes: u64,
    /// Bytes of the torn tail, up to the last one that is not zero.
    pub cut_bytes: u64,
    /// Segments in use that were read.
    pub segments: u64,
    /// The sequence of the last frame; 0 if there is none.
    pub last_sequence: u64,
}

#[derive(Debug, thiserror::Error)]
pub enum OpenError<E> {
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The caller's own refusal of a frame.
    #[error("a frame was refused")]
    Frame(#[source] E),
}

/// Called with each frame in order; an error stops the scan.
pub type OnFrame<'a, E> = &'a mut dyn FnMut(FramePosition, &[u8]) -> Result<(), E>;

/// What `inspect` saw. Of a journal in use it may see a tail that is just being written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inspection {
    pub report: Report,
    pub generation: Option<u128>,
    /// The sequence of the oldest frame. More than 1 once old segments have been removed: then a
    /// snapshot must reach at least as far, or frames are missing.
    pub first_sequence: u64,
    /// Where the torn tail starts that the next start will cut.
    pub torn: Option<FramePosition>,
    /// The first damage; the next start will refuse.
    pub damage: Option<Damage>,
    /// Half-made and unused files that the next start will remove.
    pub leftovers: Vec<String>,
}

/// Reads all frames, or those from the cursor `from` on (a snapshot's position), and opens the
/// journal for appending behind the last one. An empty folder becomes the journal `generation_if_new`.
/// With `from`, segments before its own are not looked at; its own is checked from the beginning.
pub fn open<E>(
    disk: Arc<dyn Disk>,
    options: Options,
    generation_if_new: u128,
    on_frame: OnFrame<'_, E>,
    from: Option<FramePosition>,
) -> Result<(Writer, Report), OpenError<E>> {
    let mut scan = Scan::default();
    scan::run(&*disk, from, on_frame, &mut scan)?;
    // From here on the journal is known to be sound, and only what nobody was told of is changed.
    remove(&*disk, &scan.leftovers)?;
    let (generation, current) = match &scan.end {
        None => (generation_if_new, create(&*disk, &options, generation_if_new)?),
        Some(end) => (end.generation, settle(&*disk, end)?),
    };
    let writer = Writer::start(disk, &options, generation, current)?;
    Ok((writer, scan.report))
}

/// Looks at a journal without opening anything for writing.
pub fn inspect(
    disk: &dyn Disk,
    on_frame: &mut dyn FnMut(FramePosition, &[u8]),
) -> Result<Inspection, JournalError> {
    let mut scan = Scan::default();
    let mut deliver = |position, payload: &[u8]| {
        on_frame(position, payload);
        Ok::<(), Infallible>(())
    };
    let start = oldest(disk)?;
    let damage = match scan::run(disk, start, &mut deliver, &mut scan) {
        Ok(()) => None,
        Err(OpenError::Journal(JournalError::Damaged(damage))) => Some(damage),
        Err(OpenError::Journal(error)) => return Err(error),
        Err(OpenError::Frame(never)) => match never {},
    };
    Ok(Inspection {
        report: scan.report,
        generation: scan.end.map(|end| end.generation),
        first_sequence: start.unwrap_or(FramePosition::FIRST).sequence,
        torn: scan.end.filter(|end| end.torn).map(|end| end.next),
        damage,
        leftovers: scan.leftovers,
    })
}

/// The generation of the journal in the folder; `None` if there is no journal yet. A snapshot is
/// looked for under it before the journal is opened.
pub fn generation(disk: &dyn Disk) -> Result<Option<u128>, JournalError> {
    let names = disk.list().map_err(JournalError::io("list", "the data folder"))?;
    let mut numbers: Vec<u64> = names.iter().filter_map(|name| segment::number(name)).collect();
    // The newest first: what is old may be half removed.
    numbers.sort_unstable_by(|one, other| other.cmp(one));
    for number in numbers {
        let name = segment::name(number);
        let header = disk.open(&name).and_then(|file| Header::read(&*file));
        if let Ok(header) = header.map_err(JournalError::io("read", &name))? {
            return Ok(Some(header.generation));
        }
    }
    Ok(None)
}

/// Where the oldest segment starts, unless that is the first of all or its header is bad.
fn oldest(disk: &dyn Disk) -> Result<Option<FramePosition>, JournalError> {
    let names = disk.list().map_err(JournalError::io("list", "the data folder"))?;
    let number = names.iter().filter_map(|name| segment::number(name)).min();
    let Some(number) = number.filter(|number| *number > FramePosition::FIRST.segment) else {
        return Ok(None);
    };
    let name = segment::name(number);
    let header = disk.open(&name).and_then(|file| Header::read(&*file));
    let header = header.map_err(JournalError::io("read", &name))?.ok();
    Ok(header.map(|header| FramePosition {
        segment: number,
        at: segment::HEADER_BYTES,
        sequence: header.first_sequence,
    }))
}

fn remove(disk: &dyn Disk, names: &[String]) -> Result<(), JournalError> {
    for name in names {
        disk.remove(name).map_err(JournalError::io("remove", name))?;
    }
    if !names.is_empty() {
        disk.sync_folder().map_err(JournalError::io("sync", "the data folder"))?;
    }
    Ok(())
}

/// Makes the first segment of a new journal.
fn create(disk: &dyn Disk, options: &Options, generation: u128) -> Result<CurrentSegment, JournalError> {
    let next = FramePosition::FIRST;
    let name = segment::name(next.segment);
    let file = segment::prepare(disk, next.segment, options.segment_bytes)?;
    let bytes = options.segment_bytes;
    let header = Header { segment: next.segment, generation, first_sequence: next.sequence, bytes };
    let written = file.write_at(&header.encode(), 0).and_then(|()| file.sync());
    written.map_err(JournalError::io("write the header of", &name))?;
    Ok(CurrentSegment { file, bytes, next })
}

/// Makes the last segment durable up to its last good frame and cuts what is torn behind it.
fn settle(disk: &dyn Disk, end: &End) -> Result<CurrentSegment, JournalError> {
    let name = segment::name(end.next.segment);
    let file = disk.open(&name).map_err(JournalError::io("open", &name))?;
    rewrite(&*file, end.unproven_from, end.next.at).map_err(JournalError::io("rewrite the end of", &name))?;
    let mut bytes = end.segment_bytes;
    if end.torn {
        // The rest may hold whole frames that were in flight. Written over, they could line up behind
        // a new frame and be taken for its successors; cut off, they cannot. The file stays short,
        // and the next frame goes to a new segment.
        bytes = end.next.at;
        cut::make(&*file, end.generation, end.next).map_err(JournalError::io("cut", &name))?;
    }
    file.sync().map_err(JournalError::io("sync", &name))?;
    Ok(CurrentSegment { file, bytes, next: end.next })
}

/// Writes the same bytes again. They were read, perhaps from a cache whose sync failed in an earlier
/// process: the system then calls them clean, and a sync alone would not bring them to the medium.
fn rewrite(file: &dyn DiskFile, from: u64, to: u64) -> std::io::Result<()> {
    const PIECE_BYTES: u64 = 1 << 20;
    let mut buffer = vec![0; PIECE_BYTES.min(to - from) as usize];
    let mut at = from;
    while at < to {
        let piece = &mut buffer[..PIECE_BYTES.min(to - at) as usize];
        read_exactly(file, piece, at)?;
        file.write_at(piece, at)?;
        at += piece.len() as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
