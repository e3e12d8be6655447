//! The port of the engines on Redis or Valkey: one Lua script per verb decides, atomically and in one slot.
//! Pure parts first (`keys`, `facts`, `commands`, `reply`); only `link` talks to a server.

pub mod deployment;
pub mod facts;
pub mod inspect;
pub mod keys;
pub mod link;
pub mod scripts;

pub use keys::Keys;
pub use link::{Link, LinkError};
pub use scripts::{Script, Scripts};
