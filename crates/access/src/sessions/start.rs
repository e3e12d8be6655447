//! Begins a session, in the transaction of the sign-in that allows it.

use onsale_domain::time::Millis;
use onsale_sql::{Query, SqlError, Tx, Value, query};

use super::device::{self, Device, KnownDevice};
use super::end::end_in;
use super::{SESSIONS_MAX, SessionRules};
use crate::context::Context;
use crate::random;
use crate::secrets::{Secret, SecretKind};

static ADD: Query = query!("sessions/add");
static LIST: Query = query!("sessions/list");
static LIST_OF_DEVICE: Query = query!("sessions/list_of_device");

/// A session to begin.
pub(crate) struct NewSession<'a> {
    pub(crate) user: &'a str,
    pub(crate) device: &'a Device,
    pub(crate) known: Option<&'a KnownDevice>,
    pub(crate) is_remembered: bool,
    /// Guests have no password, so no device of theirs is known for it.
    pub(crate) is_guest: bool,
    /// Ends with the beginning of the new one, if it is this person's: nobody goes on with a token from before.
    pub(crate) replaces: Option<&'a str>,
}

/// A session that has begun. Its secrets are nowhere else.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct SessionStarted {
    /// `usr_…`
    pub user: String,
    /// `ses_…`
    pub session: String,
    #[serde(with = "kept_session")]
    pub token: Secret,
    /// For the device to keep when the session is over; `None` if it has one.
    #[serde(with = "kept_device")]
    pub device_token: Option<Secret>,
    pub expires_ms: Millis,
    pub idle_ms: i64,
    /// Of an account that was used from other devices before.
    pub is_new_device: bool,
    /// Other servers may remember a session that has ended.
    #[serde(skip)]
    pub(crate) has_ended_others: bool,
}

/// Only an answer that is kept, sealed, has a secret as text in it; elsewhere a secret has no such form.
mod kept_session {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    use super::{Secret, SecretKind};

    pub(super) fn serialize<S: Serializer>(secret: &Secret, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&secret.text())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Secret, D::Error> {
        let text = String::deserialize(deserializer)?;
        Secret::parse(SecretKind::Session, &text).ok_or_else(|| D::Error::custom("no token of a session"))
    }
}

mod kept_device {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::{Secret, SecretKind};

    pub(super) fn serialize<S: Serializer>(
        secret: &Option<Secret>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        secret.as_ref().map(Secret::text).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Secret>, D::Error> {
        let read = |text: String| {
            Secret::parse(SecretKind::Device, &text).ok_or_else(|| D::Error::custom("no token of a device"))
        };
        Option::<String>::deserialize(deserializer)?.map(read).transpose()
    }
}

pub(crate) async fn start(
    tx: &mut Tx,
    rules: SessionRules,
    new: &NewSession<'_>,
    context: &Context<'_>,
) -> Result<SessionStarted, SqlError> {
    let now_ms = context.now_ms;
    let is_new_device = new.known.is_none() && !new.is_guest && device::has_any(tx, new.user).await?;
    let (device, device_token) = match new.is_guest {
        true => (KnownDevice { id: random::id("dev_") }, None),
        false => device::see(tx, new.known, new.user, now_ms).await?,
    };
    // One session for each device: the last sign-in there counts.
    let mut has_ended_others = false;
    for row in tx.query(&LIST_OF_DEVICE, &[device.id.as_str().into(), new.user.into()]).await? {
        has_ended_others |= end_in(tx, new.user, row.text(0)?).await?;
    }
    if let Some(session) = new.replaces {
        has_ended_others |= end_in(tx, new.user, session).await?;
    }
    // The last used first, so those at the end make room.
    for row in tx.query(&LIST, &[new.user.into()]).await?.iter().skip(SESSIONS_MAX - 1) {
        has_ended_others |= end_in(tx, new.user, row.text(0)?).await?;
    }
    let (session, token) = (random::id("ses_"), Secret::random(SecretKind::Session));
    let idle_ms = if new.is_remembered { rules.remembered_idle_ms } else { rules.idle_ms };
    let expires_ms = now_ms + rules.absolute_ms;
    let row: [Value; 13] = [
        session.as_str().into(),
        token.hash().into(),
        context.tenant_number().into(),
        new.user.into(),
        device.id.into(),
        new.device.kind.as_str().into(),
        new.device.name.as_str().into(),
        context.address.into(),
        new.device.user_agent.as_str().into(),
        new.is_remembered.into(),
        idle_ms.into(),
        now_ms.into(),
        expires_ms.into(),
    ];
    tx.execute(&ADD, &row).await?;
    let user = new.user.to_owned();
    Ok(SessionStarted {
        user,
        session,
        token,
        device_token,
        expires_ms,
        idle_ms,
        is_new_device,
        has_ended_others,
    })
}
