//! The configuration: defaults, then a TOML file, then `ONSALE_*` from the environment, then flags.
//! A key nobody knows is refused by name; nothing is ever silently ignored.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use figment2::Figment;
use figment2::providers::{Env, Format, Serialized, Toml};
use onsale_engine_redis::link;
use serde::{Deserialize, Serialize};
use thiserror::Error;

mod engine;
mod payments;
mod stripe;

pub use onsale_payments::stripe::{Keys as StripeKeys, Secret};
pub use payments::{Payments, ProviderName};
pub use stripe::{Stripe, StripeError};

/// Read if it exists and no other file is named.
pub const DEFAULT_FILE: &str = "onsale.toml";

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    pub listen: SocketAddr,
    /// The folder with journal, snapshots and keys.
    pub data: PathBuf,
    /// Guards every route; made on the first start if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key: Option<String>,
    /// Signs hold tokens; made on the first start if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub house_key: Option<String>,
    /// `POST /checkout` and `POST /purchase` without a key: whoever reaches the port may buy, as paid elsewhere.
    pub compat_open: bool,
    pub limits: Limits,
    pub log: Log,
    pub engine: EngineConfig,
    /// The store of several servers, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redis: Option<link::Config>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls: Option<Tls>,
    pub payments: Payments,
    /// How Stripe is reached, if it takes the money.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stripe: Option<Stripe>,
}

/// Every bound of the edge. Overflow is an answer, never growth.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// A command's body: twenty seat names fit many times over.
    pub body_bytes: usize,
    /// A layout of 100,000 seats takes about 10 MB of JSON.
    pub layout_body_bytes: usize,
    pub header_bytes: usize,
    /// A request without an answer by then gets 503; the engine normally needs milliseconds.
    pub request_timeout_ms: u64,
    /// A connection that says nothing for so long is closed.
    pub idle_timeout_ms: u64,
    /// A reader that takes nothing for so long is cut.
    pub write_timeout_ms: u64,
    /// Open connections; beyond it a new one is told 503 and closed.
    pub connections_max: usize,
    /// Open event streams.
    pub streams_max: usize,
    /// A comment line on a quiet stream, so that proxies and clients know it lives.
    pub stream_heartbeat_ms: u64,
    /// How long a stop waits for requests under way.
    pub shutdown_ms: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Log {
    pub format: LogFormat,
    /// `error`, `warn`, `info`, `debug`, `trace`, or a filter by module.
    pub level: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    Text,
    Json,
}

/// Which engine decides, and how the embedded one is laid out. `engine = "redis"` says the same as
/// `[engine] kind = "redis"`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct EngineConfig {
    pub kind: EngineKind,
    /// Writer threads; by default the engine's own choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shards: Option<usize>,
    /// Commands that may wait per shard before the answer is `busy`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<usize>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EngineKind {
    /// Inside this process, durable in its data folder.
    #[default]
    Embedded,
    /// In a Redis or Valkey that several servers share: section `[redis]`.
    Redis,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    /// PEM files: the certificate chain and its private key.
    pub cert: PathBuf,
    pub key: PathBuf,
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
            log: Log { format: LogFormat::Text, level: "info".to_owned() },
            engine: EngineConfig::default(),
            redis: None,
            tls: None,
            payments: Payments::default(),
            stripe: None,
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            body_bytes: 64 << 10,
            layout_body_bytes: 16 << 20,
            header_bytes: 16 << 10,
            request_timeout_ms: 10_000,
            idle_timeout_ms: 75_000,
            write_timeout_ms: 20_000,
            connections_max: 20_000,
            streams_max: 10_000,
            stream_heartbeat_ms: 15_000,
            shutdown_ms: 10_000,
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
    #[error("the configuration is wrong: {0}")]
    Wrong(Box<figment2::Error>),
    #[error(
        "listen = {0} is refused: until there are accounts, one API key guards everything and the buyer is taken \
         from a header, so the server binds to loopback only (127.0.0.1 or [::1])"
    )]
    NotLoopback(SocketAddr),
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
        figment = figment
            .merge(Env::prefixed("ONSALE_").ignore(&["config"]).split("__"))
            .merge(Serialized::defaults(flags));
        let config: Config = figment.extract().map_err(|error| ConfigError::Wrong(Box::new(error)))?;
        config.check()?;
        Ok(config)
    }

    fn check(&self) -> Result<(), ConfigError> {
        if !self.listen.ip().is_loopback() {
            return Err(ConfigError::NotLoopback(self.listen));
        }
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
            ..self.clone()
        }
    }
}
