//! Finds the segments of a journal and judges their headers.

use std::sync::Arc;

use super::super::{
    Damage, FramePosition, JournalError,
    segment::{self, Header, NoHeader, TEMPORARY},
    window::Window,
};
use crate::disk::{Disk, DiskFile};

#[derive(Debug)]
pub(super) struct Segments {
    /// Valid headers of one generation, numbered without a gap.
    pub(super) used: Vec<UsedSegment>,
    pub(super) leftovers: Vec<String>,
}

#[derive(Debug)]
pub(super) struct UsedSegment {
    pub(super) name: String,
    pub(super) file: Arc<dyn DiskFile>,
    pub(super) bytes: u64,
    pub(super) header: Header,
}

pub(super) fn find(
    disk: &dyn Disk,
    from: Option<FramePosition>,
    window: &mut Window,
) -> Result<Segments, JournalError> {
    let names = disk.list().map_err(JournalError::io("list", "the data folder"))?;
    let mut leftovers: Vec<String> = names.iter().filter(|name| is_half_made(name)).cloned().collect();
    // What lies before the start is not needed and may be half removed.
    let first = from.map_or(0, |from| from.segment);
    let mut numbers: Vec<u64> = names.iter().filter_map(|name| segment::number(name)).collect();
    numbers.retain(|number| *number >= first);
    numbers.sort_unstable();

    let mut used: Vec<UsedSegment> = Vec::new();
    let mut headless: Vec<Headless> = Vec::new();
    for number in &numbers {
        match open(disk, *number)? {
            Ok(segment) => {
                // A header is written only after the one before it.
                if let Some(headless) = headless.first() {
                    return Err(damage(&headless.name, "its header is bad, yet a later segment is in use"));
                }
                used.push(segment);
            }
            Err(segment) => headless.push(segment),
        }
    }
    check_row(&used, from, numbers.first().copied())?;
    let last = used.last().map_or(0, |segment| segment.header.segment);
    for (segment, number) in headless.into_iter().zip(last + 1..) {
        // Only the segment after the last one is ever made in advance.
        if segment.name != segment::name(number) {
            return Err(missing(number, None));
        }
        if !segment.is_blank(window)? {
            return Err(damage(&segment.name, "its header is bad, yet it holds data"));
        }
        leftovers.push(segment.name);
    }
    Ok(Segments { used, leftovers })
}

/// Only our own: other files of the folder are nobody's business here.
fn is_half_made(name: &str) -> bool {
    name.ends_with(TEMPORARY) && (name.starts_with("journal-") || name.starts_with("snapshot-"))
}

/// Frames follow only after the header was synced, so a file without one must be blank behind it.
struct Headless {
    name: String,
    file: Arc<dyn DiskFile>,
    bytes: u64,
}

impl Headless {
    fn is_blank(&self, window: &mut Window) -> Result<bool, JournalError> {
        window.reset(self.bytes);
        let used = window.last_used(&*self.file, segment::HEADER_BYTES);
        Ok(used.map_err(JournalError::io("read", &self.name))?.is_none())
    }
}

fn open(disk: &dyn Disk, number: u64) -> Result<Result<UsedSegment, Headless>, JournalError> {
    let name = segment::name(number);
    let file = disk.open(&name).map_err(JournalError::io("open", &name))?;
    let bytes = file.len().map_err(JournalError::io("read", &name))?;
    match Header::read(&*file).map_err(JournalError::io("read", &name))? {
        Ok(header) => Ok(Ok(UsedSegment { name, file, bytes, header })),
        Err(NoHeader::Bad) => Ok(Err(Headless { name, file, bytes })),
        Err(NoHeader::Version(version)) => Err(JournalError::UnknownVersion { file: name, version }),
    }
}

fn check_row(
    used: &[UsedSegment],
    from: Option<FramePosition>,
    first_file: Option<u64>,
) -> Result<(), JournalError> {
    let start = from.unwrap_or(FramePosition::FIRST);
    let Some(first) = used.first() else {
        // A journal that was never used has at most its first segment, still blank.
        let unused = from.is_none() && first_file.is_none_or(|number| number == 1);
        return if unused { Ok(()) } else { Err(missing(start.segment, Some(start.sequence))) };
    };
    for (segment, number) in used.iter().zip(start.segment..) {
        if segment.name != segment::name(number) {
            return Err(missing(number, (number == start.segment).then_some(start.sequence)));
        }
        if segment.header.segment != number {
            return Err(damage(&segment.name, "its header carries the number of another segment"));
        }
        if segment.header.generation != first.header.generation {
            return Err(damage(&segment.name, "it belongs to another journal"));
        }
    }
    if first.header.first_sequence > start.sequence {
        return Err(damage(&first.name, "it starts after the frame the start was asked for"));
    }
    Ok(())
}

fn missing(segment: u64, expected: Option<u64>) -> JournalError {
    let (file, reason) = (segment::name(segment), "the file is missing".to_owned());
    JournalError::Damaged(Damage { file, at: 0, expected, reason })
}

fn damage(file: &str, reason: &str) -> JournalError {
    JournalError::Damaged(Damage { file: file.to_owned(), at: 0, expected: None, reason: reason.to_owned() })
}
