//! What the commands that manage keys, people and tenants share: they open the database themselves, beside a running server or
//! alone. A running server follows within a second.

use std::path::PathBuf;

use anyhow::{Context as _, bail};
use clap::Args as ClapArgs;
use onsale_access::audit::{self, Entry};
use onsale_access::house::Settings as AccessSettings;
use onsale_access::tables::TABLES;
use onsale_access::tenants;
use onsale_access::{SqlError, Tx};
use onsale_domain::Tenant;
use onsale_engine::embedded::{Clock, SystemClock};
use onsale_sql::{Place, Sql};
use serde::Serialize;

use super::config::Settings;
use super::{instant, look};

/// Who made a change, as the audit trail names it.
pub const BY: &str = "cli";

/// Which server's database, and how to tell what is in it.
#[derive(Clone, Debug, ClapArgs)]
pub struct Where {
    /// The server's configuration file [default: onsale.toml if there is one]
    #[arg(long, value_name = "FILE", env = "ONSALE_CONFIG", global = true)]
    config: Option<PathBuf>,
    /// The server's data folder
    #[arg(long, value_name = "FOLDER", global = true)]
    data: Option<PathBuf>,
    /// As JSON instead of a table
    #[arg(long, global = true)]
    pub json: bool,
}

/// The database, open.
#[derive(Debug)]
pub struct Offline {
    pub sql: Sql,
    pub settings: AccessSettings,
    pub now_ms: i64,
}

impl Where {
    /// Opens the database, and does this with it.
    pub fn open<T>(&self, work: impl AsyncFnOnce(&Offline) -> anyhow::Result<T>) -> anyhow::Result<T> {
        let settings = Settings { config: self.config.clone(), listen: None, data: self.data.clone() };
        let config = settings.load()?;
        let Some(settings) = config.access.settings(&config.data) else {
            bail!("this server has no keys and accounts: its configuration says access.database = \"none\"");
        };
        if let Place::Sqlite(_) = &settings.place
            && !config.data.is_dir()
        {
            bail!(
                "there is no data folder {}; name the server's with --data, or start it once with `onsale serve`",
                config.data.display()
            );
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let sql = Sql::open_shared(&settings.place, &TABLES).await;
            let sql = sql.context("opening the database of keys and accounts")?;
            work(&Offline { sql, settings, now_ms: SystemClock::default().now() }).await
        })
    }

    /// Prints one thing as JSON, or in words.
    pub fn tell(&self, json: &impl Serialize, words: &str) -> anyhow::Result<()> {
        match self.json {
            true => Ok(look::show(&serde_json::to_string_pretty(json)?)?),
            false => Ok(look::show(words)?),
        }
    }

    /// Prints a list as JSON, or as a table with these columns.
    pub fn list(
        &self,
        json: &impl Serialize,
        columns: &[&str],
        rows: impl Iterator<Item = Vec<String>>,
    ) -> anyhow::Result<()> {
        let mut table = look::plain();
        table.add_row(columns);
        rows.for_each(|row| {
            table.add_row(row);
        });
        self.tell(json, &look::text(&table))
    }
}

impl Offline {
    /// The last step of a change but the commit.
    pub async fn note(
        &self,
        tx: &mut Tx,
        tenant: Tenant,
        action: &str,
        subject: &str,
    ) -> Result<(), SqlError> {
        let entry = Entry {
            at_ms: self.now_ms,
            tenant,
            who: BY.to_owned(),
            action: action.to_owned(),
            subject: subject.to_owned(),
            address: String::new(),
            request: String::new(),
        };
        audit::append(tx, &entry).await
    }

    /// Nobody is to be given a key or an account in a tenant that nobody made.
    pub async fn known(&self, tenant: Tenant) -> anyhow::Result<Tenant> {
        match tenants::find(&self.sql, tenant).await? {
            Some(_) => Ok(tenant),
            None => bail!("there is no tenant {}; `onsale tenants list` shows all", tenant.number()),
        }
    }
}

/// `7` or `ten_7`.
pub fn tenant(text: &str) -> Result<Tenant, String> {
    let number = text.strip_prefix("ten_").unwrap_or(text).parse().ok();
    number
        .and_then(Tenant::new)
        .ok_or_else(|| "a tenant is its number, as `onsale tenants list` shows it".to_owned())
}

/// A time in a table; what never was is a dash.
pub fn time(ms: Option<i64>) -> String {
    ms.map_or_else(|| "–".to_owned(), instant::text)
}
