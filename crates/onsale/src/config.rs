//! The configuration: defaults, then a TOML file, then `ONSALE_*` from the environment, then flags.
//! A key nobody knows is refused by name; nothing is ever silently ignored.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use figment2::Figment;
use figment2::providers::{Env, Format, Serialized, Toml};
use onsale_access::mail::{MailConfig, MailError};
use onsale_edge::EdgeConfig;
use onsale_engine_redis::link;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

pub mod access;
mod engine;
mod payments;
pub mod reference;
mod stripe;
mod wrong;

use crate::logs;

pub use onsale_edge::config::{Limits, Tls};
pub use onsale_payments::stripe::{Secret, StripeKeys};
pub use payments::{Payments, ProviderName};
pub use stripe::{Stripe, StripeError};

/// Read if it exists and no other file is named.
pub const DEFAULT_FILE: &str = "onsale.toml";

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Address and port to listen on: one of this machine's own, until there are accounts.
    #[schemars(with = "String")]
    pub listen: SocketAddr,
    /// The folder with journal, snapshots and keys.
    pub data: PathBuf,
    /// May do everything in the first tenant, at least 8 characters. If absent, the first start makes an admin key in the database of
    /// keys and accounts and prints it once; `onsale keys` makes others. With `access.database = "none"` one is made in the data folder
    /// instead, as `api_key`; such a file still opens when accounts are turned on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"a-long-random-word")]
    pub api_key: Option<String>,
    /// Signs hold tokens, codes and order keys; made on the first start and kept in the data folder if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"another-long-random-word")]
    pub house_key: Option<String>,
    /// `POST /checkout` and `POST /purchase` without a key: whoever reaches the port may buy, as paid elsewhere.
    pub compat_open: bool,
    /// Bounds of requests and connections. Overflow is an answer, never growth.
    pub limits: Limits,
    /// What is written to standard error.
    pub log: Log,
    /// Which engine decides. `engine = "redis"` says the same as `kind = "redis"` here.
    pub engine: EngineConfig,
    /// The Redis or Valkey that several servers share, if `engine.kind` says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redis: Option<link::Config>,
    /// Keys, accounts and sessions.
    pub access: access::Access,
    /// Letters to people: verification, new passwords, new devices.
    pub mail: MailConfig,
    /// HTTPS, if this section is there; plain HTTP without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls: Option<Tls>,
    /// How orders are paid.
    pub payments: Payments,
    /// How Stripe is reached, if it takes the money.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stripe: Option<Stripe>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Log {
    /// How lines are written.
    pub format: LogFormat,
    /// `off`, `error`, `warn`, `info`, `debug` or `trace`; other levels for single modules behind commas:
    /// `warn,onsale_engine_redis=debug`.
    pub level: String,
    /// A line for each request: method, route, status, milliseconds, bytes and request id. At full load it costs more
    /// than the request.
    pub access: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// For people.
    Text,
    /// One object a line, for programs.
    Json,
}

/// Which engine decides, and how the embedded one is laid out. `engine = "redis"` says the same as
/// `[engine] kind = "redis"`.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[schemars(default)]
pub struct EngineConfig {
    /// Where is decided.
    pub kind: EngineKind,
    /// Threads that write, of the embedded engine; its own choice if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = 2)]
    pub shards: Option<usize>,
    /// Commands that may wait for each of them before the answer is `busy`; the engine's own choice if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = 4096)]
    pub queue: Option<usize>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EngineKind {
    /// Inside this process, durable in its data folder.
    #[default]
    Embedded,
    /// In a Redis or Valkey that several servers share: section `[redis]`.
    Redis,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            listen: SocketAddr::from(([127, 0, 0, 1], 7070)),
            data: PathBuf::from("onsale-data"),
            api_key: None,
            house_key: None,
            compat_open: false,
            limits: Limits::default(),
            log: Log { format: LogFormat::Text, level: "info".to_owned(), access: false },
            engine: EngineConfig::default(),
            redis: None,
            access: access::Access::default(),
            mail: MailConfig::default(),
            tls: None,
            payments: Payments::default(),
            stripe: None,
        }
    }
}

impl Default for Log {
    fn default() -> Self {
        Config::default().log
    }
}

