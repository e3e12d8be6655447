//! One segment file: its name, its header, and how a blank one is made.
//! A segment has its final name only once it is all zeroes on the medium; it is in use once its
//! header is valid on the medium. Only then do frames follow.

use std::{io, sync::Arc};

use xxhash_rust::xxh3::xxh3_64;

use super::JournalError;
use crate::disk::{Disk, DiskFile, read_up_to};

pub const HEADER_BYTES: u64 = 64;
pub const VERSION: u32 = 1;
const MAGIC: [u8; 8] = *b"onsalejl";
/// Half-made files end so; they are removed when the journal is opened.
pub const TEMPORARY: &str = ".tmp";

/// Zeroes are written and synced in pieces of this size, so that a frame's own sync never waits behind a
/// large one. With pieces of 8 MiB one sync in a hundred took three times as long; throughput is the same.
const FILL_BYTES: usize = 256 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    pub segment: u64,
    /// A random number that names this journal; a segment of another one is recognised.
    pub generation: u128,
    /// The sequence of the first frame in this segment. It proves that the frames before it, in
    /// the segments before, are all there were: those were synced before this was written.
    pub first_sequence: u64,
    /// How long the file was made. A file that is shorter has lost its end, unless a [`cut`](super::cut) ends it.
    pub bytes: u64,
}

/// Why the first bytes of a file are no header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoHeader {
    Version(u32),
    Bad,
}

impl Header {
    pub fn encode(&self) -> [u8; HEADER_BYTES as usize] {
        let mut bytes = [0; HEADER_BYTES as usize];
        bytes[0..8].copy_from_slice(&MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.segment.to_le_bytes());
        bytes[24..40].copy_from_slice(&self.generation.to_le_bytes());
        bytes[40..48].copy_from_slice(&self.first_sequence.to_le_bytes());
        bytes[48..56].copy_from_slice(&self.bytes.to_le_bytes());
        let checksum = xxh3_64(&bytes[..56]);
        bytes[56..64].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    pub fn decode(bytes: &[u8]) -> Result<Self, NoHeader> {
        let field = |at: usize| bytes.get(at..at + 8).and_then(|field| field.try_into().ok());
        let number = |at: usize| field(at).map(u64::from_le_bytes).ok_or(NoHeader::Bad);
        if field(0) != Some(MAGIC) {
            return Err(NoHeader::Bad);
        }
        // A torn write of version 1 leaves 0 or 1 here, never another number.
        match number(8)? as u32 {
            VERSION => {}
            0 => return Err(NoHeader::Bad),
            version => return Err(NoHeader::Version(version)),
        }
        if number(56)? != xxh3_64(&bytes[..56]) {
            return Err(NoHeader::Bad);
        }
        Ok(Self {
            segment: number(16)?,
            generation: u128::from(number(24)?) | (u128::from(number(32)?) << 64),
            first_sequence: number(40)?,
            bytes: number(48)?,
        })
    }

    pub fn read(file: &dyn DiskFile) -> io::Result<Result<Self, NoHeader>> {
        let mut bytes = [0; HEADER_BYTES as usize];
        let count = read_up_to(file, &mut bytes, 0)?;
        Ok(Self::decode(&bytes[..count]))
    }
}

pub fn name(number: u64) -> String {
    format!("journal-{number:010}.log")
}

/// The number in a segment's name; `None` for any other file.
pub fn number(name: &str) -> Option<u64> {
    let digits = name.strip_prefix("journal-")?.strip_suffix(".log")?;
    let number = digits.parse().ok()?;
    (digits == format!("{number:010}")).then_some(number)
}

/// Makes segment `number`, blank and durable, under its final name. On failure no space stays taken.
pub(super) fn prepare(disk: &dyn Disk, number: u64, bytes: u64) -> Result<Arc<dyn DiskFile>, JournalError> {
    let (name, temporary) = (name(number), name(number) + TEMPORARY);
    let made = make(disk, &name, &temporary, bytes);
    if made.is_err() {
        // The error that matters is the first one; whatever stays behind is removed at the next start.
        let _ = disk.remove(&temporary);
    }
    made
}

fn make(disk: &dyn Disk, name: &str, temporary: &str, bytes: u64) -> Result<Arc<dyn DiskFile>, JournalError> {
    match disk.remove(temporary) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(JournalError::io("remove", temporary)(error));
        }
        Ok(()) | Err(_) => {}
    }
    let file = disk.create(temporary).map_err(JournalError::io("create", temporary))?;
    fill(&*file, 0, bytes).map_err(JournalError::io("fill", temporary))?;
    disk.rename(temporary, name).map_err(JournalError::io("rename", temporary))?;
    disk.sync_folder().map_err(JournalError::io("sync the folder of", name))?;
    Ok(file)
}

/// Really writes zeroes: a block that was written before is overwritten without a change of
/// metadata, which halves the cost of every later sync. Reserved but unwritten blocks gain nothing.
pub(super) fn fill(file: &dyn DiskFile, from: u64, to: u64) -> io::Result<()> {
    let zeroes = vec![0; FILL_BYTES.min(to.saturating_sub(from) as usize)];
    let mut at = from;
    while at < to {
        let piece = zeroes.len().min((to - at) as usize);
        file.write_at(&zeroes[..piece], at)?;
        file.sync()?;
        at += piece as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::{Fault, MemoryDisk};

    const HEADER: Header =
        Header { segment: 3, generation: 0xfeed << 64 | 9, first_sequence: 77, bytes: 4096 };

    #[test]
    fn a_header_comes_back_and_any_changed_byte_is_noticed() {
        let bytes = HEADER.encode();
        assert_eq!(Header::decode(&bytes), Ok(HEADER));
        for at in 0..bytes.len() {
            let mut changed = bytes;
            changed[at] ^= 1;
            assert!(Header::decode(&changed).is_err(), "byte {at}");
            assert_eq!(Header::decode(&bytes[..at]), Err(NoHeader::Bad), "torn at {at}");
        }
    }

    #[test]
    fn a_header_of_a_later_version_says_so() {
        let mut bytes = HEADER.encode();
        bytes[8] = 2;
        assert_eq!(Header::decode(&bytes), Err(NoHeader::Version(2)));
    }

    #[test]
    fn names_are_recognised_exactly() {
        assert_eq!(name(12), "journal-0000000012.log");
        assert_eq!(number("journal-0000000012.log"), Some(12));
        assert_eq!(number(&name(99_999_999_999)), Some(99_999_999_999));
        for other in ["journal-12.log", "journal-0000000012.log.tmp", "journal-+000000012.log", "lock"] {
            assert_eq!(number(other), None, "{other}");
        }
    }

    #[test]
    fn a_segment_with_its_final_name_is_blank_and_whole_after_any_crash() {
        for at in 0..8 {
            for seed in 0..50 {
                let disk = MemoryDisk::new(seed);
                disk.fail_after(at, Fault::Crash);
                let made = prepare(&disk, 1, 4096);
                disk.crash(seed);
                let bytes = disk.contents(&name(1));
                assert!(bytes.iter().all(|bytes| *bytes == [0; 4096]), "crash at {at}, seed {seed}");
                assert!(made.is_err() || bytes.is_some(), "crash at {at}, seed {seed}");
            }
        }
    }

    #[test]
    fn a_failed_preparation_gives_its_space_back() {
        let disk = MemoryDisk::new(0);
        disk.set_capacity(Some(3000));
        assert!(prepare(&disk, 1, 4096).is_err());
        assert_eq!(disk.used_bytes(), 0);
    }
}
