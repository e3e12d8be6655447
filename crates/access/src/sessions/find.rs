//! Finds the session that a token opens. A token that was rotated away opens it a little longer; one that comes back
//! after that is in two hands, and nobody can tell whose: the session ends for both.

use onsale_domain::time::{Millis, is_over};
use onsale_domain::{BuyerId, Tenant};
use onsale_sql::{Query, Row, Sql, SqlError, query};

use super::ROTATION_GRACE_MS;
use super::end::end_in;
use crate::context::Context;
use crate::directory::FoundSession;
use crate::notes::{self, Action};
use crate::role::Roles;

static FIND: Query = query!("sessions/find");

/// A row, whether or not its session still lives.
struct Found {
    session: FoundSession,
    may_sign_in: bool,
    retired_ms: Option<Millis>,
}

pub(super) async fn find(
    sql: &Sql,
    token_hash: &[u8; 32],
    now_ms: Millis,
) -> Result<Option<FoundSession>, SqlError> {
    let rows = sql.query(&FIND, &[token_hash.into()]).await?;
    let Some(mut found) = rows.first().map(read).transpose()? else { return Ok(None) };
    if let Some(retired_ms) = found.retired_ms {
        if is_reused(retired_ms, now_ms) {
            end_reused(sql, &found.session, now_ms).await?;
            return Ok(None);
        }
        found.session.expires_ms = found.session.expires_ms.min(retired_ms + ROTATION_GRACE_MS);
    }
    let is_alive = found.may_sign_in && !is_over(found.session.expires_ms, now_ms);
    Ok(is_alive.then_some(found.session))
}

/// Counted both ways: servers' clocks differ a little, and a clock that went back far makes no old token good.
pub(super) fn is_reused(retired_ms: Millis, now_ms: Millis) -> bool {
    now_ms.abs_diff(retired_ms) >= ROTATION_GRACE_MS.unsigned_abs()
}

pub(super) async fn end_reused(sql: &Sql, session: &FoundSession, now_ms: Millis) -> Result<(), SqlError> {
    let (id, user) = (&*session.session, session.user.as_str());
    let mut tx = sql.begin().await?;
    if end_in(&mut tx, user, id).await? {
        // The lookup knows no peer: the directory asks for a token, not for a request.
        let context = Context { tenant: session.tenant, address: "", request_id: "", now_ms, once: None };
        notes::audit(&mut tx, user, Action::SessionTokenReused, id, &context).await?;
        notes::changed_session(&mut tx, id, now_ms).await?;
        tracing::warn!(session = id, "session {id} ended: a token that was rotated away came back");
    }
    tx.commit().await
}

fn read(row: &Row) -> Result<Found, SqlError> {
    let tenant = u32::try_from(row.int(1)?).ok().and_then(Tenant::new);
    let (idle_ms, last_used_ms, absolute_ms) = (row.int(3)?, row.int(4)?, row.int(5)?);
    let state = row.text(7)?;
    Ok(Found {
        session: FoundSession {
            tenant: tenant.ok_or_else(|| row.is_not(1, "a tenant"))?,
            user: BuyerId::parse(row.text(2)?).ok_or_else(|| row.is_not(2, "a user"))?,
            session: row.text(0)?.into(),
            roles: Roles::parse(row.text(6)?).ok_or_else(|| row.is_not(6, "roles"))?,
            is_guest: state == "guest",
            expires_ms: absolute_ms.min(last_used_ms.saturating_add(idle_ms)),
        },
        may_sign_in: state == "guest" || state == "active",
        retired_ms: row.int_or_none(8)?,
    })
}
