//! Soft close: a bid in the last seconds moves the end, in the same fact as the bid, up to a cap.

use super::details::SoftCloseMode;
use super::state::Auction;
use crate::time::Millis;

/// The end after a bid at `now` that changed leader or price; a self-raise never asks.
pub(super) fn end_after(auction: &Auction, now: Millis) -> Millis {
    let end = auction.ends_at;
    let Some(rule) = &auction.terms().soft_close else { return end };
    if end - now > rule.window_ms {
        return end;
    }
    let list = &rule.extensions_ms;
    let nth = (auction.extensions as usize).min(list.len().saturating_sub(1));
    let extension = list.get(nth).copied().unwrap_or(0);
    let cap = auction.details.ends_at + rule.cap_ms;
    let moved = match rule.mode {
        SoftCloseMode::Reset => cap.min(now + extension),
        SoftCloseMode::Add => cap.min(end + extension),
    };
    end.max(moved)
}
