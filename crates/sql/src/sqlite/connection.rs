//! One connection to the file: how it is opened, what it runs, and what SQLite's own errors mean.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{ErrorCode, ToSql, params_from_iter};

use super::file;
use crate::migration::{self, Applied};
use crate::query::for_sqlite;
use crate::{Migrations, Query, Row, SqlError, Value};

/// Before this one, a database in WAL mode could be damaged when the log was reset under a reader.
const VERSION_MIN: (i32, &str) = (3_051_003, "3.51.3");
/// How long it waits for a foreign process that writes; requests wait with it.
const BUSY_MAX: Duration = Duration::from_secs(2);
/// Statements that stay prepared; all rooms together have fewer.
const PREPARED_MAX: usize = 512;

#[derive(Debug)]
pub(super) struct Connection {
    inner: rusqlite::Connection,
    /// By the address of the query's text, which is there for the whole program.
    texts: HashMap<usize, String>,
}

impl Connection {
    pub(super) fn open(path: &Path) -> Result<Connection, SqlError> {
        let version = rusqlite::version_number();
        assert!(version >= VERSION_MIN.0, "SQLite {} is linked, {} is needed", version, VERSION_MIN.1);
        file::make_private(path)?;
        let inner = rusqlite::Connection::open(path).map_err(|error| opening(path, &error))?;
        inner.set_prepared_statement_cache_capacity(PREPARED_MAX);
        let set = || {
            inner.busy_timeout(BUSY_MAX)?;
            inner.execute_batch(
                "pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on;",
            )
        };
        set().map_err(|error| opening(path, &error))?;
        Ok(Connection { inner, texts: HashMap::new() })
    }

    pub(super) fn open_to_read(path: &Path) -> Result<Connection, SqlError> {
        let connection = Connection::open(path)?;
        connection.run("pragma query_only = on")?;
        Ok(connection)
    }

    /// Brings the tables up to date in one transaction that no other process shares.
    pub(super) fn migrate(&mut self, migrations: &'static Migrations) -> Result<(), SqlError> {
        self.run("begin exclusive")?;
        let done = self.migrate_inside(migrations).and_then(|()| self.run("commit"));
        if done.is_err() {
            self.roll_back();
        }
        done
    }

    fn migrate_inside(&mut self, migrations: &'static Migrations) -> Result<(), SqlError> {
        self.run(migration::CREATE)?;
        for step in migrations.missing(&self.applied()?)? {
            self.run(step.sqlite).map_err(|error| error.in_statement(step.name))?;
            let row: [&dyn ToSql; 3] = [&step.number, &migrations.name, &step.name];
            self.inner.execute(&for_sqlite(migration::WRITE), row).map_err(|error| meaning(&error))?;
        }
        Ok(())
    }

    /// The schema of the file, if this program would have to bring it up to date.
    pub(super) fn older_than(&self, migrations: &'static Migrations) -> Result<Option<i64>, SqlError> {
        let exists = "select count(*) from sqlite_schema where name = 'migration'";
        let tables: i64 =
            self.inner.query_row(exists, [], |row| row.get(0)).map_err(|error| meaning(&error))?;
        let applied = if tables == 0 { Vec::new() } else { self.applied()? };
        let missing = migrations.missing(&applied)?;
        Ok((tables == 0 || !missing.is_empty()).then_some(applied.len() as i64))
    }

    fn applied(&self) -> Result<Vec<Applied>, SqlError> {
        let read = || {
            let mut statement = self.inner.prepare(migration::READ)?;
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
            rows.collect::<Result<Vec<Applied>, _>>()
        };
        read().map_err(|error: rusqlite::Error| meaning(&error))
    }

    pub(super) fn run(&self, text: &str) -> Result<(), SqlError> {
        self.inner.execute_batch(text).map_err(|error| meaning(&error))
    }

    /// Nothing is left to do about a rollback that fails: SQLite rolls back by itself when the connection ends.
    pub(super) fn roll_back(&self) {
        if !self.inner.is_autocommit() {
            let _ = self.inner.execute_batch("rollback");
        }
    }

    pub(super) fn is_in_transaction(&self) -> bool {
        !self.inner.is_autocommit()
    }

