//! The only door to storage: a flat folder of named files.
//! The journal and the snapshots call it; nothing above them does. It knows no format.
//! Two disks exist: real files, and a memory disk that forgets what was not synced.

mod folder;
mod memory;

use std::{fmt, io, sync::Arc};

pub use folder::{FolderDisk, FolderError};
pub use memory::{Counters, Fault, MemoryDisk};

/// A folder of files. Object safe: everybody holds an `Arc<dyn Disk>`.
pub trait Disk: fmt::Debug + Send + Sync + 'static {
    /// The names of all files, in no particular order.
    fn list(&self) -> io::Result<Vec<String>>;
    /// Creates an empty file for reading and writing; fails if the name is taken.
    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>>;
    fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>>;
    fn remove(&self, name: &str) -> io::Result<()>;
    /// Replaces `to` if it exists.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;
    /// Makes every earlier create, rename and remove durable.
    fn sync_folder(&self) -> io::Result<()>;
}

/// One open file. Positions are explicit, so readers and the writer share a handle without a lock.
#[expect(
    clippy::len_without_is_empty,
    reason = "a length that can fail has no use for an emptiness that can fail"
)]
pub trait DiskFile: fmt::Debug + Send + Sync {
    fn len(&self) -> io::Result<u64>;
    /// May return less than asked for; zero means the end of the file.
    fn read_at(&self, buf: &mut [u8], at: u64) -> io::Result<usize>;
    /// Writes all of `buf` or fails.
    fn write_at(&self, buf: &[u8], at: u64) -> io::Result<()>;
    fn set_len(&self, len: u64) -> io::Result<()>;
    /// Makes every earlier write and length change of this file durable (`fdatasync`).
    fn sync(&self) -> io::Result<()>;
}

/// Reads until `buf` is full or the file ends; returns how much was read.
pub fn read_up_to(file: &dyn DiskFile, buf: &mut [u8], at: u64) -> io::Result<usize> {
    let mut done = 0;
    while done < buf.len() {
        match file.read_at(&mut buf[done..], at + done as u64) {
            Ok(0) => break,
            Ok(count) => done += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

/// Reads exactly `buf.len()` bytes or fails with `UnexpectedEof`.
pub fn read_exactly(file: &dyn DiskFile, buf: &mut [u8], at: u64) -> io::Result<()> {
    if read_up_to(file, buf, at)? < buf.len() {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(())
}
