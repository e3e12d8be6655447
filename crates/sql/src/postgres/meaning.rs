//! What PostgreSQL's errors mean to who asked, and what to do about those that come from how it was set up.

use std::error::Error;

use tokio_postgres::error::SqlState;

use crate::SqlError;

/// Before there is a connection, what has no code of PostgreSQL's is the network's, or TLS's.
pub(super) fn of_connecting(error: &tokio_postgres::Error) -> SqlError {
    match error.code() {
        Some(_) => of(error),
        None => SqlError::Unavailable(whole(error)),
    }
}

pub(super) fn of(error: &tokio_postgres::Error) -> SqlError {
    let what = whole(error);
    let Some(state) = error.code() else {
        // Values that do not fit the statement are found before anything is sent.
        let is_ours = what.contains("error serializing") || what.contains("expected");
        return if is_ours { SqlError::Statement(what) } else { SqlError::Unavailable(what) };
    };
    if *state == SqlState::UNIQUE_VIOLATION {
        return SqlError::Duplicate(what);
    }
    if let Some(advice) = advice(state) {
        return SqlError::Configuration(format!("{what}: {advice}"));
    }
    match state.code() {
        "53100" => SqlError::Full(what),
        // Taken back so that others need not wait: a deadlock, a lock or a statement that took too long, silence.
        "25P03" | "40001" | "40P01" | "55P03" | "57014" | "53000" | "53200" | "53300" | "53400" => {
            SqlError::Busy(what)
        }
        "XX001" | "XX002" => SqlError::Damaged(what),
        code => match &code[..2] {
            // It goes down, comes up, or lost its own connections.
            "57" | "08" | "58" => SqlError::Unavailable(what),
            "23" => SqlError::Constraint(what),
            _ => SqlError::Statement(what),
        },
    }
}

fn advice(state: &SqlState) -> Option<&'static str> {
    let advice = [
        (SqlState::INVALID_PASSWORD, "set the right user and password in the URL"),
        (SqlState::INVALID_AUTHORIZATION_SPECIFICATION, "make the user, or let it in by pg_hba.conf"),
        (SqlState::INVALID_CATALOG_NAME, "make the database, or name another in the URL"),
        (
            SqlState::INSUFFICIENT_PRIVILEGE,
            "let the user make its schema (`grant create on database <database> to <user>`), or make it and name the user its owner",
        ),
        (SqlState::READ_ONLY_SQL_TRANSACTION, "this is a standby: name the primary in the URL"),
    ];
    advice.into_iter().find(|(known, _)| known == state).map(|(_, advice)| advice)
}

/// With its causes: the outermost says "db error" only.
fn whole(error: &tokio_postgres::Error) -> String {
    if let Some(inner) = error.as_db_error() {
        return inner.message().to_owned();
    }
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let more = inner.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = inner.source();
    }
    text
}
