//! Gives a session another token. The new one is made from the old one and a salt that the server keeps with the old one's
//! hash, so the same question has the same answer as long as the old token may still be on its way.

use onsale_domain::time::Millis;
use onsale_sql::{Query, Sql, SqlError, Tx, query};

use super::find::{find, is_reused};
use crate::accounts::{Failure, Refusal};
use crate::context::Context;
use crate::notes;
use crate::random;
use crate::secrets::{Secret, SecretKind};

static LOCK: Query = query!("sessions/lock");
static SET_TOKEN: Query = query!("sessions/set_token");
static RETIRE: Query = query!("sessions/retire");
static FIND_RETIRED: Query = query!("sessions/find_retired");
static FORGET_OLDEST_RETIRED: Query = query!("sessions/forget_oldest_retired");

/// Tokens of one session that are recognised when they come back. An older one is simply unknown.
const RETIRED_MAX: i64 = 64;

pub(super) async fn rotate(sql: &Sql, token: &Secret, context: &Context<'_>) -> Result<Secret, Failure> {
    let old = token.hash();
    let found = find(sql, &old, context.now_ms).await?.filter(|found| found.tenant == context.tenant);
    let Some(found) = found else { return Err(Refusal::SessionUnknown.into()) };
    let id = &*found.session;
    let mut tx = sql.begin().await?;
    let locked = tx.query(&LOCK, &[id.into()]).await?;
    let Some(row) = locked.first() else { return Err(Refusal::SessionUnknown.into()) };
    let current = row.blob(0)?;
    if current == old {
        let salt = random::bits().to_be_bytes();
        let next = token.next(&salt);
        swap(&mut tx, id, &old, &next, &salt, context.now_ms).await?;
        notes::changed_session(&mut tx, id, context.now_ms).await?;
        tx.commit().await?;
        return Ok(next);
    }
    // Somebody was quicker: most often the same program, which did not get the answer.
    let retired = tx.query(&FIND_RETIRED, &[old.into()]).await?;
    let Some(row) = retired.first() else { return Err(Refusal::SessionUnknown.into()) };
    let next = token.next(row.blob(1)?);
    let may_have_it = !is_reused(row.int(2)?, context.now_ms) && current == next.hash();
    if may_have_it { Ok(next) } else { Err(Refusal::TokenRotated.into()) }
}

/// For who has just shown the password: a token that has nothing to do with the one before. `None`: the session is over.
pub(crate) async fn replace_token(
    tx: &mut Tx,
    session: &str,
    now_ms: Millis,
) -> Result<Option<Secret>, SqlError> {
    let locked = tx.query(&LOCK, &[session.into()]).await?;
    let Some(row) = locked.first() else { return Ok(None) };
    let old: [u8; 32] = row.blob(0)?.try_into().map_err(|_| row.is_not(0, "a hash"))?;
    let next = Secret::random(SecretKind::Session);
    // With this salt nobody makes the next token from the old one.
    swap(tx, session, &old, &next, &random::bits().to_be_bytes(), now_ms).await?;
    Ok(Some(next))
}

async fn swap(
    tx: &mut Tx,
    session: &str,
    old: &[u8; 32],
    next: &Secret,
    salt: &[u8; 16],
    now_ms: Millis,
) -> Result<(), SqlError> {
    tx.execute(&SET_TOKEN, &[session.into(), old.into(), next.hash().into()]).await?;
    tx.execute(&RETIRE, &[old.into(), session.into(), salt.into(), now_ms.into()]).await?;
    tx.execute(&FORGET_OLDEST_RETIRED, &[session.into(), RETIRED_MAX.into()]).await.map(drop)
}
