//! A database for one test, servers on it, a clock that only the test moves, and the macro that runs a test on both databases.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use onsale_access::directory::{Denied, Directory, FoundSession, SessionFuture, SessionUse, Sessions};
use onsale_access::keys::{self, KeyRecord, KeyText, NewKey};
use onsale_access::principal::{KeyKind, Principal};
use onsale_access::refusal::AccessError;
use onsale_access::scope::{Scope, Scopes};
use onsale_access::tables::TABLES;
use onsale_access::vouchers::Vouchers;
use onsale_domain::Tenant;
use onsale_postgres_servers::Database;
use onsale_sql::{Place, Sql, Tx};
use tempfile::TempDir;

macro_rules! on_both {
    ($($name:ident,)*) => {
        mod on_sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() { super::$name(crate::home::Home::sqlite()).await; })*
        }
        mod on_postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() { super::$name(crate::home::Home::postgres()).await; })*
        }
    };
}
pub(crate) use on_both;

pub(crate) const NOW: i64 = 1_800_000_000_000;
pub(crate) const MINUTE: i64 = 60_000;
pub(crate) const HOUSE_KEY: &[u8] = b"a house key of a test";
/// A machine whose cores are all taken may need it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) enum Home {
    Folder(TempDir),
    Database(Database),
}

impl Home {
    pub(crate) fn sqlite() -> Home {
        Home::Folder(tempfile::tempdir().expect("a folder"))
    }

    pub(crate) fn postgres() -> Home {
        Home::Database(Database::fresh())
    }

    pub(crate) fn place(&self) -> Place {
        match self {
            Home::Folder(folder) => Place::Sqlite(folder.path().join("access.sqlite")),
            Home::Database(database) => Place::Postgres { url: database.url(), schema: "access".to_owned() },
        }
    }

    pub(crate) async fn open(&self) -> Sql {
        Sql::open(&self.place(), &TABLES).await.expect("it opens")
    }

    /// As a command beside the server has it, or another server on PostgreSQL.
    pub(crate) async fn open_beside(&self) -> Sql {
        Sql::open_shared(&self.place(), &TABLES).await.expect("it opens")
    }

    /// Statements that no program of ours would say, in one transaction.
    pub(crate) fn meddle(&self, text: &str) {
        match self {
            Home::Folder(folder) => {
                let file = folder.path().join("access.sqlite");
                let connection = rusqlite::Connection::open(file).expect("a connection");
                connection.busy_timeout(PATIENCE).expect("a time");
                connection.execute_batch(&format!("begin immediate; {text}; commit")).expect("done");
            }
            Home::Database(database) => {
                database.say(&format!("set search_path = access; {text}"));
            }
        }
    }
}

/// Stands still until it is moved.
#[derive(Clone)]
pub(crate) struct Hand(Arc<AtomicI64>);

impl Hand {
    pub(crate) fn new() -> Hand {
        Hand(Arc::new(AtomicI64::new(NOW)))
    }

    pub(crate) fn now(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn advance(&self, by_ms: i64) {
        self.0.fetch_add(by_ms, Ordering::Relaxed);
    }
}

/// A server: its directory, and what it needs.
pub(crate) struct Server {
    pub(crate) sql: Sql,
    pub(crate) directory: Arc<Directory>,
    pub(crate) sessions: Arc<SessionList>,
    pub(crate) hand: Hand,
}

impl Server {
    pub(crate) async fn start(sql: Sql) -> Server {
        let hand = Hand::new();
        let clock = hand.clone();
        let sessions = Arc::new(SessionList::default());
        let directory = Directory::open(
            sql.clone(),
            Arc::clone(&sessions) as Arc<dyn Sessions>,
            Vouchers::new(HOUSE_KEY),
            Arc::new(move || clock.now()),
        );
        Server { sql, directory: directory.await.expect("it opens"), sessions, hand }
    }

    pub(crate) async fn resolve(&self, credential: &str) -> Result<Arc<Principal>, Denied> {
        self.directory.resolve(credential, None, self.hand.now()).await
    }

    pub(crate) fn cached(&self, credential: &str) -> Option<Arc<Principal>> {
        self.directory.cached(credential, self.hand.now())
    }

    /// Lets it in from memory.
    pub(crate) async fn remembers(&self, credential: &str) -> bool {
        self.resolve(credential).await.is_ok() && self.cached(credential).is_some()
    }
}

/// Sessions as another room would have them.
#[derive(Default)]
pub(crate) struct SessionList {
    pub(crate) found: Mutex<HashMap<[u8; 32], FoundSession>>,
    pub(crate) asked: AtomicU32,
    pub(crate) uses: Mutex<Vec<SessionUse>>,
}

impl Sessions for SessionList {
    fn find<'a>(&'a self, token_hash: &'a [u8; 32], _: i64) -> SessionFuture<'a, Option<FoundSession>> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let found = self.found.lock().expect("no panic").get(token_hash).cloned();
        Box::pin(async move { Ok(found) })
    }

    fn note_uses<'a>(&'a self, uses: &'a [SessionUse]) -> SessionFuture<'a, ()> {
        self.uses.lock().expect("no panic").extend_from_slice(uses);
        Box::pin(async { Ok(()) })
    }
}

pub(crate) fn new_key(kind: KeyKind) -> NewKey {
    let scopes = match kind {
        KeyKind::Secret => KeyKind::Secret.allowed(),
        KeyKind::Restricted => Scopes::of(&[Scope::Settle]),
        KeyKind::Publishable => Scopes::of(&[Scope::Read, Scope::Buy]),
    };
    NewKey {
        tenant: Tenant::DEFAULT,
        kind,
        is_test: false,
        name: "till".to_owned(),
        scopes,
        expires_ms: None,
        by: "cli".to_owned(),
        giver: Scopes::of(&Scope::ALL),
    }
}

pub(crate) async fn make_key(sql: &Sql, new: &NewKey) -> (KeyRecord, KeyText) {
    commit(sql, async |tx| keys::create(tx, new, NOW).await).await.expect("a key")
}

/// One transaction, committed if it is a yes.
pub(crate) async fn commit<T>(
    sql: &Sql,
    work: impl AsyncFnOnce(&mut Tx) -> Result<T, AccessError>,
) -> Result<T, AccessError> {
    let mut tx = sql.begin().await.expect("a transaction");
    let done = work(&mut tx).await?;
    tx.commit().await.expect("committed");
    Ok(done)
}

/// Waits until it is so.
pub(crate) async fn eventually(what: &str, mut done: impl AsyncFnMut() -> bool) {
    let waited = async {
        while !done().await {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, waited).await.unwrap_or_else(|_| panic!("{what} does not happen"));
}
