//! The file beside the database that a server locks for life, so that a second one cannot open the same database.

use std::fs::{File, TryLockError};
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
        let cannot = |error: std::io::Error| {
            SqlError::Configuration(format!(
                "{} cannot be opened ({error}): make the folder, and let this user write there",
                path.display()
            ))
        };
        let file = File::options().write(true).create(true).truncate(false).open(&path).map_err(cannot)?;
        match file.try_lock() {
            Ok(()) => Ok(ServerLock { _file: file }),
            Err(TryLockError::WouldBlock) => Err(SqlError::InUse(database.display().to_string())),
            Err(TryLockError::Error(error)) => Err(cannot(error)),
        }
    }
}

fn beside(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(".lock");
    PathBuf::from(name)
}
