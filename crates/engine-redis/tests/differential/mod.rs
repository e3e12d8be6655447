//! Random histories on the domain and on Lua, and what they reached: shared by the tests of every kind of listing.

pub(crate) mod chance;
pub(crate) mod histories;
pub(crate) mod reference;
mod spoil;
pub(crate) mod tally;
