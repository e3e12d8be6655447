//! Who asks, what they may do, and how fast. The truth is in SQL (`onsale-sql`); what every request needs is kept in memory and
//! forgotten within a second of a change. Knows no HTTP, and decides nothing about goods.

/// What the functions here take and fail with: whoever calls them needs no room of its own for that.
pub use onsale_sql::{SqlError, Tx};

pub mod accounts;
pub mod answers;
mod attempts;
pub mod audit;
pub mod changes;
pub mod cleaning;
pub mod context;
pub mod directory;
pub mod email;
pub mod house;
pub mod keys;
pub mod letters;
pub mod limits;
pub mod mail;
mod notes;
pub mod once;
mod one_time;
pub mod passwords;
pub mod principal;
mod random;
pub mod refusal;
pub mod role;
pub mod scope;
pub mod secrets;
pub mod sessions;
pub mod tables;
pub mod tenants;
pub mod vouchers;
