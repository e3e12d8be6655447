//! A shop for one test: a database, its people, and a clock that the test turns.

use onsale_access::accounts::{Accounts, Failure, Refusal, SignInFrom};
use onsale_access::context::Context;
use onsale_access::directory::{FoundSession, Sessions as _};
use onsale_access::letters::{Letter, LetterKind, Letters};
use onsale_access::passwords::{PasswordCost, PasswordPool, Passwords};
use onsale_access::secrets::{OneTimeTokens, Secret};
use onsale_access::sessions::{Device, SessionRules, SessionStarted, Sessions};
use onsale_access::tables::TABLES;
use onsale_domain::Tenant;
use onsale_postgres_servers::Database;
use onsale_sql::{Place, Query, Sql, Value};
use tempfile::TempDir;

/// Each function on both databases.
macro_rules! on_both {
    ($($name:ident,)*) => {
        mod on_sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() { super::$name(crate::shop::Shop::sqlite().await).await; })*
        }
        mod on_postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() { super::$name(crate::shop::Shop::postgres().await).await; })*
        }
    };
}

pub(crate) const SECOND: i64 = 1_000;
pub(crate) const MINUTE: i64 = 60 * SECOND;
pub(crate) const HOUR: i64 = 60 * MINUTE;
pub(crate) const DAY: i64 = 24 * HOUR;
/// When tests begin.
pub(crate) const T0: i64 = 1_800_000_000_000;

pub(crate) const ANN: &str = "ann@example.org";
pub(crate) const PASSWORD: &str = "hedgehog moon 7";
pub(crate) const OTHER_PASSWORD: &str = "wombat under stars";

/// What holds the database; it goes with the test.
#[expect(dead_code, reason = "held until the test ends")]
enum Home {
    Folder(TempDir),
    Database(Database),
}

pub(crate) struct Shop {
    _home: Home,
    pub(crate) sql: Sql,
    pub(crate) passwords: Passwords,
    pub(crate) accounts: Accounts,
    pub(crate) sessions: Sessions,
    pub(crate) letters: Letters,
}

impl Shop {
    pub(crate) async fn sqlite() -> Shop {
        let folder = tempfile::tempdir().expect("a folder");
        let place = Place::Sqlite(folder.path().join("access.sqlite"));
        Shop::open(Home::Folder(folder), place).await
    }

    pub(crate) async fn postgres() -> Shop {
        let database = Database::fresh();
        let place = Place::Postgres { url: database.url(), schema: "access".to_owned() };
        Shop::open(Home::Database(database), place).await
    }

    async fn open(home: Home, place: Place) -> Shop {
        let sql = Sql::open(&place, &TABLES).await.expect("it opens");
        let passwords = start(PasswordCost::FOR_TESTS, PasswordPool { threads: 2, queue: 50 });
        let accounts = accounts(&sql, &passwords);
        let letters = Letters::new(sql.clone(), OneTimeTokens::new(b"house"));
        Shop { _home: home, accounts, sessions: Sessions::new(sql.clone()), letters, passwords, sql }
    }

    /// Registers, reads the letter, and signs in with its link.
    pub(crate) async fn account(&self, email: &str, now: i64) -> SessionStarted {
        self.accounts.register(email, PASSWORD, None, &at(now)).await.expect("registered");
        let token = self.token(LetterKind::Verification, now).await;
        self.accounts
            .confirm_registration(&token, PASSWORD, from(&Device::default()), &at(now))
            .await
            .expect("an account")
    }

    pub(crate) async fn sign_in(&self, password: &str, now: i64) -> Result<SessionStarted, Failure> {
        self.accounts.sign_in(ANN, password, from(&Device::default()), &at(now)).await
    }

    /// Takes all letters that are due, and returns the newest of this kind.
    pub(crate) async fn letter(&self, kind: LetterKind, now: i64) -> Letter {
        let found = self.all_letters(now).await.into_iter().rfind(|letter| letter.kind == kind);
        found.unwrap_or_else(|| panic!("a letter {kind:?}"))
    }

    pub(crate) async fn all_letters(&self, now: i64) -> Vec<Letter> {
        let letters = self.letters.take(100, now).await.expect("letters");
        for letter in &letters {
            self.letters.done(&letter.id).await.expect("done");
        }
        letters
    }

    pub(crate) async fn token(&self, kind: LetterKind, now: i64) -> String {
        self.letter(kind, now).await.token.expect("a token").text()
    }

    pub(crate) async fn find(&self, token: &Secret, now: i64) -> Option<FoundSession> {
        self.sessions.find(&token.hash(), now).await.expect("a lookup")
    }

    /// The first column of the first row.
    pub(crate) async fn number(&self, query: &'static Query, params: &[Value]) -> i64 {
        self.sql.query(query, params).await.expect("rows")[0].int(0).expect("a number")
    }

    /// How often servers were told to read a subject anew.
    pub(crate) async fn changes(&self, subject: &str) -> i64 {
        static COUNT: Query =
            Query { name: "count", text: "-- counts\n-- $1\nselect count(*) from change where subject = $1" };
        self.number(&COUNT, &[subject.into()]).await
    }

    /// How often the audit trail tells of an action on a subject.
    pub(crate) async fn audited(&self, action: &str, subject: &str) -> i64 {
        static COUNT: Query = Query {
            name: "count",
            text: "-- counts\n-- $1, $2\nselect count(*) from audit where action = $1 and subject = $2",
        };
        self.number(&COUNT, &[action.into(), subject.into()]).await
    }
}

pub(crate) fn start(cost: PasswordCost, pool: PasswordPool) -> Passwords {
    Passwords::start(cost, pool).expect("threads start")
}

pub(crate) fn accounts(sql: &Sql, passwords: &Passwords) -> Accounts {
    Accounts::new(sql.clone(), passwords.clone(), OneTimeTokens::new(b"house"), SessionRules::default())
}

pub(crate) fn at(now_ms: i64) -> Context<'static> {
    Context { tenant: Tenant::DEFAULT, address: "192.0.2.7", request_id: "req_1", now_ms, once: None }
}

/// The same moment in a tenant of another number, which need not exist.
pub(crate) fn elsewhere(now_ms: i64) -> Context<'static> {
    Context { tenant: Tenant::new(7).expect("a tenant"), ..at(now_ms) }
}

pub(crate) fn from(device: &Device) -> SignInFrom<'_> {
    SignInFrom { device, device_token: None, replaces: None, is_remembered: false }
}

pub(crate) fn refusal<T: std::fmt::Debug>(answer: Result<T, Failure>) -> Refusal {
    match answer {
        Err(Failure::Refused(refusal)) => refusal,
        Err(Failure::Failed(error)) => panic!("failed: {error}"),
        Ok(yes) => panic!("a yes: {yes:?}"),
    }
}
