//! Who carries a credential: answered from memory, from SQL when it is not known, and forgotten within a second of a change.
//! While changes cannot be read, nothing that is remembered lets anybody in.

mod cache;
mod entry;
mod feed;
mod lookup;
mod memory;
mod sessions;

pub use sessions::{FoundSession, NoSessions, SessionFuture, SessionUse, Sessions};

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::time::Duration;

use onsale_domain::time::is_over;
use onsale_sql::{Sql, SqlError};
use sha2::{Digest, Sha256};
use thiserror::Error;
use tokio::time::timeout;

use crate::principal::Principal;
use crate::vouchers::Vouchers;
use crate::{changes, keys, tenants};
use cache::Cache;
use entry::{Entry, Use};
use lookup::{Found, Miss};
use memory::Memory;

/// Credentials that are remembered, some 500 bytes each.
const PEOPLE_MAX: usize = 100_000;
/// Hosts, which strangers choose.
const HOSTS_MAX: usize = 10_000;
/// Credentials that open nothing, which strangers choose as well: they push out only each other.
const DENIALS_MAX: usize = 10_000;
/// How long a no is remembered: what changes it is known within a second.
const DENIAL_MS: i64 = 1_000;
/// After this time SQL is asked again: a session that is used lives longer than when it was read.
const READ_AGAIN_MS: i64 = 600_000;
/// The longest that is looked at; buyer tokens are shorter.
const CREDENTIAL_CHARS_MAX: usize = 2_000;
/// How long a request waits for SQL: some reads, each of them a few milliseconds.
const LOOK_UP_MAX: Duration = Duration::from_secs(2);
/// Rows that are written back in one transaction.
const USES_MAX: usize = 500;

/// Why a credential opens nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Denied {
    /// Not a credential of ours: mistyped or cut off.
    #[error("the credential is mistyped or cut off")]
    Malformed,
    #[error("the credential is not known")]
    Unknown,
    #[error("the credential has expired")]
    Expired,
    #[error("the credential was revoked")]
    Revoked,
    #[error("the tenant is disabled")]
    TenantDisabled,
    /// Nobody can say at the moment; never a reason to let somebody in.
    #[error("credentials cannot be checked at the moment")]
    Unavailable,
}

/// Milliseconds since 1970 that never go back: whoever asks the directory reads the same clock.
pub type Clock = Arc<dyn Fn() -> i64 + Send + Sync>;

pub struct Directory {
    sql: Sql,
    sessions: Arc<dyn Sessions>,
    vouchers: Vouchers,
    clock: Clock,
    people: Cache<Arc<Entry>>,
    hosts: Cache<Arc<Entry>>,
    denials: Cache<(Denied, i64)>,
    memory: Memory,
    /// When the last read of the feed began that was answered.
    read_ms: AtomicI64,
    /// The same for one that failed.
    failed_ms: AtomicI64,
    /// One reads the feed at a time.
    turn: tokio::sync::Mutex<()>,
}

impl fmt::Debug for Directory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Directory").field("memory", &self.memory).finish_non_exhaustive()
    }
}

impl Directory {
    /// Starts to follow the feed, for as long as somebody has the directory.
    pub async fn open(
        sql: Sql,
        sessions: Arc<dyn Sessions>,
        vouchers: Vouchers,
        clock: Clock,
    ) -> Result<Arc<Directory>, SqlError> {
        let began_ms = clock();
        let position = changes::newest(&sql).await?;
        let directory = Arc::new(Directory {
            sql,
            sessions,
            vouchers,
            clock,
            people: Cache::new(PEOPLE_MAX),
            hosts: Cache::new(HOSTS_MAX),
            denials: Cache::new(DENIALS_MAX),
            memory: Memory::new(position),
            read_ms: AtomicI64::new(began_ms),
            failed_ms: AtomicI64::new(i64::MIN),
            turn: tokio::sync::Mutex::new(()),
        });
        tokio::spawn(feed::follow(Arc::downgrade(&directory)));
        Ok(directory)
    }

    /// From memory alone; `None`: ask [`Directory::resolve`].
    pub fn cached(&self, credential: &str, now_ms: i64) -> Option<Arc<Principal>> {
        if !self.is_fresh(now_ms) || credential.len() > CREDENTIAL_CHARS_MAX {
            return None;
        }
        self.remembered(&hash(credential), now_ms)
    }

    /// The tenant of a host, for who carries nothing. It is believed also while changes cannot be read: it opens nothing but
    /// what everybody may see.
    pub fn cached_nobody(&self, host: Option<&str>, now_ms: i64) -> Option<Arc<Principal>> {
        self.hosts.get(&hash(&host_of(host))).and_then(|entry| entry.use_at(now_ms))
    }

