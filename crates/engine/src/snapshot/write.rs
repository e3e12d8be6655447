//! Writes a snapshot part by part and removes the ones it makes superfluous.

use std::{io, sync::Arc};

use super::{
    KEPT, MAX_PART_BYTES, SnapshotError,
    format::{self, Header, PART_HEADER_BYTES, TRAILER_MARK},
};
use crate::{
    disk::{Disk, DiskFile},
    journal::{FramePosition, segment::TEMPORARY},
};

/// Small parts are gathered up to this size, so that many of them do not mean many system calls.
const GATHER_BYTES: usize = 1 << 20;
/// Synced this often, so that the journal's own syncs never wait behind a whole snapshot.
const SYNC_BYTES: u64 = 8 << 20;

/// A snapshot under construction. Until `finish` it has a temporary name and counts for nothing.
#[derive(Debug)]
pub struct SnapshotWriter {
    disk: Arc<dyn Disk>,
    file: Arc<dyn DiskFile>,
    header: Header,
    temporary: String,
    gathered: Vec<u8>,
    at: u64,
    synced: u64,
    parts: u32,
}

/// Writes a whole snapshot. `at` is the cursor of the first frame it does not contain; every frame
/// before it must be durable, or the snapshot could know more than the journal.
pub fn write(
    disk: Arc<dyn Disk>,
    generation: u128,
    at: FramePosition,
    parts: impl Iterator<Item = io::Result<Vec<u8>>>,
) -> Result<(), SnapshotError> {
    let mut writer = SnapshotWriter::begin(disk, generation, at)?;
    for part in parts {
        let part = part.map_err(SnapshotError::io("collect", &writer.temporary))?;
        writer.part(&part)?;
    }
    writer.finish()
}

impl SnapshotWriter {
    pub fn begin(disk: Arc<dyn Disk>, generation: u128, at: FramePosition) -> Result<Self, SnapshotError> {
        let temporary = format::name(at.sequence) + TEMPORARY;
        match disk.remove(&temporary) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(SnapshotError::io("remove", temporary)(error));
            }
            Ok(()) | Err(_) => {}
        }
        let file = disk.create(&temporary).map_err(SnapshotError::io("create", &temporary))?;
        let header = Header { generation, at };
        let gathered = header.encode().to_vec();
        Ok(Self { disk, file, header, temporary, gathered, at: 0, synced: 0, parts: 0 })
    }

    pub fn part(&mut self, payload: &[u8]) -> Result<(), SnapshotError> {
        if payload.len() > MAX_PART_BYTES {
            return Err(SnapshotError::PartTooLarge { bytes: payload.len() });
        }
        if self.gathered.len() + PART_HEADER_BYTES + payload.len() > GATHER_BYTES {
            self.flush()?;
        }
        self.gathered.extend_from_slice(&self.header.part(payload.len() as u32, self.parts, payload));
        self.gathered.extend_from_slice(payload);
        self.parts += 1;
        Ok(())
    }

    /// Makes the snapshot durable under its final name, then removes all but the newest.
    pub fn finish(mut self) -> Result<(), SnapshotError> {
        let trailer = self.header.part(TRAILER_MARK, self.parts, &[]);
        self.gathered.extend_from_slice(&trailer);
        self.flush()?;
        self.file.sync().map_err(SnapshotError::io("sync", &self.temporary))?;
        let name = format::name(self.header.at.sequence);
        self.disk.rename(&self.temporary, &name).map_err(SnapshotError::io("rename", &self.temporary))?;
        self.disk.sync_folder().map_err(SnapshotError::io("sync the folder of", &name))?;
        remove_old(&*self.disk)
    }

    fn flush(&mut self) -> Result<(), SnapshotError> {
        let written = self.file.write_at(&self.gathered, self.at);
        written.map_err(SnapshotError::io("write", &self.temporary))?;
        self.at += self.gathered.len() as u64;
        self.gathered.clear();
        if self.at - self.synced >= SYNC_BYTES {
            self.file.sync().map_err(SnapshotError::io("sync", &self.temporary))?;
            self.synced = self.at;
        }
        Ok(())
    }
}

impl Drop for SnapshotWriter {
    /// One that was given up must not keep its space. After `finish` the name is gone already, and a
    /// failure here is made good when the journal is opened.
    fn drop(&mut self) {
        let _ = self.disk.remove(&self.temporary);
    }
}

fn remove_old(disk: &dyn Disk) -> Result<(), SnapshotError> {
    let names = disk.list().map_err(SnapshotError::io("list", "the data folder"))?;
    let mut sequences: Vec<u64> = names.iter().filter_map(|name| format::sequence(name)).collect();
    sequences.sort_unstable();
    sequences.truncate(sequences.len().saturating_sub(KEPT));
    for sequence in sequences {
        let name = format::name(sequence);
        disk.remove(&name).map_err(SnapshotError::io("remove", &name))?;
    }
    Ok(())
}
