//! Who asks, what they may do, and how fast. The truth is in SQL (`onsale-sql`); what every request needs is kept in memory and
//! forgotten within a second of a change. Knows no HTTP, and decides nothing about goods.

pub mod answers;
pub mod audit;
pub mod changes;
pub mod cleaning;
pub mod directory;
pub mod keys;
pub mod principal;
mod random;
pub mod refusal;
pub mod role;
pub mod scope;
pub mod tables;
pub mod tenants;
pub mod vouchers;
