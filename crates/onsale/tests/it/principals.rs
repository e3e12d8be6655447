//! Somebody of each kind, made in a server's database of keys and accounts while it runs.

use std::path::Path;

use onsale_access::accounts::{Accounts, SignInFrom};
use onsale_access::context::Context;
use onsale_access::keys::{self, NewKey};
use onsale_access::passwords::{PasswordCost, PasswordPool, Passwords};
use onsale_access::principal::KeyKind;
use onsale_access::role::{Role, Roles};
use onsale_access::scope::{Scope, Scopes};
use onsale_access::secrets::OneTimeTokens;
use onsale_access::sessions::{Device, SessionRules};
use onsale_access::tables::TABLES;
use onsale_access::tenants;
use onsale_domain::Tenant;
use onsale_engine::embedded::{Clock, SystemClock};
use onsale_sql::{Place, Sql};
use tokio::runtime::Runtime;

pub(crate) const PASSWORD: &str = "a quiet horse paints the moon";

pub(crate) struct People {
    runtime: Runtime,
    sql: Sql,
    accounts: Accounts,
}

fn now_ms() -> i64 {
    SystemClock::default().now()
}

fn context(tenant: Tenant) -> Context<'static> {
    Context { tenant, address: "", request_id: "", now_ms: now_ms(), once: None }
}

impl People {
    /// Of the server whose data folder this is.
    pub(crate) fn open(data: &Path) -> People {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.expect("a runtime");
        let place = Place::Sqlite(data.join("access.sqlite"));
        let sql = runtime.block_on(Sql::open_shared(&place, &TABLES)).expect("it opens");
        let passwords = Passwords::start(PasswordCost::FOR_TESTS, PasswordPool::default()).expect("threads");
        let tokens = OneTimeTokens::new(b"house");
        let accounts = Accounts::new(sql.clone(), passwords, tokens, SessionRules::default());
        People { runtime, sql, accounts }
    }

    pub(crate) fn tenant(&self, name: &str) -> Tenant {
        self.runtime.block_on(async {
            let mut tx = self.sql.begin().await.expect("a transaction");
            let tenant = tenants::create(&mut tx, name, now_ms()).await.expect("a tenant");
            tx.commit().await.expect("committed");
            tenant
        })
    }

    pub(crate) fn key(&self, tenant: Tenant, kind: KeyKind, scopes: Scopes) -> String {
        let new = NewKey {
            tenant,
            kind,
            is_test: false,
            name: "walker".to_owned(),
            scopes,
            expires_ms: None,
            by: "test".to_owned(),
            giver: Scopes::of(&Scope::ALL),
        };
        self.runtime.block_on(async {
            let mut tx = self.sql.begin().await.expect("a transaction");
            let (_, text) = keys::create(&mut tx, &new, now_ms()).await.expect("a key");
            tx.commit().await.expect("committed");
            text.as_str().to_owned()
        })
    }

    /// A person with this role, whose address it is.
    pub(crate) fn account(&self, tenant: Tenant, role: Role) -> String {
        let email = format!("{}@example.org", role.as_str());
        let context = context(tenant);
        let added = self.accounts.add(&email, PASSWORD, Roles::BUYER.with(role), &context);
        self.runtime.block_on(added).expect("an account");
        email
    }

    /// A session of this person: its token.
    pub(crate) fn session(&self, tenant: Tenant, email: &str) -> String {
        let device = Device::new("desktop", "walker", "test");
        let from = SignInFrom { device: &device, device_token: None, replaces: None, is_remembered: false };
        let context = context(tenant);
        let started = self.accounts.sign_in(email, PASSWORD, from, &context);
        self.runtime.block_on(started).expect("a session").token.text()
    }
}
