//! The devices on which a person is signed in, as that person sees them.

use onsale_domain::time::{Millis, is_over};
use onsale_sql::{Query, Row, Sql, SqlError, query};

use super::permission::permissions;
use crate::role::{Role, Roles};

static LIST: Query = query!("sessions/list");

#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct SessionEntry {
    /// `ses_…`
    pub session: String,
    /// `dev_…`
    pub device: String,
    pub device_type: String,
    pub device_name: String,
    /// Of the sign-in.
    pub address: String,
    pub user_agent: String,
    pub roles: Vec<&'static str>,
    pub permissions: Vec<&'static str>,
    pub is_remembered: bool,
    pub created_ms: Millis,
    /// To the minute.
    pub last_used_ms: Millis,
    pub expires_ms: Millis,
}

pub(super) async fn list(sql: &Sql, user: &str, now_ms: Millis) -> Result<Vec<SessionEntry>, SqlError> {
    let rows = sql.query(&LIST, &[user.into()]).await?;
    let mut entries = rows.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    entries.retain(|entry| !is_over(entry.expires_ms, now_ms));
    Ok(entries)
}

fn read(row: &Row) -> Result<SessionEntry, SqlError> {
    let roles = Roles::parse(row.text(11)?).ok_or_else(|| row.is_not(11, "roles"))?;
    let (last_used_ms, idle_ms) = (row.int(8)?, row.int(10)?);
    Ok(SessionEntry {
        session: row.text(0)?.to_owned(),
        device: row.text(1)?.to_owned(),
        device_type: row.text(2)?.to_owned(),
        device_name: row.text(3)?.to_owned(),
        address: row.text(4)?.to_owned(),
        user_agent: row.text(5)?.to_owned(),
        roles: roles.iter().map(Role::as_str).collect(),
        permissions: permissions(roles.scopes()),
        is_remembered: row.flag(6)?,
        created_ms: row.int(7)?,
        last_used_ms,
        expires_ms: row.int(9)?.min(last_used_ms.saturating_add(idle_ms)),
    })
}