    /// Who carries this credential. An empty one is nobody's, and of the host's tenant; on any other the host has no say.
    pub async fn resolve(
        &self,
        credential: &str,
        host: Option<&str>,
        now_ms: i64,
    ) -> Result<Arc<Principal>, Denied> {
        if credential.is_empty() {
            return self.resolve_nobody(host, now_ms).await;
        }
        if credential.len() > CREDENTIAL_CHARS_MAX {
            return Err(Denied::Malformed);
        }
        self.freshen(now_ms).await?;
        let hash = hash(credential);
        if let Some(principal) = self.remembered(&hash, now_ms) {
            return Ok(principal);
        }
        if let Some((denied, until_ms)) = self.denials.get(&hash)
            && !is_over(until_ms, now_ms)
        {
            return Err(denied);
        }
        let position = self.memory.position();
        let look_up = timeout(LOOK_UP_MAX, self.look_up(credential, &hash, now_ms));
        let found = match look_up.await.unwrap_or_else(|_| Err(Miss::Sql(silent()))) {
            Ok(found) => found,
            Err(Miss::Denied(denied)) => {
                self.people.remove(&hash);
                self.denials.put(hash, (denied, now_ms + DENIAL_MS));
                return Err(denied);
            }
            Err(Miss::Sql(error)) => return Err(unavailable(&error)),
        };
        Ok(self.remember(&self.people, hash, found, position, now_ms))
    }

    async fn resolve_nobody(&self, host: Option<&str>, now_ms: i64) -> Result<Arc<Principal>, Denied> {
        if let Some(principal) = self.cached_nobody(host, now_ms) {
            return Ok(principal);
        }
        let host = host_of(host);
        let position = self.memory.position();
        let look_up = timeout(LOOK_UP_MAX, self.look_up_host(&host));
        match look_up.await.unwrap_or_else(|_| Err(Miss::Sql(silent()))) {
            Ok(found) => Ok(self.remember(&self.hosts, hash(&host), found, position, now_ms)),
            Err(Miss::Denied(denied)) => Err(denied),
            Err(Miss::Sql(error)) => Err(unavailable(&error)),
        }
    }

    fn remembered(&self, hash: &cache::Hash, now_ms: i64) -> Option<Arc<Principal>> {
        self.people.get(hash).and_then(|entry| entry.use_at(now_ms))
    }

    /// Unless something that it depends on has changed while it was read: then it is true for this request alone.
    fn remember(
        &self,
        cache: &Cache<Arc<Entry>>,
        hash: cache::Hash,
        found: Found,
        position: i64,
        now_ms: i64,
    ) -> Arc<Principal> {
        let principal = Arc::new(found.principal);
        let again_ms = now_ms + READ_AGAIN_MS;
        let until_ms = found.until_ms.map_or(again_ms, |until| until.min(again_ms));
        if let Some(marks) = self.memory.admit(position, &found.subjects) {
            cache.put(hash, Arc::new(Entry::new(Arc::clone(&principal), marks, until_ms, now_ms)));
        }
        principal
    }

    /// Writes back when keys and sessions were used last. Done once a minute; a server that stops does it once more.
    pub async fn flush_uses(&self) -> Result<(), SqlError> {
        let (mut of_keys, mut of_sessions) = (Vec::new(), Vec::new());
        for one in self.people.collect(|entry| entry.new_use()) {
            match one {
                Use::Key(key, used_ms) => of_keys.push((key, used_ms)),
                Use::Session(session, used_ms) => of_sessions.push(SessionUse { session, used_ms }),
            }
        }
        for some in of_keys.chunks(USES_MAX) {
            keys::note_uses(&self.sql, some).await?;
        }
        for some in of_sessions.chunks(USES_MAX) {
            self.sessions.note_uses(some).await?;
        }
        Ok(())
    }
}

fn unavailable(error: &SqlError) -> Denied {
    tracing::debug!(%error, "a credential cannot be looked up");
    Denied::Unavailable
}

fn silent() -> SqlError {
    SqlError::Unavailable("it does not answer".to_owned())
}

fn hash(text: &str) -> cache::Hash {
    Sha256::digest(text.as_bytes()).into()
}

/// A host that cannot be one belongs to nobody, as an unknown one does.
fn host_of(host: Option<&str>) -> String {
    host.and_then(|host| tenants::host_name(host).ok()).unwrap_or_default()
}
