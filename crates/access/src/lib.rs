//! Who asks, what they may do, and how fast. The truth is in SQL (`onsale-sql`); what every request needs is kept in memory and
//! forgotten within a second of a change. Knows no HTTP, and decides nothing about goods.

pub mod limits;
pub mod mail;
pub mod principal;
pub mod role;
pub mod scope;
