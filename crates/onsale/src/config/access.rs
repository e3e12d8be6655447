//! Keys, accounts and sessions: where they are kept, and how long a session lives.

use std::fmt;
use std::path::Path;

use onsale_access::house::Settings;
use onsale_access::passwords::{PasswordCost, PasswordPool};
use onsale_access::sessions::SessionRules;
use onsale_sql::Place;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

const MINUTE_MS: i64 = 60_000;
const DAY_MS: i64 = 24 * 60 * MINUTE_MS;
/// The database of a server without another one, in its data folder.
pub const FILE: &str = "access.sqlite";
/// The schema in PostgreSQL; the records will have one of their own.
const SCHEMA: &str = "onsale_access";

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Access {
    /// Where keys, accounts and sessions are kept: `sqlite`, a file in the data folder, for one server; the address of a PostgreSQL
    /// database, for several; `none`, and there is the one `api_key` and nobody can sign in.
    #[schemars(with = "String", example = &"postgres://onsale@db.internal/onsale")]
    pub database: Database,
    /// A session that is not used for so long ends: 30 to 43,200, which is 30 days.
    pub idle_minutes: u32,
    /// The same for who asked to be remembered.
    pub remembered_idle_minutes: u32,
    /// A session ends after so many days, however often it is used: at most 30.
    pub session_days: u32,
    /// Threads that check passwords. Each takes 19 MiB.
    pub password_threads: usize,
    /// Sign-ins that may wait for one of them before the answer is `busy`.
    pub password_queue: usize,
    /// Where people find the site: links in letters begin with it. Without it they lead to this server's own address.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"https://tickets.example.com")]
    pub public_url: Option<String>,
    /// How much work a hash of a password is. No setting: tests alone make less of it.
    #[serde(skip)]
    pub password_cost: PasswordCost,
}

/// Where the truth about people and keys is.
#[derive(Clone, PartialEq, Eq, Default)]
pub enum Database {
    #[default]
    Sqlite,
    Postgres(String),
    None,
}

impl Database {
    fn parse(text: &str) -> Option<Database> {
        match text {
            "sqlite" => Some(Database::Sqlite),
            "none" => Some(Database::None),
            url if url.starts_with("postgres://") || url.starts_with("postgresql://") => {
                Some(Database::Postgres(url.to_owned()))
            }
            _ => None,
        }
    }

    fn as_str(&self) -> &str {
        match self {
            Database::Sqlite => "sqlite",
            Database::Postgres(url) => url,
            Database::None => "none",
        }
    }

    /// The same without the password of the address.
    fn masked(&self) -> Database {
        let Database::Postgres(url) = self else { return self.clone() };
        let Some((before, behind)) = url.rsplit_once('@') else { return self.clone() };
        let Some((scheme, who)) = before.split_once("://") else { return self.clone() };
        let user = who.split_once(':').map_or(who, |(user, _)| user);
        Database::Postgres(format!("{scheme}://{user}:********@{behind}"))
    }
}

/// Without the password.
impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.masked().as_str())
    }
}

impl Serialize for Database {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Database {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Database, D::Error> {
        let text = String::deserialize(from)?;
        // What was written is not repeated: it may have a password in it.
        Database::parse(&text).ok_or_else(|| {
            de::Error::custom("expected `sqlite`, `none` or an address like postgres://user@host/database")
        })
    }
}

impl Default for Access {
    fn default() -> Self {
        let (rules, pool) = (SessionRules::default(), PasswordPool::default());
        Access {
            database: Database::default(),
            idle_minutes: (rules.idle_ms / MINUTE_MS) as u32,
            remembered_idle_minutes: (rules.remembered_idle_ms / MINUTE_MS) as u32,
            session_days: (rules.absolute_ms / DAY_MS) as u32,
            password_threads: pool.threads,
            password_queue: pool.queue,
            public_url: None,
            password_cost: PasswordCost::default(),
        }
    }
}

impl Access {
    fn rules(&self) -> SessionRules {
        SessionRules {
            absolute_ms: i64::from(self.session_days) * DAY_MS,
            idle_ms: i64::from(self.idle_minutes) * MINUTE_MS,
            remembered_idle_ms: i64::from(self.remembered_idle_minutes) * MINUTE_MS,
        }
    }

    /// Why it cannot be used.
    pub fn problem(&self) -> Option<&'static str> {
        if self.password_threads == 0 || self.password_queue == 0 {
            return Some("at least one thread checks passwords, and at least one sign-in may wait");
        }
        let is_address = |url: &String| {
            let host = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
            let is_plain = url.bytes().all(|byte| byte.is_ascii_graphic()) && !url.contains(['?', '#', '@']);
            is_plain && host.is_some_and(|host| !host.is_empty())
        };
        if !self.public_url.as_ref().is_none_or(is_address) {
            return Some(
                "public_url is an address like https://tickets.example.com, without `?`, `#` and user",
            );
        }
        self.rules().problem()
    }

    /// What to open; `None`: nothing.
    pub fn settings(&self, data: &Path) -> Option<Settings> {
        let place = match &self.database {
            Database::Sqlite => Place::Sqlite(data.join(FILE)),
            Database::Postgres(url) => Place::Postgres { url: url.clone(), schema: SCHEMA.to_owned() },
            Database::None => return None,
        };
        Some(Settings {
            place,
            cost: self.password_cost,
            pool: PasswordPool { threads: self.password_threads, queue: self.password_queue },
            sessions: self.rules(),
        })
    }

    pub fn masked(&self) -> Access {
        Access { database: self.database.masked(), ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_is_one_of_three_and_its_password_is_not_shown() {
        let url = "postgres://onsale:s3cret@db/onsale";
        for text in ["sqlite", "none", url, "postgresql://db/onsale"] {
            assert_eq!(Database::parse(text).expect("known").as_str(), text);
        }
        for text in ["", "mysql://db", "access.sqlite"] {
            assert_eq!(Database::parse(text), None, "{text}");
        }
        let shown = format!("{:?}", Database::parse(url).expect("known"));
        assert_eq!(shown, "postgres://onsale:********@db/onsale");
    }

    #[test]
    fn sessions_live_as_long_as_it_says_within_bounds() {
        assert_eq!(Access::default().problem(), None);
        for wrong in [
            Access { idle_minutes: 29, ..Access::default() },
            Access { remembered_idle_minutes: 43_201, ..Access::default() },
            Access { session_days: 31, ..Access::default() },
            Access { password_threads: 0, ..Access::default() },
            Access { public_url: Some("tickets.example.com".to_owned()), ..Access::default() },
            Access { public_url: Some("https://a?b".to_owned()), ..Access::default() },
        ] {
            assert!(wrong.problem().is_some(), "{wrong:?}");
        }
    }
}
