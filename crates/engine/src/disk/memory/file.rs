//! An open file of the memory disk: where faults and the disk's capacity meet the bytes.

use std::{io, sync::Arc};

use parking_lot::Mutex;

use super::{Fault, Inode, Operation, State, finish};
use crate::disk::DiskFile;

#[derive(Debug)]
pub(super) struct MemoryFile {
    pub(super) state: Arc<Mutex<State>>,
    pub(super) inode: Inode,
    pub(super) boot: u64,
}

impl DiskFile for MemoryFile {
    fn len(&self) -> io::Result<u64> {
        self.state.lock().alive(self.boot)?;
        Ok(self.inode.lock().current().len() as u64)
    }

    fn read_at(&self, buf: &mut [u8], at: u64) -> io::Result<usize> {
        self.state.lock().alive(self.boot)?;
        let content = self.inode.lock();
        let rest = content.current().get(at as usize..).unwrap_or(&[]);
        let count = rest.len().min(buf.len());
        buf[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }

    fn write_at(&self, buf: &[u8], at: u64) -> io::Result<()> {
        let mut state = self.state.lock();
        let fault = state.begin(self.boot, Operation::Write)?;
        state.counters.writes += 1;
        state.counters.written_bytes += buf.len() as u64;
        let old_len = self.inode.lock().current().len() as u64;
        let growth = (at + buf.len() as u64).saturating_sub(old_len);
        let missing = growth - state.growth_allowed(growth);
        let mut fits = buf.len() - (missing as usize).min(buf.len());
        if fault == Some(Fault::WriteFails) {
            fits = state.random.below(fits as u64 + 1) as usize;
        }
        self.inode.lock().write(at, &buf[..fits]);
        finish(fault, ())?;
        if missing > 0 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut state = self.state.lock();
        let fault = state.begin(self.boot, Operation::Write)?;
        let growth = len.saturating_sub(self.inode.lock().current().len() as u64);
        if state.growth_allowed(growth) < growth {
            return Err(io::ErrorKind::StorageFull.into());
        }
        if fault != Some(Fault::WriteFails) {
            self.inode.lock().set_len(len);
        }
        finish(fault, ())
    }

    fn sync(&self) -> io::Result<()> {
        let mut state = self.state.lock();
        let fault = state.begin(self.boot, Operation::Sync)?;
        state.counters.syncs += 1;
        match fault {
            None => self.inode.lock().sync(),
            Some(Fault::SyncFails) => self.inode.lock().sync_in_part(&mut state.random),
            Some(Fault::Crash | Fault::WriteFails) => {}
        }
        finish(fault, ())
    }
}
