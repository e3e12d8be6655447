//! The feed of changes: what was changed is numbered in the transaction that changes it, and every server reads what it has
//! not seen. Whoever changes something that servers remember calls [`record`] in the same transaction, as its last step:
//! others who change something wait from there to the commit.

use std::sync::Arc;

use onsale_sql::{Query, Row, Sql, SqlError, Tx, query};

static NEXT: Query = query!("counters/next");
static RECORD: Query = query!("changes/record");
static READ: Query = query!("changes/read");
static CLEAN: Query = query!("changes/clean");

/// Changes that are read at once.
const READ_MAX: usize = 1_000;
/// How long they stay. A server reads them four times a second; one that could not for an hour begins anew.
const KEPT_MS: i64 = 3_600_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SubjectKind {
    /// `key_…`
    Key,
    /// `usr_…`: their roles, their password, or all of their sessions.
    User,
    /// `ses_…`: this one alone.
    Session,
    /// A tenant's number.
    Tenant,
    /// The name of a host.
    Host,
}

impl SubjectKind {
    const ALL: [SubjectKind; 5] =
        [SubjectKind::Key, SubjectKind::User, SubjectKind::Session, SubjectKind::Tenant, SubjectKind::Host];

    fn as_str(self) -> &'static str {
        match self {
            SubjectKind::Key => "key",
            SubjectKind::User => "user",
            SubjectKind::Session => "session",
            SubjectKind::Tenant => "tenant",
            SubjectKind::Host => "host",
        }
    }
}

/// What servers remember things by, and forget them by.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Subject {
    pub kind: SubjectKind,
    pub id: Arc<str>,
}

impl Subject {
    pub fn new(kind: SubjectKind, id: &str) -> Subject {
        Subject { kind, id: id.into() }
    }
}

/// Notes a change in the transaction that makes it.
pub async fn record(tx: &mut Tx, subject: &Subject, now_ms: i64) -> Result<(), SqlError> {
    let number = next_number(tx, "change").await?;
    let row = [number.into(), now_ms.into(), subject.kind.as_str().into(), (&*subject.id).into()];
    tx.execute(&RECORD, &row).await.map(drop)
}

/// A number that grows without gaps, also over servers.
pub(crate) async fn next_number(tx: &mut Tx, counter: &'static str) -> Result<i64, SqlError> {
    let rows = tx.query(&NEXT, &[counter.into()]).await?;
    rows.first()
        .map_or_else(|| Err(SqlError::Damaged(format!("the counter {counter} is gone"))), |row| row.int(0))
}

/// What was changed after a number.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Changes {
    /// The last number among these, or the one after which there are none.
    pub(crate) last: i64,
    /// `None`: more than this may have been changed, so everything is to be forgotten.
    pub(crate) subjects: Option<Vec<Subject>>,
    /// There may be more.
    pub(crate) is_full: bool,
}

/// For a server that starts and remembers nothing.
pub(crate) async fn newest(sql: &Sql) -> Result<i64, SqlError> {
    Ok(read(sql, i64::MAX).await?.last)
}

pub(crate) async fn read(sql: &Sql, after: i64) -> Result<Changes, SqlError> {
    let rows = sql.query(&READ, &[after.into(), (READ_MAX as i64).into()]).await?;
    let Some(first) = rows.first() else {
        return Err(SqlError::Damaged("the counter of changes is gone".to_owned()));
    };
    let newest = first.int(0)?;
    let Some(first_number) = first.int_or_none(1)? else {
        // A database that was restored from a backup knows fewer than we have read.
        return Ok(Changes { last: newest, subjects: (newest == after).then(Vec::new), is_full: false });
    };
    if first_number != after + 1 {
        return Ok(Changes { last: newest, subjects: None, is_full: false });
    }
    let subjects = rows.iter().map(subject_of).collect::<Result<Option<Vec<_>>, _>>()?;
    Ok(Changes { last: after + rows.len() as i64, subjects, is_full: rows.len() == READ_MAX })
}

/// `None` if a newer program has changed something that this one does not know.
fn subject_of(row: &Row) -> Result<Option<Subject>, SqlError> {
    let kind = row.text(2)?;
    let kind = SubjectKind::ALL.into_iter().find(|known| known.as_str() == kind);
    let id = row.text(3)?;
    Ok(kind.map(|kind| Subject::new(kind, id)))
}

pub(crate) async fn clean(tx: &mut Tx, now_ms: i64) -> Result<u64, SqlError> {
    tx.execute(&CLEAN, &[(now_ms - KEPT_MS).into()]).await
}
