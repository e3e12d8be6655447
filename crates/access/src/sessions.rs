//! Sessions: who is signed in on which device. The directory finds them here, people list and end them here; accounts
//! begin them. A token is rotated on request, and one that comes back after its rotation ends the session.

mod device;
mod end;
mod find;
mod list;
mod permission;
mod rotate;
mod start;

use onsale_domain::time::Millis;
use onsale_sql::{Query, Sql, query};

use crate::accounts::{Failure, Refusal};
use crate::context::Context;
use crate::directory::{FoundSession, SessionFuture, SessionUse};
use crate::notes::{self, Action};
use crate::once::{self, Begun};
use crate::secrets::Secret;
pub use device::{Device, KnownDevice};
pub(crate) use device::{forget_all as forget_devices, known as known_device};
pub(crate) use end::{end_all_in, end_in};
pub use list::SessionEntry;
pub use permission::permissions;
pub(crate) use rotate::replace_token;
pub use start::SessionStarted;
pub(crate) use start::{NewSession, start};

static NOTE_USE: Query = query!("sessions/note_use");

const MINUTE_MS: i64 = 60_000;
const DAY_MS: i64 = 24 * 60 * MINUTE_MS;
/// A person's devices; signing in on one more ends the session that was not used for longest.
pub const SESSIONS_MAX: usize = 20;
/// A rotated token still opens its session for this long: requests that were on their way carry it.
pub const ROTATION_GRACE_MS: i64 = 10_000;
/// Writing each use of each session down would be a write for every request.
const USE_NOTED_MS: i64 = MINUTE_MS;
/// Uses that are written in one transaction; others wait for it.
const USES_AT_ONCE: usize = 500;

/// How long sessions live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionRules {
    /// From the sign-in on, however often it is used.
    pub absolute_ms: i64,
    /// Without a use.
    pub idle_ms: i64,
    /// The same with "remember me".
    pub remembered_idle_ms: i64,
}

impl Default for SessionRules {
    fn default() -> SessionRules {
        SessionRules { absolute_ms: 30 * DAY_MS, idle_ms: DAY_MS, remembered_idle_ms: 30 * DAY_MS }
    }
}

impl SessionRules {
    /// For the configuration: why these cannot be used, or `None` if they can.
    pub fn problem(self) -> Option<&'static str> {
        let fits = |idle_ms: i64| (30 * MINUTE_MS..=30 * DAY_MS).contains(&idle_ms);
        if !fits(self.idle_ms) || !fits(self.remembered_idle_ms) {
            return Some("an unused session ends after 30 minutes to 30 days");
        }
        (!(30 * MINUTE_MS..=30 * DAY_MS).contains(&self.absolute_ms))
            .then_some("a session lives at most 30 days")
    }
}

#[derive(Clone, Debug)]
pub struct Sessions {
    sql: Sql,
}

impl Sessions {
    pub fn new(sql: Sql) -> Sessions {
        Sessions { sql }
    }

    /// Gives the holder of a token another one. Asked again within ten seconds it gives the same again, so a lost
    /// answer costs nothing; later it ends the session.
    pub async fn rotate(&self, token: &Secret, context: &Context<'_>) -> Result<Secret, Failure> {
        rotate::rotate(&self.sql, token, context).await
    }

    /// The devices on which a person is signed in, the last used first.
    pub async fn list(&self, user: &str, now_ms: Millis) -> Result<Vec<SessionEntry>, Failure> {
        Ok(list::list(&self.sql, user, now_ms).await?)
    }

    /// Ends one session of this person; also signing out.
    pub async fn end(&self, user: &str, session: &str, context: &Context<'_>) -> Result<(), Failure> {
        let mut tx = match once::begin(&self.sql, context).await? {
            Begun::New(tx) => tx,
            Begun::Done(answer) => return Ok(answer),
        };
        if !end_in(&mut tx, user, session).await? {
            return Err(Refusal::SessionUnknown.into());
        }
        notes::audit(&mut tx, user, Action::SignedOut, session, context).await?;
        notes::changed_session(&mut tx, session, context.now_ms).await?;
        once::finish(tx, context, &()).await
    }

    /// Ends all sessions of a person but this one; with `None`, all. Returns how many.
    pub async fn end_all(
        &self,
        user: &str,
        by: &str,
        except: Option<&str>,
        context: &Context<'_>,
    ) -> Result<usize, Failure> {
        let mut tx = match once::begin(&self.sql, context).await? {
            Begun::New(tx) => tx,
            Begun::Done(answer) => return Ok(answer),
        };
        let ended = end_all_in(&mut tx, user, except).await?;
        if except.is_none() {
            // Whoever ends everything may have lost a device.
            forget_devices(&mut tx, user).await?;
        }
        notes::audit(&mut tx, by, Action::SessionsEnded, user, context).await?;
        notes::changed_person(&mut tx, user, context.now_ms).await?;
        once::finish(tx, context, &ended).await?;
        Ok(ended)
    }
}

impl crate::directory::Sessions for Sessions {
    fn find<'a>(&'a self, token_hash: &'a [u8; 32], now_ms: i64) -> SessionFuture<'a, Option<FoundSession>> {
        Box::pin(find::find(&self.sql, token_hash, now_ms))
    }

    /// A clock that went back notes nothing: what is noted only grows.
    fn note_uses<'a>(&'a self, uses: &'a [SessionUse]) -> SessionFuture<'a, ()> {
        Box::pin(async move {
            for some in uses.chunks(USES_AT_ONCE) {
                let mut tx = self.sql.begin().await?;
                for one in some {
                    let before = (one.used_ms - USE_NOTED_MS).into();
                    tx.execute(&NOTE_USE, &[(&*one.session).into(), one.used_ms.into(), before]).await?;
                }
                tx.commit().await?;
            }
            Ok(())
        })
    }
}
