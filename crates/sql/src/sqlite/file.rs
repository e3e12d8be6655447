//! The database's file, for its user alone, and the file beside it that a server locks for life, so that a second one cannot
//! open the same database.

use std::fs::{File, TryLockError};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::SqlError;

/// The system forgets it with the process, however that ends.
#[derive(Debug)]
pub(super) struct ServerLock {
    _file: File,
}

impl ServerLock {
    pub(super) fn take(database: &Path) -> Result<ServerLock, SqlError> {
        let path = beside(database);
        let file = open(&path)?;
        match file.try_lock() {
            Ok(()) => Ok(ServerLock { _file: file }),
            Err(TryLockError::WouldBlock) => Err(SqlError::InUse(database.display().to_string())),
            Err(TryLockError::Error(error)) => Err(cannot(&path, &error)),
        }
    }
}

/// Hashes of secrets and personal data stand in it. The files that SQLite makes beside it get the same rights.
pub(super) fn make_private(database: &Path) -> Result<(), SqlError> {
    if database.exists() { Ok(()) } else { open(database).map(drop) }
}

fn open(path: &Path) -> Result<File, SqlError> {
    let mut options = File::options();
    options.write(true).create(true).truncate(false).mode(0o600);
    options.open(path).map_err(|error| cannot(path, &error))
}

fn cannot(path: &Path, error: &std::io::Error) -> SqlError {
    let path = path.display();
    SqlError::Configuration(format!(
        "{path} cannot be opened ({error}): make the folder, and let this user write there"
    ))
}

fn beside(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(".lock");
    PathBuf::from(name)
}
