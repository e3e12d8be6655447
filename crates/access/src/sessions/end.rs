//! Ends sessions, with all the tokens that they ever had. The caller notes the change in the same transaction.

use onsale_sql::{Query, SqlError, Tx, query};

static LIST: Query = query!("sessions/list");
static END: Query = query!("sessions/end");
static FORGET_RETIRED: Query = query!("sessions/forget_retired");

/// `false`: this person has no such session.
pub(crate) async fn end_in(tx: &mut Tx, user: &str, session: &str) -> Result<bool, SqlError> {
    let ended = tx.execute(&END, &[session.into(), user.into()]).await? == 1;
    if ended {
        tx.execute(&FORGET_RETIRED, &[session.into()]).await?;
    }
    Ok(ended)
}

/// Ends all sessions of a person but one, and returns how many.
pub(crate) async fn end_all_in(tx: &mut Tx, user: &str, except: Option<&str>) -> Result<usize, SqlError> {
    let mut ended = 0;
    for row in tx.query(&LIST, &[user.into()]).await? {
        let session = row.text(0)?;
        if Some(session) != except && end_in(tx, user, session).await? {
            ended += 1;
        }
    }
    Ok(ended)
}