#[derive(Debug, Error)]
pub enum ConfigError {
    #[error("the configuration file {0} does not exist")]
    NoFile(PathBuf),
    #[error("the configuration is wrong: {}", wrong::words(.0))]
    Wrong(Box<figment2::Error>),
    #[error(
        "listen = {0} is refused: until there are accounts, one API key guards everything and the buyer is taken \
         from a header, so the server binds to loopback only (127.0.0.1 or [::1])"
    )]
    NotLoopback(SocketAddr),
    #[error(
        "log.level: {0}; the levels are off, error, warn, info, debug and trace, for single modules behind commas: \
         warn,onsale_engine_redis=debug"
    )]
    LogLevel(String),
    #[error("access: {0}")]
    Access(&'static str),
    #[error("the configuration is wrong: {0}")]
    Mail(#[from] MailError),
    #[error("{0} must be at least {1}")]
    TooSmall(&'static str, u64),
    #[error(
        "engine = redis needs {0}: several servers must take the same keys and sign hold tokens alike, so neither can \
         be made by the first start of each"
    )]
    NotShared(&'static str),
    #[error("api_key must have at least 8 characters, all of them visible ASCII")]
    WeakApiKey,
    #[error("the configuration is wrong: {0}")]
    Redis(link::LinkError),
    #[error("the configuration is wrong: {0}")]
    Stripe(#[from] StripeError),
}

/// The texts that the environment sets to nothing. It would be read as no value at all, and the rule that such a text breaks would
/// not be what is told.
fn empty_texts(environment: &Env) -> Vec<String> {
    let all = Config { redis: Some(link::Config::default()), ..Config::default() };
    let all = Figment::from(Serialized::defaults(all));
    let is_text = |name: &String| all.find_value(name).is_ok_and(|value| value.as_str().is_some());
    let empty = environment.iter().filter(|(_, value)| value.is_empty());
    empty.map(|(name, _)| name.to_string()).filter(is_text).collect()
}

impl Config {
    /// Loads and checks: `file` if given (it must exist), else `onsale.toml` if there is one.
    /// `flags` holds only what was said on the command line.
    pub fn load(file: Option<&Path>, flags: &impl Serialize) -> Result<Config, ConfigError> {
        let mut figment = Figment::from(Serialized::defaults(Config::default()));
        let file = match file {
            Some(file) if !file.is_file() => return Err(ConfigError::NoFile(file.to_owned())),
            Some(file) => Some(file),
            None => Some(Path::new(DEFAULT_FILE)).filter(|file| file.is_file()),
        };
        if let Some(file) = file {
            figment = figment.merge(Toml::file(file).search(false));
        }
        let environment = Env::prefixed("ONSALE_").ignore(&["config", "key"]).split("__");
        let empty = empty_texts(&environment);
        figment = figment.merge(environment);
        for name in &empty {
            figment = figment.merge((name.as_str(), ""));
        }
        figment = figment.merge(Serialized::defaults(flags));
        let config: Config = figment.extract().map_err(|error| ConfigError::Wrong(Box::new(error)))?;
        config.check()?;
        Ok(config)
    }

    fn check(&self) -> Result<(), ConfigError> {
        if !self.listen.ip().is_loopback() {
            return Err(ConfigError::NotLoopback(self.listen));
        }
        logs::check(&self.log.level).map_err(ConfigError::LogLevel)?;
        if let Some(problem) = self.access.problem() {
            return Err(ConfigError::Access(problem));
        }
        self.mail.check()?;
        let limits = &self.limits;
        let floors = [
            ("limits.body_bytes", limits.body_bytes as u64, 1 << 10),
            ("limits.layout_body_bytes", limits.layout_body_bytes as u64, 1 << 10),
            ("limits.header_bytes", limits.header_bytes as u64, 8 << 10),
            ("limits.request_timeout_ms", limits.request_timeout_ms, 10),
            ("limits.idle_timeout_ms", limits.idle_timeout_ms, 100),
            ("limits.write_timeout_ms", limits.write_timeout_ms, 100),
            ("limits.connections_max", limits.connections_max as u64, 1),
            ("limits.stream_heartbeat_ms", limits.stream_heartbeat_ms, 100),
        ];
        for (name, value, floor) in floors {
            if value < floor {
                return Err(ConfigError::TooSmall(name, floor));
            }
        }
        self.redis.as_ref().map_or(Ok(()), link::Config::check).map_err(ConfigError::Redis)?;
        if self.engine.kind == EngineKind::Redis {
            for (name, is_set) in
                [("api_key", self.api_key.is_some()), ("house_key", self.house_key.is_some())]
            {
                if !is_set {
                    return Err(ConfigError::NotShared(name));
                }
            }
        }
        if self.payments.provider == ProviderName::Stripe {
            self.stripe_keys()?;
        }
        let visible = |key: &String| key.len() >= 8 && key.bytes().all(|b| b.is_ascii_graphic());
        if !self.api_key.as_ref().is_none_or(visible) {
            return Err(ConfigError::WeakApiKey);
        }
        Ok(())
    }

    /// What the edge goes by.
    pub fn edge(&self) -> EdgeConfig {
        EdgeConfig {
            limits: self.limits.clone(),
            tls: self.tls.clone(),
            compat_open: self.compat_open,
            shared_store: self.engine.kind == EngineKind::Redis,
            fees: self.payments.fees(),
            pay_ms: self.payments.pay_ms(),
        }
    }

    /// What Stripe is asked with; said clearly if something is missing.
    pub fn stripe_keys(&self) -> Result<StripeKeys, StripeError> {
        self.stripe.clone().unwrap_or_default().keys()
    }

    /// The same with secrets hidden, for printing.
    pub fn masked(&self) -> Config {
        let hide = |secret: &Option<String>| secret.as_ref().map(|_| "********".to_owned());
        Config {
            api_key: hide(&self.api_key),
            house_key: hide(&self.house_key),
            redis: self.redis.as_ref().map(link::Config::masked),
            stripe: self.stripe.as_ref().map(Stripe::masked),
            access: self.access.masked(),
            mail: self.mail.masked(),
            ..self.clone()
        }
    }
}
