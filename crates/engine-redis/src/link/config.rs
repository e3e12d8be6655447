//! The section `[redis]` of the configuration: where the servers are, how they are spoken to, what is expected of
//! them. Checked once, when a link is opened; it never reaches the network itself.

use std::path::PathBuf;
use std::time::Duration;

use redis::io::tcp::TcpSettings;
use redis::{ConnectionAddr, ConnectionInfo, IntoConnectionInfo, RedisConnectionInfo};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use super::LinkError;

/// One connection pipelines what many callers send; a second keeps a large answer from holding up small ones.
const CONNECTIONS: usize = 2;
const CONNECTIONS_MAX: usize = 64;
/// Whoever names no prefix has this one.
const PREFIX: &str = "onsale:";
/// It stands before every key, and a key is kept some million times.
const PREFIX_MAX: usize = 64;
/// Some hours of a busy house; a machine that is made for Redis has more memory.
pub const HISTORY_MB: u64 = 4_096;
/// Less is gone within the minute in which nothing is forgotten.
const HISTORY_MB_MIN: u64 = 16;
/// A petabyte: more is a slip.
const HISTORY_MB_MAX: u64 = 1 << 30;

#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// `redis://…`, `rediss://…` (TLS) or `unix:///…`; one, or several sentinels or nodes of a Cluster.
    #[serde(deserialize_with = "one_or_several")]
    pub url: Vec<String>,
    /// How the servers belong together.
    pub topology: Topology,
    /// Who watches the master, if `topology` is `sentinel`.
    pub sentinel: Sentinel,
    /// An ACL user; without one the password is the server's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"onsale")]
    pub user: Option<String>,
    /// The password of that user, or of the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"a-password")]
    pub password: Option<String>,
    /// A PEM file with the authority that signed the servers' certificates; without it the system's authorities.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"ca.pem")]
    pub tls_ca: Option<PathBuf>,
    /// How long a connection may take to come about, in milliseconds.
    pub connect_ms: u64,
    /// How long a command may take before its outcome counts as unknown, in milliseconds.
    pub command_ms: u64,
    /// Connections to each node.
    pub connections: usize,
    /// Before every key: what begins otherwise is another's, and is never touched.
    pub prefix: String,
    /// Without records a start is refused unless somebody says that Redis is durable enough for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"redis")]
    pub durability: Option<Durability>,
    /// `set` turns keyspace notifications of expired keys on, and keeps whatever else is on.
    pub notify: Notify,
    /// A second server that may evict; the truth may not.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"redis://127.0.0.1:6380")]
    pub cache_url: Option<String>,
    /// How many megabytes facts and remembered answers may take on each master.
    pub history_mb: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Topology {
    /// One server.
    #[default]
    Single,
    /// A master with replicas, watched by sentinels.
    Sentinel,
    /// Several masters with a part of the keys each.
    Cluster,
}

#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Sentinel {
    /// The name under which the sentinels watch the master.
    pub master: String,
    /// An ACL user of the sentinels themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"watcher")]
    pub user: Option<String>,
    /// The password of the sentinels themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"a-password")]
    pub password: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Durability {
    /// A yes is as durable as this deployment of Redis.
    Redis,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Notify {
    /// Redis stays as it is.
    #[default]
    Keep,
    /// Onsale turns them on.
    Set,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            url: vec!["redis://127.0.0.1:6379".to_owned()],
            topology: Topology::Single,
            sentinel: Sentinel::default(),
            user: None,
            password: None,
            tls_ca: None,
            connect_ms: 1_000,
            command_ms: 250,
            connections: CONNECTIONS,
            prefix: PREFIX.to_owned(),
            durability: None,
            notify: Notify::Keep,
            cache_url: None,
            history_mb: HISTORY_MB,
        }
    }
}

impl From<&str> for Config {
    fn from(url: &str) -> Config {
        Config { url: vec![url.to_owned()], ..Config::default() }
    }
}

impl From<&String> for Config {
    fn from(url: &String) -> Config {
        Config::from(url.as_str())
    }
}

impl Config {
    pub fn connect(&self) -> Duration {
        Duration::from_millis(self.connect_ms)
    }

    pub fn command(&self) -> Duration {
        Duration::from_millis(self.command_ms)
    }

