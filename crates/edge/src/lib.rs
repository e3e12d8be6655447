//! The edge of the house: who listens, what a request passes, and the routes over the engine's port. Ids, labels and
//! secrets are translated here; nothing here decides who gets what. Readable first: `http/table.rs`.

pub mod app;
pub mod config;
pub mod http;
pub mod idempotency;
pub mod listen;
pub mod metrics;
pub mod token;
pub mod version;
pub mod zone;

pub use app::App;
pub use config::EdgeConfig;
