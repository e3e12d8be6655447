//! The face of both databases: a handle that is cheap to clone, reads outside a transaction, and writing transactions.

use std::path::PathBuf;

use crate::postgres::{Postgres, PostgresTx};
use crate::sqlite::{Sqlite, SqliteTx};
use crate::{Migrations, Query, Row, SqlError, Value};

/// Where a room's tables are.
#[derive(Clone, PartialEq, Eq)]
pub enum Place {
    Sqlite(PathBuf),
    /// `url` as libpq has it, with `sslrootcert=<file>` where the server's certificate is not one that this machine trusts.
    Postgres {
        url: String,
        schema: String,
    },
}

/// A URL has a password in it.
impl std::fmt::Debug for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Place::Sqlite(path) => f.debug_tuple("Sqlite").field(path).finish(),
            Place::Postgres { schema, .. } => {
                f.debug_struct("Postgres").field("schema", schema).finish_non_exhaustive()
            }
        }
    }
}

#[derive(Clone, Debug)]
pub struct Sql(Base);

#[derive(Clone, Debug)]
enum Base {
    Sqlite(Sqlite),
    Postgres(Postgres),
}

impl Sql {
    /// For a server. Brings the tables up to date first. On SQLite no second server can open the same file.
    pub async fn open(place: &Place, migrations: &'static Migrations) -> Result<Sql, SqlError> {
        Ok(Sql(match place {
            Place::Sqlite(path) => Base::Sqlite(Sqlite::open(path.clone(), migrations).await?),
            Place::Postgres { url, schema } => Base::Postgres(Postgres::open(url, schema, migrations).await?),
        }))
    }

    /// For a command that runs beside the server, on the same file; it waits for no server to end.
    pub async fn open_shared(place: &Place, migrations: &'static Migrations) -> Result<Sql, SqlError> {
        match place {
            Place::Sqlite(path) => {
                Ok(Sql(Base::Sqlite(Sqlite::open_shared(path.clone(), migrations).await?)))
            }
            Place::Postgres { .. } => Sql::open(place, migrations).await,
        }
    }

    /// A read outside a transaction: it sees what is committed.
    pub async fn query(&self, query: &'static Query, params: &[Value]) -> Result<Vec<Row>, SqlError> {
        match &self.0 {
            Base::Sqlite(sqlite) => sqlite.query(query, params).await,
            Base::Postgres(postgres) => postgres.query(query, params).await,
        }
    }

    /// A writing transaction. On SQLite they run one after another, in the order in which they were begun. On PostgreSQL
    /// they run beside each other: decide by what an update or an insert changed, or read with `for update` in a line
    /// of its own.
    pub async fn begin(&self) -> Result<Tx, SqlError> {
        let base = match &self.0 {
            Base::Sqlite(sqlite) => BaseTx::Sqlite(sqlite.begin().await?),
            Base::Postgres(postgres) => BaseTx::Postgres(Box::new(postgres.begin().await?)),
        };
        Ok(Tx { base, end: None })
    }
}

/// Dropped without a commit, it is rolled back. Nothing slow belongs inside: others wait for it.
/// After an error nothing more can be done in it, on both databases: begin another.
#[derive(Debug)]
pub struct Tx {
    base: BaseTx,
    /// Why nothing more is done. PostgreSQL answers a commit after an error with a yes, and has rolled back.
    end: Option<SqlError>,
}

#[derive(Debug)]
enum BaseTx {
    Sqlite(SqliteTx),
    Postgres(Box<PostgresTx>),
}

impl Tx {
    pub async fn query(&mut self, query: &'static Query, params: &[Value]) -> Result<Vec<Row>, SqlError> {
        self.enter()?;
        let answer = match &mut self.base {
            BaseTx::Sqlite(tx) => tx.query(query, params).await,
            BaseTx::Postgres(tx) => tx.query(query, params).await,
        };
        self.leave(answer)
    }

    /// How many rows it changed.
    pub async fn execute(&mut self, query: &'static Query, params: &[Value]) -> Result<u64, SqlError> {
        self.enter()?;
        let answer = match &mut self.base {
            BaseTx::Sqlite(tx) => tx.execute(query, params).await,
            BaseTx::Postgres(tx) => tx.execute(query, params).await,
        };
        self.leave(answer)
    }

    pub async fn commit(mut self) -> Result<(), SqlError> {
        self.enter()?;
        match self.base {
            BaseTx::Sqlite(tx) => tx.commit().await,
            BaseTx::Postgres(tx) => tx.commit().await,
        }
    }

    /// Whether the database understands a statement: for [`Sql::prepare_all`].
    pub(crate) async fn prepare(&mut self, text: &str) -> Result<(), SqlError> {
        self.enter()?;
        let answer = match &mut self.base {
            BaseTx::Sqlite(tx) => tx.prepare(text).await,
            BaseTx::Postgres(tx) => tx.prepare(text).await,
        };
        self.leave(answer)
    }

    /// A caller that stops waiting in the middle of a statement does not come past here again.
    fn enter(&mut self) -> Result<(), SqlError> {
        let interrupted = SqlError::Busy("a statement of this transaction was interrupted".to_owned());
        match self.end.replace(interrupted) {
            None => Ok(()),
            Some(error) => {
                self.end = Some(error.clone());
                Err(error)
            }
        }
    }

    fn leave<T>(&mut self, answer: Result<T, SqlError>) -> Result<T, SqlError> {
        self.end = answer.as_ref().err().cloned();
        answer
    }
}