    /// How the second server is spoken to, if there is one.
    pub fn of_cache(&self) -> Option<Config> {
        let url = vec![self.cache_url.clone()?];
        let (prefix, tls_ca) = (self.prefix.clone(), self.tls_ca.clone());
        let (connect_ms, command_ms) = (self.connect_ms, self.command_ms);
        Some(Config { url, prefix, tls_ca, connect_ms, command_ms, connections: 1, ..Config::default() })
    }

    /// The same with secrets hidden, for printing; a password inside an address, too.
    pub fn masked(&self) -> Config {
        let hide = |secret: &Option<String>| secret.as_ref().map(|_| "********".to_owned());
        Config {
            url: self.url.iter().map(|url| masked_url(url)).collect(),
            password: hide(&self.password),
            sentinel: Sentinel { password: hide(&self.sentinel.password), ..self.sentinel.clone() },
            cache_url: self.cache_url.as_deref().map(masked_url),
            ..self.clone()
        }
    }

    /// Says what is wrong before anything is opened.
    pub fn check(&self) -> Result<(), LinkError> {
        let wrong = |what: String| Err(LinkError::Config(what));
        if self.url.is_empty() {
            return wrong("redis.url names no server; give one like redis://127.0.0.1:6379".to_owned());
        }
        if self.topology == Topology::Single && self.url.len() > 1 {
            return wrong("redis.url names several servers, but redis.topology is single".to_owned());
        }
        if self.topology == Topology::Sentinel && self.sentinel.master.is_empty() {
            return wrong("redis.sentinel.master must name the master that the sentinels watch".to_owned());
        }
        self.check_prefix()?;
        for (name, value) in [("redis.connect_ms", self.connect_ms), ("redis.command_ms", self.command_ms)] {
            if !(10..=60_000).contains(&value) {
                return wrong(format!("{name} must be between 10 and 60000"));
            }
        }
        if !(1..=CONNECTIONS_MAX).contains(&self.connections) {
            return wrong(format!("redis.connections must be between 1 and {CONNECTIONS_MAX}"));
        }
        if !(HISTORY_MB_MIN..=HISTORY_MB_MAX).contains(&self.history_mb) {
            return wrong(format!("redis.history_mb must be between {HISTORY_MB_MIN} and {HISTORY_MB_MAX}"));
        }
        if let Some(cache) = &self.cache_url {
            if self.url.contains(cache) {
                return wrong("redis.cache_url is the server of the truth; leave it out instead".to_owned());
            }
            cache.as_str().into_connection_info().map_err(|_| {
                LinkError::Config(format!("redis.cache_url {} is no address of a server", masked_url(cache)))
            })?;
        }
        self.url.iter().try_for_each(|url| self.info(url).map(drop))
    }

    /// Without a prefix, or with one that ends in the middle of a word, keys of other programs could look like ours.
    fn check_prefix(&self) -> Result<(), LinkError> {
        let prefix = &self.prefix;
        let wrong = |what: String| Err(LinkError::Config(what));
        if prefix.is_empty() {
            return wrong(format!(
                "redis.prefix is empty, so our keys could not be told from those of other programs; leave it out to \
                 have \"{PREFIX}\", or give one that ends with a colon"
            ));
        }
        if prefix.contains(['{', '}']) {
            return wrong("redis.prefix may not contain braces, they would decide about the slot".to_owned());
        }
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b":_-.".contains(&byte);
        if !prefix.ends_with(':') || prefix.starts_with(':') || !prefix.bytes().all(plain) {
            return wrong(format!(
                "redis.prefix {prefix:?} must be of letters, digits and `_-.:`, begin with none of these colons and \
                 end with one, like \"{PREFIX}\""
            ));
        }
        if prefix.len() > PREFIX_MAX {
            return wrong(format!("redis.prefix may have at most {PREFIX_MAX} characters"));
        }
        Ok(())
    }

    /// How one of the named servers is reached, as the user of the data.
    pub(super) fn info(&self, url: &str) -> Result<ConnectionInfo, LinkError> {
        let unusable =
            || LinkError::Config(format!("redis.url {} is no address of a server", masked_url(url)));
        let info = url.into_connection_info().map_err(|_| unusable())?;
        if matches!(info.addr(), ConnectionAddr::Unix(_)) && self.topology != Topology::Single {
            return Err(LinkError::Config("a Unix socket leads to a single server only".to_owned()));
        }
        let mut settings = info.redis_settings().clone();
        if settings.db() != 0 && self.topology == Topology::Cluster {
            return Err(LinkError::Config("a Cluster has only the database 0".to_owned()));
        }
        if let Some(user) = &self.user {
            settings = settings.set_username(user);
        }
        if let Some(password) = &self.password {
            settings = settings.set_password(password);
        }
        Ok(tuned(info.set_redis_settings(settings), self))
    }

