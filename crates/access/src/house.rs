//! Everything of this room together, as a server opens it: one database, the people and keys in it, and what is remembered of them.

use std::sync::Arc;

use onsale_domain::Tenant;
use onsale_sql::{Place, Sql, SqlError};
use thiserror::Error;
use tokio_util::sync::CancellationToken;

use crate::accounts::Accounts;
use crate::answers::Answers;
use crate::cleaning;
use crate::directory::{Clock, Directory};
use crate::letters::Letters;
use crate::passwords::{PasswordCost, PasswordPool, Passwords};
use crate::secrets::OneTimeTokens;
use crate::sessions::{SessionRules, Sessions};
use crate::tables::TABLES;
use crate::vouchers::Vouchers;

/// How often uses are written back, and what is over is forgotten.
const UPKEEP: std::time::Duration = std::time::Duration::from_secs(60);

/// What must be known to open it.
#[derive(Clone, Debug)]
pub struct Settings {
    pub place: Place,
    pub cost: PasswordCost,
    pub pool: PasswordPool,
    pub sessions: SessionRules,
}

#[derive(Debug, Error)]
pub enum OpenError {
    #[error(transparent)]
    Sql(#[from] SqlError),
    #[error("threads for passwords cannot be started: {0}")]
    Threads(#[from] std::io::Error),
}

/// Who may do what: for the edge, and for the commands that manage it.
pub struct Access {
    pub sql: Sql,
    pub directory: Arc<Directory>,
    pub accounts: Accounts,
    pub sessions: Sessions,
    pub vouchers: Vouchers,
    pub answers: Answers,
    pub letters: Letters,
    clock: Clock,
}

impl Access {
    /// Opens the database for this server alone, if it is a file, and begins to follow its changes.
    pub async fn open(settings: &Settings, house_key: &[u8], clock: Clock) -> Result<Arc<Access>, OpenError> {
        let sql = Sql::open(&settings.place, &TABLES).await?;
        let passwords = Passwords::start(settings.cost, settings.pool)?;
        let tokens = OneTimeTokens::new(house_key);
        let sessions = Sessions::new(sql.clone());
        let vouchers = Vouchers::new(house_key);
        let directory =
            Directory::open(sql.clone(), Arc::new(sessions.clone()), vouchers.clone(), clock.clone()).await?;
        Ok(Arc::new(Access {
            accounts: Accounts::new(sql.clone(), passwords, tokens.clone(), settings.sessions),
            letters: Letters::new(sql.clone(), tokens),
            answers: Answers::new(house_key),
            sql,
            directory,
            sessions,
            vouchers,
            clock,
        }))
    }

    pub fn now_ms(&self) -> i64 {
        (self.clock)()
    }

    /// Writes back uses and forgets what is over, until told to stop; then once more.
    pub async fn run(&self, stop: CancellationToken) {
        loop {
            let stopped = tokio::select! {
                () = stop.cancelled() => true,
                () = tokio::time::sleep(UPKEEP) => false,
            };
            if let Err(error) = self.directory.flush_uses().await {
                tracing::warn!(%error, "when keys and sessions were used could not be written: {error}");
            }
            if stopped {
                return;
            }
            if let Err(error) = cleaning::clean(&self.sql, self.now_ms()).await {
                tracing::warn!(%error, "what is over in the accounts could not be forgotten: {error}");
            }
            if let Err(error) = self.accounts.sweep(self.now_ms()).await {
                tracing::warn!(%error, "guests and tokens that are over could not be forgotten: {error}");
            }
        }
    }

    /// Whether nobody has made a key yet: then the first start makes one.
    pub async fn has_keys(&self) -> Result<bool, SqlError> {
        Ok(!crate::keys::list(&self.sql, Tenant::DEFAULT, "", 1).await?.is_empty())
    }
}

impl std::fmt::Debug for Access {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Access")
    }
}
