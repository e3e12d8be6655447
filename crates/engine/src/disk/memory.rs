//! A disk in memory that behaves as badly as a real one may, the same way for the same seed.
//! The simulation and the tests run on it. Reads see every write, as through a page cache;
//! a crash keeps only what was synced, plus an arbitrary part of the rest.

mod content;
mod file;
mod names;

use std::{io, sync::Arc};

use parking_lot::Mutex;

use self::{content::Content, file::MemoryFile, names::Names};
use super::{Disk, DiskFile};

/// A deterministic disk. Clones share the same files.
#[derive(Clone, Debug)]
pub struct MemoryDisk {
    state: Arc<Mutex<State>>,
}

/// What can go wrong at a chosen operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A write or length change returns EIO after an arbitrary part of it took place.
    WriteFails,
    /// A sync returns EIO. What was unsynced stays readable but an arbitrary part of it will never
    /// become durable, not even by a later sync that succeeds.
    SyncFails,
    /// The power fails during a changing operation of any kind. Everything errors until `crash`.
    Crash,
}

/// How much was asked of the disk since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    pub writes: u64,
    pub written_bytes: u64,
    pub syncs: u64,
    pub folder_syncs: u64,
    /// Every changing operation, creates, renames and removes included: the places to crash at.
    pub changes: u64,
}

type Inode = Arc<Mutex<Content>>;

#[derive(Debug)]
struct State {
    names: Names,
    random: Random,
    plan: Vec<(u64, Fault)>,
    down: bool,
    /// Handles of an earlier boot belong to a process that died; they must not reach the disk.
    boot: u64,
    capacity: Option<u64>,
    counters: Counters,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Operation {
    Write,
    Sync,
    Name,
}

impl MemoryDisk {
    /// An empty disk. The seed decides what survives a failed sync or write.
    pub fn new(seed: u64) -> Self {
        let state = State {
            names: Names::default(),
            random: Random(seed),
            plan: Vec::new(),
            down: false,
            boot: 0,
            capacity: None,
            counters: Counters::default(),
        };
        Self { state: Arc::new(Mutex::new(state)) }
    }

    /// Plans a fault: `operations` matching operations succeed from now on, the next one fails.
    pub fn fail_after(&self, operations: u64, fault: Fault) {
        self.state.lock().plan.push((operations, fault));
    }

    /// Forgets every planned fault.
    pub fn clear_faults(&self) {
        self.state.lock().plan.clear();
    }

    /// Bounds the sum of all file lengths; a write beyond it fills the disk and returns ENOSPC.
    pub fn set_capacity(&self, bytes: Option<u64>) {
        self.state.lock().capacity = bytes;
    }

    /// Bytes in all files, as `set_capacity` counts them.
    pub fn used_bytes(&self) -> u64 {
        self.state.lock().names.used_bytes()
    }

    pub fn counters(&self) -> Counters {
        self.state.lock().counters
    }

    /// True from the moment a planned crash hit until `crash` reboots the disk.
    pub fn is_down(&self) -> bool {
        self.state.lock().down
    }

    /// Pulls the plug and boots again. Each unsynced write survives whole, in part or not at all,
    /// in any combination; so do unsynced names. Open handles die, planned faults are forgotten.
    pub fn crash(&self, seed: u64) {
        let mut state = self.state.lock();
        state.names.crash(&mut Random(seed));
        state.plan.clear();
        state.down = false;
        state.boot += 1;
    }

    /// An independent copy of the files, durable and cached, without faults.
    pub fn fork(&self) -> Self {
        let state = self.state.lock();
        let copy = Self::new(state.random.0);
        copy.state.lock().names = state.names.fork();
        copy
    }

    /// Damages one byte, on the medium and in the cache. False if there is no such byte.
    pub fn flip(&self, name: &str, at: u64) -> bool {
        let state = self.state.lock();
        state.names.get(name).is_some_and(|inode| inode.lock().flip(at))
    }

    /// The bytes a reader sees.
    pub fn contents(&self, name: &str) -> Option<Vec<u8>> {
        let state = self.state.lock();
        state.names.get(name).map(|inode| inode.lock().current().to_vec())
    }
}

impl State {
    fn alive(&self, boot: u64) -> io::Result<()> {
        if self.down || self.boot != boot {
            return Err(io::Error::other("the memory disk has crashed"));
        }
        Ok(())
    }

    /// Counts a changing operation and says whether a planned fault hits it.
    fn begin(&mut self, boot: u64, operation: Operation) -> io::Result<Option<Fault>> {
        self.alive(boot)?;
        self.counters.changes += 1;
        let mut hit = None;
        self.plan.retain_mut(|(left, fault)| {
            let matches = match fault {
                Fault::WriteFails => operation == Operation::Write,
                Fault::SyncFails => operation == Operation::Sync,
                Fault::Crash => true,
            };
            if !matches {
                return true;
            }
            if *left > 0 {
                *left -= 1;
                return true;
            }
            hit = Some(*fault);
            false
        });
        if hit == Some(Fault::Crash) {
            self.down = true;
        }
        Ok(hit)
    }

    fn change_names(&mut self, change: impl FnOnce(&mut Names) -> io::Result<Inode>) -> io::Result<Inode> {
        let fault = self.begin(self.boot, Operation::Name)?;
        let inode = change(&mut self.names)?;
        finish(fault, inode)
    }

    /// How many of `wanted` bytes beyond the current end still fit on the disk.
    fn growth_allowed(&self, wanted: u64) -> u64 {
        let Some(capacity) = self.capacity else { return wanted };
        wanted.min(capacity.saturating_sub(self.names.used_bytes()))
    }
}

fn finish<T>(fault: Option<Fault>, value: T) -> io::Result<T> {
    match fault {
        None => Ok(value),
        Some(fault) => Err(io::Error::other(format!("injected fault: {fault:?}"))),
    }
}

impl Disk for MemoryDisk {
    fn list(&self) -> io::Result<Vec<String>> {
        let state = self.state.lock();
        state.alive(state.boot)?;
        Ok(state.names.list())
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        let mut state = self.state.lock();
        let inode = state.change_names(|names| names.create(name))?;
        Ok(Arc::new(MemoryFile { state: self.state.clone(), inode, boot: state.boot }))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        let state = self.state.lock();
        state.alive(state.boot)?;
        let inode = state.names.get(name).ok_or(io::ErrorKind::NotFound)?.clone();
        Ok(Arc::new(MemoryFile { state: self.state.clone(), inode, boot: state.boot }))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.state.lock().change_names(|names| names.remove(name)).map(drop)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.state.lock().change_names(|names| names.rename(from, to)).map(drop)
    }

    fn sync_folder(&self) -> io::Result<()> {
        let mut state = self.state.lock();
        let boot = state.boot;
        let fault = state.begin(boot, Operation::Sync)?;
        state.counters.folder_syncs += 1;
        if fault.is_none() {
            state.names.sync();
        }
        finish(fault, ())
    }
}

/// SplitMix64: small, seeded and the same on every machine.
#[derive(Clone, Debug)]
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn coin(&mut self) -> bool {
        self.next() & 1 == 1
    }
}

#[cfg(test)]
mod tests;