    pub(super) fn query(&mut self, query: &'static Query, params: &[Value]) -> Result<Vec<Row>, SqlError> {
        let text = text_of(&mut self.texts, query);
        let run = || {
            let mut statement = self.inner.prepare_cached(text)?;
            let columns = statement.column_count();
            let mut rows = statement.query(params_from_iter(params))?;
            let mut answer = Vec::new();
            while let Some(row) = rows.next()? {
                let values = (0..columns).map(|column| Ok(value_of(row.get_ref(column)?)));
                let values = values.collect::<Result<Vec<_>, rusqlite::Error>>()?;
                answer.push(Row { query: query.name, values });
            }
            Ok(answer)
        };
        run().map_err(|error: rusqlite::Error| meaning(&error).in_statement(query.name))
    }

    pub(super) fn execute(&mut self, query: &'static Query, params: &[Value]) -> Result<u64, SqlError> {
        let text = text_of(&mut self.texts, query);
        let run = || self.inner.prepare_cached(text)?.execute(params_from_iter(params));
        run().map(|rows| rows as u64).map_err(|error| meaning(&error).in_statement(query.name))
    }

    pub(super) fn prepare(&self, text: &str) -> Result<(), SqlError> {
        self.inner.prepare(&for_sqlite(text)).map(drop).map_err(|error| meaning(&error))
    }
}

fn text_of<'a>(texts: &'a mut HashMap<usize, String>, query: &'static Query) -> &'a str {
    texts.entry(query.text.as_ptr() as usize).or_insert_with(|| for_sqlite(query.text))
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Value::Null => ValueRef::Null,
            Value::Int(number) => ValueRef::Integer(*number),
            Value::Text(text) => ValueRef::Text(text.as_bytes()),
            Value::Blob(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

fn value_of(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Int(number),
        // No column of ours holds one; whoever reads it as a number is told so.
        ValueRef::Real(number) => Value::Text(number.to_string()),
        ValueRef::Text(bytes) => Value::Text(String::from_utf8_lossy(bytes).into_owned()),
        ValueRef::Blob(bytes) => Value::Blob(bytes.to_vec()),
    }
}

fn opening(path: &Path, error: &rusqlite::Error) -> SqlError {
    let error = meaning(error);
    match &error {
        SqlError::Configuration(what) => SqlError::Configuration(format!("{}: {what}", path.display())),
        SqlError::Damaged(what) => SqlError::Damaged(format!("{}: {what}", path.display())),
        SqlError::Unavailable(_)
        | SqlError::Busy(_)
        | SqlError::Unknown(_)
        | SqlError::InUse(_)
        | SqlError::NewerSchema { .. }
        | SqlError::OlderSchema { .. }
        | SqlError::Full(_)
        | SqlError::Duplicate(_)
        | SqlError::Constraint(_)
        | SqlError::Statement(_) => error,
    }
}

pub(super) fn meaning(error: &rusqlite::Error) -> SqlError {
    let what = error.to_string();
    let Some(inner) = error.sqlite_error() else { return SqlError::Statement(what) };
    #[expect(clippy::wildcard_enum_match_arm, reason = "the list is SQLite's, and it may add to it")]
    match inner.code {
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => SqlError::Busy(what),
        ErrorCode::DiskFull => SqlError::Full(what),
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => SqlError::Damaged(what),
        ErrorCode::SystemIoFailure | ErrorCode::OutOfMemory | ErrorCode::FileLockingProtocolFailed => {
            SqlError::Unavailable(what)
        }
        ErrorCode::CannotOpen | ErrorCode::PermissionDenied | ErrorCode::ReadOnly => {
            SqlError::Configuration(format!("{what}: make the folder, and let this user write there"))
        }
        ErrorCode::ConstraintViolation => match inner.extended_code {
            rusqlite::ffi::SQLITE_CONSTRAINT_UNIQUE | rusqlite::ffi::SQLITE_CONSTRAINT_PRIMARYKEY => {
                SqlError::Duplicate(what)
            }
            _ => SqlError::Constraint(what),
        },
        _ => SqlError::Statement(what),
    }
}
