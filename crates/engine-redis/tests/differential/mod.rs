//! Random histories on the domain and on Lua, and what they reached: shared by the tests of every kind of listing.

pub mod chance;
pub mod histories;
pub mod reference;
mod spoil;
pub mod tally;
