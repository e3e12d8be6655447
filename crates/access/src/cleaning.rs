//! Forgets what is over, a little in each transaction, so that nobody waits long for it. Several servers may do it at once.

use onsale_sql::{Sql, SqlError};

use crate::{answers, audit, changes, keys};

/// Transactions of one round; what is left over waits for the next one.
const TRANSACTIONS_MAX: usize = 50;

/// Returns how many rows are gone.
pub async fn clean(sql: &Sql, now_ms: i64) -> Result<u64, SqlError> {
    let mut gone = 0;
    for _ in 0..TRANSACTIONS_MAX {
        let mut tx = sql.begin().await?;
        let answers = answers::clean(&mut tx, now_ms).await?;
        let entries = audit::clean(&mut tx, now_ms).await?;
        let changes = changes::clean(&mut tx, now_ms).await?;
        let keys = keys::clean(&mut tx, now_ms).await?;
        tx.commit().await?;
        gone += answers + entries + changes + keys;
        // As long as one of them has filled its share, it has more.
        if answers < answers::CLEANED_MAX as u64 && entries < audit::CLEANED_MAX as u64 {
            break;
        }
    }
    Ok(gone)
}
