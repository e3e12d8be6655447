//! SQLite: one thread writes, a few connections read beside it. A yes is on the disk when it is given.

mod connection;
mod file;
mod writer;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Semaphore, mpsc, oneshot};

use crate::{Migrations, Query, Row, SqlError, Value};
use connection::Connection;
use file::ServerLock;
pub(crate) use writer::SqliteTx;

/// Reads are short and answered from memory; more connections than cores only share those.
const READERS: usize = 4;
/// How many reads and how many transactions may wait. Each is a request that somebody waits for; at some thousand
/// transactions a second these are gone well within [`WAIT_MAX`].
const WAITING_READS_MAX: usize = 1_024;
const WAITING_TRANSACTIONS_MAX: usize = 256;
/// How long one of them waits for its turn before it is told that the database is busy.
const WAIT_MAX: Duration = Duration::from_secs(5);

#[derive(Clone, Debug)]
pub(crate) struct Sqlite(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    turns: mpsc::Sender<writer::Turn>,
    readers: parked::Readers,
    /// Held for life; a command that runs beside the server has none.
    _lock: Option<ServerLock>,
}

impl Sqlite {
    pub(crate) async fn open(path: PathBuf, migrations: &'static Migrations) -> Result<Sqlite, SqlError> {
        blocking(move || {
            let lock = ServerLock::take(&path)?;
            let mut writing = Connection::open(&path)?;
            writing.migrate(migrations)?;
            Sqlite::start(path, writing, Some(lock))
        })
        .await
    }

    pub(crate) async fn open_shared(
        path: PathBuf,
        migrations: &'static Migrations,
    ) -> Result<Sqlite, SqlError> {
        blocking(move || {
            let mut writing = Connection::open(&path)?;
            if let Some(found) = writing.older_than(migrations)? {
                // Tables are not changed under a server that does not know the change.
                let _lock = ServerLock::take(&path)
                    .map_err(|_| SqlError::OlderSchema { found, needed: migrations.list.len() as i64 })?;
                writing.migrate(migrations)?;
            }
            Sqlite::start(path, writing, None)
        })
        .await
    }

    fn start(path: PathBuf, writing: Connection, lock: Option<ServerLock>) -> Result<Sqlite, SqlError> {
        let readers = (0..READERS).map(|_| Connection::open_to_read(&path)).collect::<Result<Vec<_>, _>>()?;
        let (turns, waiting) = mpsc::channel(WAITING_TRANSACTIONS_MAX);
        writer::start(writing, waiting)?;
        Ok(Sqlite(Arc::new(Shared { turns, readers: parked::Readers::new(readers), _lock: lock })))
    }

    pub(crate) async fn query(&self, query: &'static Query, params: &[Value]) -> Result<Vec<Row>, SqlError> {
        let params = params.to_vec();
        let shared = Arc::clone(&self.0);
        shared.readers.wait().await?;
        // From here on the thread gives the connection back, also if nobody waits any more.
        blocking(move || shared.readers.with(|connection| connection.query(query, &params))).await
    }

    pub(crate) async fn begin(&self) -> Result<SqliteTx, SqlError> {
        let (ready, answer) = oneshot::channel();
        self.0.turns.try_send(writer::Turn { ready }).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => {
                SqlError::Busy(format!("{WAITING_TRANSACTIONS_MAX} transactions wait already"))
            }
            mpsc::error::TrySendError::Closed(_) => writer::gone(),
        })?;
        match tokio::time::timeout(WAIT_MAX, answer).await {
            Ok(answer) => answer.unwrap_or_else(|_| Err(writer::gone())),
            Err(_) => Err(SqlError::Busy(format!("no turn to write within {} s", WAIT_MAX.as_secs()))),
        }
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, SqlError> + Send + 'static,
) -> Result<T, SqlError> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|error| Err(SqlError::Unavailable(format!("a thread ended: {error}"))))
}

/// Reading connections that nobody uses at the moment.
mod parked {
    use std::sync::{Mutex, PoisonError};

    use super::{Connection, READERS, Semaphore, SqlError, WAIT_MAX, WAITING_READS_MAX};

    #[derive(Debug)]
    pub(super) struct Readers {
        idle: Mutex<Vec<Connection>>,
        free: Semaphore,
        /// Places for those who wait.
        waiting: Semaphore,
    }

    impl Readers {
        pub(super) fn new(idle: Vec<Connection>) -> Readers {
            Readers {
                idle: Mutex::new(idle),
                free: Semaphore::new(READERS),
                waiting: Semaphore::new(WAITING_READS_MAX),
            }
        }

        /// Waits for a connection; whoever has waited calls `with`.
        pub(super) async fn wait(&self) -> Result<(), SqlError> {
            let busy = |what: String| SqlError::Busy(what);
            let _place = self
                .waiting
                .try_acquire()
                .map_err(|_| busy(format!("{WAITING_READS_MAX} reads wait already")))?;
            let permit = tokio::time::timeout(WAIT_MAX, self.free.acquire()).await;
            match permit {
                Ok(Ok(permit)) => {
                    permit.forget();
                    Ok(())
                }
                Ok(Err(_)) | Err(_) => Err(busy(format!("no turn to read within {} s", WAIT_MAX.as_secs()))),
            }
        }

        pub(super) fn with<T>(
            &self,
            read: impl FnOnce(&mut Connection) -> Result<T, SqlError>,
        ) -> Result<T, SqlError> {
            let taken = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let answer = match taken {
                Some(mut connection) => {
                    let answer = read(&mut connection);
                    self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
                    answer
                }
                None => Err(SqlError::Unavailable("a reading connection was lost".to_owned())),
            };
            self.free.add_permits(1);
            answer
        }
    }
}
