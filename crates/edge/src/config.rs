//! What the edge must be told; the binary reads it from its configuration.

use std::path::PathBuf;

use onsale_domain::Millis;
use onsale_domain::order::Fees;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Everything the routes and the listener go by.
#[derive(Clone, Debug, Default)]
pub struct EdgeConfig {
    pub limits: Limits,
    pub tls: Option<Tls>,
    /// `POST /checkout` and `POST /purchase` without a key.
    pub compat_open: bool,
    /// Whether other servers share the store: a listing may have been made there a moment ago.
    pub shared_store: bool,
    /// What the house takes on top of an order.
    pub fees: Fees,
    /// How long a payment may take.
    pub pay_ms: Millis,
}

/// Every bound of the edge. Overflow is an answer, never growth.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// A command's body: twenty seat names fit many times over.
    pub body_bytes: usize,
    /// A layout of 100,000 seats takes about 10 MB of JSON.
    pub layout_body_bytes: usize,
    /// All headers of a request together.
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

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    /// A PEM file with the certificate and those that lead to its authority.
    #[schemars(example = &"cert.pem")]
    pub cert: PathBuf,
    /// A PEM file with the certificate's private key.
    #[schemars(example = &"key.pem")]
    pub key: PathBuf,
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
