//! Everybody an auction knows: bidders, watchers and the banned.

pub(super) use onsale_compact::people::{NOBODY, People};

pub(super) const WATCHES: u8 = 1;
pub(super) const BANNED: u8 = 2;
/// Has bid at least once, retracted bids too.
pub(super) const BIDS: u8 = 4;
