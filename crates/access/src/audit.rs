//! The audit trail: security events and what staff did, who and from where. Ids only, no secret and no text of a body.

use onsale_domain::Tenant;
use onsale_sql::{Query, Row, Sql, SqlError, Tx, query};

use crate::tenants::{PAGE_MAX, read_tenant};

static APPEND: Query = query!("audit/append");
static LIST: Query = query!("audit/list");
static CLEAN_OLD: Query = query!("audit/clean_old");
static CLEAN_MANY: Query = query!("audit/clean_many");

/// How long an entry is kept: a year, and time to look back on it.
const KEPT_MS: i64 = 400 * 24 * 3_600_000;
/// How many are kept: some 300 MB. A flood of failed sign-ins pushes out the oldest, and never fills the disk.
const KEPT_MAX: i64 = 1_000_000;
/// Rows that are deleted in one transaction, so that nobody waits long for it.
pub(crate) const CLEANED_MAX: i64 = 1_000;
/// Longer values are cut: an entry is written whatever a stranger has sent.
const FIELD_CHARS_MAX: usize = 200;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub at_ms: i64,
    pub tenant: Tenant,
    /// `usr_…`, `key_…`, `cli`, or `nobody`.
    pub who: String,
    /// What was done: `key_revoked`, `sign_in_failed`.
    pub action: String,
    /// To whom or to what.
    pub subject: String,
    /// Of the peer, if it came over a network.
    pub address: String,
    pub request: String,
}

/// In the transaction of what it tells, so that neither is there without the other.
pub async fn append(tx: &mut Tx, entry: &Entry) -> Result<(), SqlError> {
    let row = [
        entry.at_ms.into(),
        entry.tenant.number().into(),
        short(&entry.who).into(),
        short(&entry.action).into(),
        short(&entry.subject).into(),
        short(&entry.address).into(),
        short(&entry.request).into(),
    ];
    tx.execute(&APPEND, &row).await.map(drop)
}

/// On its own: something that was refused.
pub async fn note(sql: &Sql, entry: &Entry) -> Result<(), SqlError> {
    let mut tx = sql.begin().await?;
    append(&mut tx, entry).await?;
    tx.commit().await
}

/// The newest first, each with its number; `before` is the last number of the page before.
pub async fn list(
    sql: &Sql,
    tenant: Tenant,
    before: Option<i64>,
    limit: usize,
) -> Result<Vec<(i64, Entry)>, SqlError> {
    let page = (limit.min(PAGE_MAX) as i64).into();
    let rows = sql.query(&LIST, &[tenant.number().into(), before.unwrap_or(i64::MAX).into(), page]).await?;
    rows.iter().map(read).collect()
}

fn read(row: &Row) -> Result<(i64, Entry), SqlError> {
    let text = |column| row.text(column).map(str::to_owned);
    let entry = Entry {
        at_ms: row.int(1)?,
        tenant: read_tenant(row, 2)?,
        who: text(3)?,
        action: text(4)?,
        subject: text(5)?,
        address: text(6)?,
        request: text(7)?,
    };
    Ok((row.int(0)?, entry))
}

/// Forgets some of what is too old or too much; returns how many.
pub async fn clean(tx: &mut Tx, now_ms: i64) -> Result<u64, SqlError> {
    clean_to(tx, now_ms - KEPT_MS, KEPT_MAX).await
}

/// The same with other bounds.
pub async fn clean_to(tx: &mut Tx, oldest_ms: i64, most: i64) -> Result<u64, SqlError> {
    let old = tx.execute(&CLEAN_OLD, &[oldest_ms.into(), CLEANED_MAX.into()]).await?;
    Ok(old + tx.execute(&CLEAN_MANY, &[most.into(), CLEANED_MAX.into()]).await?)
}

/// PostgreSQL keeps no NUL in text.
fn short(text: &str) -> String {
    text.chars().filter(|one| !one.is_control()).take(FIELD_CHARS_MAX).collect()
}
