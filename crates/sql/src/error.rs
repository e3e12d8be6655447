//! What goes wrong with a database, by what its caller can do about it. Each message says what to do next.

use thiserror::Error;

#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SqlError {
    /// It cannot be reached; nothing was done.
    #[error("the database cannot be reached: {0}; see that it runs, the caller may try again")]
    Unavailable(String),
    /// Others have it, or too many want it at once; nothing was done.
    #[error("the database is busy: {0}; try again in a moment")]
    Busy(String),
    /// The answer to a commit was lost. It may have been done, and is not reported as not done.
    #[error("the answer to a commit was lost: {0}; look whether it was done before doing it again")]
    Unknown(String),
    #[error(
        "another server uses {0}: stop it, give this one a data folder of its own, or use PostgreSQL for both"
    )]
    InUse(String),
    #[error(
        "the database has schema {found}, this program knows {known}: start the newer program, or restore a backup"
    )]
    NewerSchema { found: i64, known: i64 },
    #[error(
        "a running server has schema {found}, this program needs {needed}: \
         use the server's own program, or stop it first"
    )]
    OlderSchema { found: i64, needed: i64 },
    #[error("no space is left for the database: {0}; free some, nothing was changed")]
    Full(String),
    #[error("the database is damaged: {0}; stop the server and restore a backup")]
    Damaged(String),
    /// Wrong password, missing database, missing rights: the message names which.
    #[error("the database is not set up: {0}")]
    Configuration(String),
    /// Two rows would have the same key. Usually an answer to somebody, not a fault.
    #[error("{0} exists already")]
    Duplicate(String),
    /// A reference to nothing, or a value that the table forbids.
    #[error("the database refuses the row: {0}; this is a fault of the program, please report it")]
    Constraint(String),
    #[error("a statement is wrong: {0}; this is a fault of the program, please report it")]
    Statement(String),
}

impl SqlError {
    /// Whether nothing was done and the same may work in a moment.
    pub fn is_retryable(&self) -> bool {
        match self {
            SqlError::Unavailable(_) | SqlError::Busy(_) => true,
            SqlError::Unknown(_)
            | SqlError::InUse(_)
            | SqlError::NewerSchema { .. }
            | SqlError::OlderSchema { .. }
            | SqlError::Full(_)
            | SqlError::Damaged(_)
            | SqlError::Configuration(_)
            | SqlError::Duplicate(_)
            | SqlError::Constraint(_)
            | SqlError::Statement(_) => false,
        }
    }

    pub fn is_unique_violation(&self) -> bool {
        matches!(self, SqlError::Duplicate(_))
    }

    /// With the query or the step that it comes from, where that is not the database's own trouble.
    pub(crate) fn in_statement(self, name: &str) -> SqlError {
        match self {
            SqlError::Statement(what) => SqlError::Statement(format!("{name}: {what}")),
            SqlError::Constraint(what) => SqlError::Constraint(format!("{name}: {what}")),
            // The database names the values, which may be personal.
            SqlError::Duplicate(_) => SqlError::Duplicate(format!("what {name} writes")),
            SqlError::Unavailable(_)
            | SqlError::Busy(_)
            | SqlError::Unknown(_)
            | SqlError::InUse(_)
            | SqlError::NewerSchema { .. }
            | SqlError::OlderSchema { .. }
            | SqlError::Full(_)
            | SqlError::Damaged(_)
            | SqlError::Configuration(_) => self,
        }
    }

    /// For a commit: its words may have arrived, and the answer not.
    pub(crate) fn of_commit(self) -> SqlError {
        if let SqlError::Unavailable(what) = self { SqlError::Unknown(what) } else { self }
    }
}
