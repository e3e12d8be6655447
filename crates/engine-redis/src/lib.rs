//! The port of the engines on Redis or Valkey: one Lua script per verb decides, atomically and in one slot.
//! Pure parts first (`keys`, `facts`, `commands`, `reply`); only `link` talks to a server.

pub mod caller;
pub mod commands;
pub mod damage;
pub mod deployment;

pub mod facts;
mod index;
pub mod inspect;
pub mod keys;
mod kinds;
pub mod layout;
pub mod link;
pub mod live;
pub mod picture;
pub mod reply;
pub mod scripts;
pub mod state;

pub use keys::Keys;
pub use link::{Link, LinkError};
pub use live::RedisEngine;
pub use scripts::{Script, Scripts};
