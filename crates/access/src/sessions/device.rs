//! What is known of the device that a request comes from: what it says of itself, and whether somebody signed in from it
//! before. The second has a secret of its own, which opens nothing but outlives sessions.

use onsale_domain::time::Millis;
use onsale_sql::{Query, Sql, SqlError, Tx, query};

use super::SESSIONS_MAX;
use crate::random;
use crate::secrets::{Secret, SecretKind};

static FIND: Query = query!("devices/find");
static ADD: Query = query!("devices/add");
static SEE: Query = query!("devices/see");
static COUNT: Query = query!("devices/count");
static FORGET_OLDEST: Query = query!("devices/forget_oldest");
static FORGET_ALL: Query = query!("devices/forget_all");

/// Longer texts are cut: they are shown to their owner, and decide nothing.
const TYPE_CHARS_MAX: usize = 32;
const NAME_CHARS_MAX: usize = 64;
const USER_AGENT_CHARS_MAX: usize = 256;

/// What a device says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Device {
    /// `mobile`, `desktop`, `program` …
    pub(super) kind: String,
    /// `iPhone 15 Pro`
    pub(super) name: String,
    pub(super) user_agent: String,
}

impl Device {
    pub fn new(kind: &str, name: &str, user_agent: &str) -> Device {
        Device {
            kind: cut(kind, TYPE_CHARS_MAX),
            name: cut(name, NAME_CHARS_MAX),
            user_agent: cut(user_agent, USER_AGENT_CHARS_MAX),
        }
    }

    /// For a letter: what its reader recognises it by.
    pub(crate) fn shown(&self) -> &str {
        [&self.name, &self.kind, &self.user_agent]
            .into_iter()
            .find(|text| !text.is_empty())
            .map_or("", |text| text)
    }
}

fn cut(text: &str, chars: usize) -> String {
    text.chars().filter(|letter| !letter.is_control()).take(chars).collect()
}

/// A device that somebody signed in from with the right password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownDevice {
    /// `dev_…`
    pub id: String,
}

/// Whether this secret is of a device of this person.
pub(crate) async fn known(
    sql: &Sql,
    secret: Option<&str>,
    user: &str,
) -> Result<Option<KnownDevice>, SqlError> {
    let Some(secret) = secret.and_then(|text| Secret::parse(SecretKind::Device, text)) else {
        return Ok(None);
    };
    let rows = sql.query(&FIND, &[secret.hash().into(), user.into()]).await?;
    rows.first().map(|row| Ok(KnownDevice { id: row.text(0)?.to_owned() })).transpose()
}

/// Notes that somebody signed in from a device. A new one is given a secret.
pub(super) async fn see(
    tx: &mut Tx,
    known: Option<&KnownDevice>,
    user: &str,
    now_ms: Millis,
) -> Result<(KnownDevice, Option<Secret>), SqlError> {
    if let Some(known) = known {
        tx.execute(&SEE, &[known.id.as_str().into(), now_ms.into()]).await?;
        return Ok((known.clone(), None));
    }
    let (device, secret) = (KnownDevice { id: random::id("dev_") }, Secret::random(SecretKind::Device));
    tx.execute(&ADD, &[device.id.as_str().into(), secret.hash().into(), user.into(), now_ms.into()]).await?;
    tx.execute(&FORGET_OLDEST, &[user.into(), (SESSIONS_MAX as i64).into()]).await?;
    Ok((device, Some(secret)))
}

pub(super) async fn has_any(tx: &mut Tx, user: &str) -> Result<bool, SqlError> {
    let rows = tx.query(&COUNT, &[user.into()]).await?;
    rows.first().map_or(Ok(false), |row| row.flag(0))
}

pub(crate) async fn forget_all(tx: &mut Tx, user: &str) -> Result<(), SqlError> {
    tx.execute(&FORGET_ALL, &[user.into()]).await.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_device_says_is_cut_and_has_no_control_characters() {
        let device = Device::new("mobile\n", &"ü".repeat(100), "\0agent");
        assert_eq!((device.kind.as_str(), device.user_agent.as_str()), ("mobile", "agent"));
        assert_eq!(device.name.chars().count(), NAME_CHARS_MAX);
        assert_eq!(device.shown(), device.name);
        assert_eq!(Device::default().shown(), "");
    }
}
