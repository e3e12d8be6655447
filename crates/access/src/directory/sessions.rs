//! What the directory must know of sessions, which live in a room of their own.

use std::pin::Pin;
use std::sync::Arc;

use onsale_domain::{BuyerId, Tenant};
use onsale_sql::SqlError;

use crate::role::Roles;

/// A session that is alive, as its row says.
#[derive(Clone, Debug)]
pub struct FoundSession {
    pub tenant: Tenant,
    /// `usr_…`
    pub user: BuyerId,
    /// `ses_…`
    pub session: Arc<str>,
    pub roles: Roles,
    pub is_guest: bool,
    /// The earlier of its absolute end and of its end if nobody uses it.
    pub expires_ms: i64,
}

/// When a session was last used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionUse {
    /// `ses_…`
    pub session: Arc<str>,
    pub used_ms: i64,
}

pub type SessionFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, SqlError>> + Send + 'a>>;

/// Finds sessions by the SHA-256 of their token. Who ends one, or changes what its user may do, records a change of the
/// session, or of the user ([`crate::changes::record`]), in the same transaction.
pub trait Sessions: Send + Sync {
    /// `None`: there is none, or it is over.
    fn find<'a>(&'a self, token_hash: &'a [u8; 32], now_ms: i64) -> SessionFuture<'a, Option<FoundSession>>;

    /// Writes back when they were used, at most once a minute for each. A failure costs nothing but this.
    fn note_uses<'a>(&'a self, uses: &'a [SessionUse]) -> SessionFuture<'a, ()>;
}

/// For a server without accounts.
#[derive(Clone, Copy, Debug)]
pub struct NoSessions;

impl Sessions for NoSessions {
    fn find<'a>(&'a self, _: &'a [u8; 32], _: i64) -> SessionFuture<'a, Option<FoundSession>> {
        Box::pin(async { Ok(None) })
    }

    fn note_uses<'a>(&'a self, _: &'a [SessionUse]) -> SessionFuture<'a, ()> {
        Box::pin(async { Ok(()) })
    }
}