    /// How a sentinel is reached: with its own user, not the data's.
    pub(super) fn sentinel_info(&self, url: &str) -> Result<ConnectionInfo, LinkError> {
        let info = self.info(url)?;
        let mut settings = RedisConnectionInfo::default();
        if let Some(user) = &self.sentinel.user {
            settings = settings.set_username(user);
        }
        if let Some(password) = &self.sentinel.password {
            settings = settings.set_password(password);
        }
        Ok(info.set_redis_settings(settings))
    }
}

/// Small commands that wait for each other's acknowledgement would take 40 ms; a host that vanished must not hold
/// a connection for the quarter of an hour that the system would wait.
fn tuned(info: ConnectionInfo, config: &Config) -> ConnectionInfo {
    let gone = (config.connect() + config.command()) * 2;
    let tcp = TcpSettings::default().set_nodelay(true).set_user_timeout(gone);
    info.set_tcp_settings(tcp)
}

fn masked_url(url: &str) -> String {
    match (url.split_once("://"), url.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, host))) => format!("{scheme}://********@{host}"),
        _ => url.to_owned(),
    }
}

/// `url = "redis://…"` as well as `url = ["redis://…", …]`.
fn one_or_several<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Urls {
        One(String),
        Several(Vec<String>),
    }
    Ok(match Urls::deserialize(from)? {
        // The environment has no lists; blanks and commas do not occur in an address.
        Urls::One(text) => {
            text.split([',', ' ']).map(str::trim).filter(|url| !url.is_empty()).map(str::to_owned).collect()
        }
        Urls::Several(urls) => urls,
    })
}

impl std::fmt::Debug for Config {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shown = self.masked();
        f.debug_struct("Config")
            .field("url", &shown.url)
            .field("topology", &shown.topology)
            .field("prefix", &shown.prefix)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Sentinel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sentinel").field("master", &self.master).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(change: impl FnOnce(&mut Config)) -> String {
        let mut config = Config::default();
        change(&mut config);
        config.check().expect_err("refused").to_string()
    }

    #[test]
    fn what_cannot_work_is_refused_by_name() {
        assert!(Config::default().check().is_ok());
        for (text, change) in [
            ("names no server", (|one| one.url.clear()) as fn(&mut Config)),
            ("several servers", |one| one.url.push("redis://127.0.0.1:1".to_owned())),
            ("redis.sentinel.master", |one| one.topology = Topology::Sentinel),
            ("braces", |one| one.prefix = "{a}:".to_owned()),
            ("redis.prefix is empty", |one| one.prefix = String::new()),
            ("end with one", |one| one.prefix = "house".to_owned()),
            ("letters, digits", |one| one.prefix = "a house:".to_owned()),
            ("letters, digits", |one| one.prefix = ":".to_owned()),
            ("at most 64", |one| one.prefix = format!("{}:", "a".repeat(64))),
            ("redis.command_ms", |one| one.command_ms = 0),
            ("redis.connections", |one| one.connections = 0),
            ("no address", |one| one.url = vec!["http://:secret@example.org".to_owned()]),
        ] {
            let told = refused(change);
            assert!(told.contains(text) && !told.contains("secret"), "{told}");
        }
    }

    #[test]
    fn one_address_or_several() {
        let read = |text: &str| toml::from_str::<Config>(text).expect("readable").url;
        assert_eq!(read("url = 'redis://a'"), ["redis://a"]);
        assert_eq!(read("url = 'redis://a, redis://b'"), ["redis://a", "redis://b"]);
        assert_eq!(read("url = ['redis://a', 'redis://b']"), ["redis://a", "redis://b"]);
        assert!(toml::from_str::<Config>("urls = 'redis://a'").is_err());
    }

    #[test]
    fn secrets_are_hidden() {
        let config =
            Config { password: Some("secret".to_owned()), ..Config::from("redis://ann:secret@host:1") };
        let shown = toml::to_string(&config.masked()).expect("printable") + &format!("{config:?}");
        assert!(!shown.contains("secret") && shown.contains("redis://********@host:1"), "{shown}");
    }
}
