//! Real files in one folder, held by one process at a time.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{Disk, DiskFile};

/// Its content never matters; the lock on it does, and the system drops that when the process ends.
const LOCK_NAME: &str = "lock";

/// A folder of real files. While it lives, no other `FolderDisk::open` of the folder succeeds.
#[derive(Debug)]
pub struct FolderDisk {
    path: PathBuf,
    /// Open for fsync: names are made durable through the folder, not through the files.
    folder: File,
    /// `None` for a read-only disk, which neither locks nor writes.
    lock: Option<File>,
}

#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    #[error(
        "the data folder {} is in use by another process; stop that process, or give this one another data folder",
        path.display()
    )]
    InUse { path: PathBuf },
    #[error("cannot open the data folder {}: {source}; check that it exists and that this user may write to it", path.display())]
    Io { path: PathBuf, source: io::Error },
}

impl FolderDisk {
    /// Opens the folder for reading and writing, creating it if needed, and locks it.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, FolderError> {
        let path = path.as_ref();
        let failed = |source| FolderError::Io { path: path.to_owned(), source };
        if !path.is_dir() {
            fs::create_dir_all(path).map_err(failed)?;
            if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
                File::open(parent).and_then(|parent| parent.sync_all()).map_err(failed)?;
            }
        }
        let folder = File::open(path).map_err(failed)?;
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path.join(LOCK_NAME))
            .map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { path: path.to_owned(), folder, lock: Some(lock) }),
            Err(TryLockError::WouldBlock) => Err(FolderError::InUse { path: path.to_owned() }),
            Err(TryLockError::Error(source)) => Err(failed(source)),
        }
    }

    /// Opens the folder without a lock; every change is refused. For `onsale verify`.
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<Self, FolderError> {
        let path = path.as_ref();
        let folder = File::open(path).map_err(|source| FolderError::Io { path: path.to_owned(), source })?;
        Ok(Self { path: path.to_owned(), folder, lock: None })
    }

    fn writable(&self) -> io::Result<()> {
        if self.lock.is_none() {
            return Err(io::ErrorKind::ReadOnlyFilesystem.into());
        }
        Ok(())
    }
}

impl Disk for FolderDisk {
    fn list(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            let entry = entry?;
            if !entry.file_type()?.is_file() {
                continue;
            }
            // A name that is not UTF-8 cannot be one of ours.
            if let Ok(name) = entry.file_name().into_string()
                && name != LOCK_NAME
            {
                names.push(name);
            }
        }
        Ok(names)
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        self.writable()?;
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(self.path.join(name))?;
        Ok(Arc::new(FolderFile(file)))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        let file = OpenOptions::new().read(true).write(self.lock.is_some()).open(self.path.join(name))?;
        Ok(Arc::new(FolderFile(file)))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.writable()?;
        fs::remove_file(self.path.join(name))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.writable()?;
        fs::rename(self.path.join(from), self.path.join(to))
    }

    fn sync_folder(&self) -> io::Result<()> {
        self.folder.sync_all()
    }
}

#[derive(Debug)]
struct FolderFile(File);

impl DiskFile for FolderFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn read_at(&self, buf: &mut [u8], at: u64) -> io::Result<usize> {
        self.0.read_at(buf, at)
    }

    fn write_at(&self, buf: &[u8], at: u64) -> io::Result<()> {
        self.0.write_all_at(buf, at)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync_data()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_opener_is_told_which_folder_is_in_use() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let first = FolderDisk::open(folder.path()).expect("nobody else is here");
        let error = FolderDisk::open(folder.path()).expect_err("the folder is locked");
        assert!(matches!(&error, FolderError::InUse { path } if path == folder.path()));
        assert!(error.to_string().contains(&folder.path().display().to_string()));
        drop(first);
        FolderDisk::open(folder.path()).expect("the lock ends with its owner");
    }

    #[test]
    fn a_read_only_disk_needs_no_lock_and_changes_nothing() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let disk = FolderDisk::open(folder.path().join("data")).expect("it is created");
        disk.create("a").and_then(|file| file.write_at(b"one", 0)).expect("a file");
        let reader = FolderDisk::open_read_only(folder.path().join("data")).expect("no lock taken");
        assert_eq!(reader.list().expect("names"), ["a"]);
        assert!(reader.create("b").is_err());
        assert!(reader.remove("a").is_err());
        assert!(reader.rename("a", "b").is_err());
        let file = reader.open("a").expect("readable");
        assert!(file.write_at(b"two", 0).is_err());
        let mut buf = [0; 8];
        assert_eq!(super::super::read_up_to(&*file, &mut buf, 0).expect("bytes"), 3);
        assert_eq!(&buf[..3], b"one");
    }

    #[test]
    fn create_refuses_a_name_that_is_taken() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let disk = FolderDisk::open(folder.path()).expect("a disk");
        disk.create("a").expect("free");
        assert_eq!(disk.create("a").expect_err("taken").kind(), io::ErrorKind::AlreadyExists);
    }
}
