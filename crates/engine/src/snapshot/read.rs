//! Finds the newest whole snapshot and reads its parts.

use std::sync::Arc;

use super::{
    MAX_PART_BYTES, SnapshotError,
    format::{self, HEADER_BYTES, Header, PART_HEADER_BYTES, TRAILER_MARK},
};
use crate::{
    disk::{Disk, DiskFile, read_exactly},
    journal::FramePosition,
};

/// What `latest` found.
#[derive(Debug)]
pub struct Latest {
    /// The newest whole snapshot of the journal, every byte of it checked.
    pub snapshot: Option<Snapshot>,
    /// Newer files that could not be used. Worth a line in the log, no reason to stop.
    pub passed_over: Vec<SkippedSnapshot>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedSnapshot {
    pub file: String,
    pub reason: String,
}

/// A whole snapshot.
#[derive(Debug)]
pub struct Snapshot {
    name: String,
    file: Arc<dyn DiskFile>,
    header: Header,
}

/// Picks the newest whole snapshot of the journal `generation`. Changes nothing.
pub fn latest(disk: &dyn Disk, generation: u128) -> Result<Latest, SnapshotError> {
    let names = disk.list().map_err(SnapshotError::io("list", "the data folder"))?;
    let mut sequences: Vec<u64> = names.iter().filter_map(|name| format::sequence(name)).collect();
    sequences.sort_unstable();
    let mut passed_over = Vec::new();
    for sequence in sequences.into_iter().rev() {
        let file = format::name(sequence);
        match Snapshot::open(disk, &file, generation, sequence).and_then(Snapshot::check) {
            Ok(snapshot) => return Ok(Latest { snapshot: Some(snapshot), passed_over }),
            Err(error) => passed_over.push(SkippedSnapshot { file, reason: error.to_string() }),
        }
    }
    Ok(Latest { snapshot: None, passed_over })
}

/// A snapshot file by name, and what it is if it is whole.
pub type NamedSnapshot = (String, Result<Snapshot, SnapshotError>);

/// Every snapshot file in the folder, oldest first, each read through and whole or not. For `onsale verify`.
pub fn all(disk: &dyn Disk, generation: u128) -> Result<Vec<NamedSnapshot>, SnapshotError> {
    let names = disk.list().map_err(SnapshotError::io("list", "the data folder"))?;
    let mut sequences: Vec<u64> = names.iter().filter_map(|name| format::sequence(name)).collect();
    sequences.sort_unstable();
    let read = |sequence| {
        let file = format::name(sequence);
        let snapshot = Snapshot::open(disk, &file, generation, sequence).and_then(Snapshot::check);
        (file, snapshot)
    };
    Ok(sequences.into_iter().map(read).collect())
}

/// The positions of all snapshots of the journal `generation` whose header is sound, oldest first. The
/// journal is needed from the first of them on: it may be the one to fall back to.
pub fn positions(disk: &dyn Disk, generation: u128) -> Result<Vec<FramePosition>, SnapshotError> {
    let names = disk.list().map_err(SnapshotError::io("list", "the data folder"))?;
    let mut positions: Vec<FramePosition> = names
        .iter()
        .filter_map(|name| Snapshot::open(disk, name, generation, format::sequence(name)?).ok())
        .map(|snapshot| snapshot.at())
        .collect();
    positions.sort_unstable_by_key(|position| position.sequence);
    Ok(positions)
}

impl Snapshot {
    /// The cursor of the first frame the snapshot does not contain: where recovery starts.
    pub fn at(&self) -> FramePosition {
        self.header.at
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// The parts in the order they were written, one in memory at a time.
    pub fn parts(&self) -> impl Iterator<Item = Result<Vec<u8>, SnapshotError>> + '_ {
        let mut cursor = Some((HEADER_BYTES as u64, 0));
        std::iter::from_fn(move || {
            let (at, index) = cursor.take()?;
            let mut payload = Vec::new();
            match self.part(at, index, &mut payload) {
                Ok(next) => {
                    cursor = Some((next?, index + 1));
                    Some(Ok(payload))
                }
                Err(error) => Some(Err(error)),
            }
        })
    }

    fn open(disk: &dyn Disk, name: &str, generation: u128, sequence: u64) -> Result<Self, SnapshotError> {
        let file = disk.open(name).map_err(SnapshotError::io("open", name))?;
        let mut bytes = [0; HEADER_BYTES];
        read_exactly(&*file, &mut bytes, 0).map_err(SnapshotError::io("read", name))?;
        let damaged = |reason| SnapshotError::Damaged { file: name.to_owned(), at: 0, reason };
        let header = Header::decode(&bytes).map_err(damaged)?;
        if header.generation != generation {
            return Err(damaged("it belongs to another journal"));
        }
        if header.at.sequence != sequence {
            return Err(damaged("it carries the name of another one"));
        }
        Ok(Self { name: name.to_owned(), file, header })
    }

    /// Reads everything once, for a reader cannot fall back after half of it was used.
    fn check(self) -> Result<Self, SnapshotError> {
        let (mut at, mut index) = (HEADER_BYTES as u64, 0);
        let mut payload = Vec::new();
        while let Some(next) = self.part(at, index, &mut payload)? {
            (at, index) = (next, index + 1);
        }
        let bytes = self.file.len().map_err(SnapshotError::io("read", &self.name))?;
        if bytes != at + PART_HEADER_BYTES as u64 {
            return Err(self.damaged(at, "something follows its trailer"));
        }
        Ok(self)
    }

    /// Reads part `index` at `at` into `payload`; returns where the next one starts, `None` at the trailer.
    fn part(&self, at: u64, index: u32, payload: &mut Vec<u8>) -> Result<Option<u64>, SnapshotError> {
        let failed = |error| SnapshotError::io("read", &self.name)(error);
        let mut header = [0; PART_HEADER_BYTES];
        read_exactly(&*self.file, &mut header, at).map_err(failed)?;
        let len = u32::from_le_bytes([header[0], header[1], header[2], header[3]]);
        payload.clear();
        if len != TRAILER_MARK {
            if len as usize > MAX_PART_BYTES {
                return Err(self.damaged(at, "the length of a part is impossible"));
            }
            payload.resize(len as usize, 0);
            read_exactly(&*self.file, payload, at + PART_HEADER_BYTES as u64).map_err(failed)?;
        }
        if header != self.header.part(len, index, payload) {
            return Err(self.damaged(at, "a checksum or the number of a part is wrong"));
        }
        Ok((len != TRAILER_MARK).then_some(at + PART_HEADER_BYTES as u64 + u64::from(len)))
    }

    fn damaged(&self, at: u64, reason: &'static str) -> SnapshotError {
        SnapshotError::Damaged { file: self.name.clone(), at, reason }
    }
}
