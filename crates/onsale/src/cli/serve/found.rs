//! What a start tells of the state it found: snapshots that could not be used, a clock that ran ahead.

use std::sync::Arc;

use onsale_domain::{ListingKind, Millis, Tenant};
use onsale_engine::embedded::EmbeddedEngine;
use onsale_engine::{Engine, View};

use onsale_edge::http::wire::listing_text;

/// Less is told of nobody: the clock of a store that servers share is known to some milliseconds only.
const AHEAD_MS_MIN: Millis = 1_000;
/// Listings that are looked at in one go.
const PAGE: usize = 1_000;

/// Each snapshot that was passed over; the journal behind the older one had everything.
pub(super) fn tell_snapshots(engine: &EmbeddedEngine) {
    for snapshot in &engine.report.passed_over {
        tracing::warn!(snapshot, "a snapshot was passed over, nothing is lost by it: {snapshot}");
    }
}

/// The listing whose time is furthest ahead of the clock. Time never goes back in a listing: until the clock has caught
/// up, nothing there becomes due.
pub(super) fn tell_clock(engine: &dyn Engine) {
    let now = engine.now();
    let Some(latest) = latest(engine).filter(|latest| latest.at - now >= AHEAD_MS_MIN) else { return };
    let (listing, ahead_ms) = (listing_text(&latest.listing), latest.at - now);
    let (seconds, rest) = (ahead_ms / 1_000, ahead_ms % 1_000);
    tracing::warn!(
        listing,
        ahead_ms,
        "the clock ran ahead before this start: the last change of {listing} is {seconds}.{rest:03} s later than now; \
         its time stands still for as long, check that the machine's clock is right"
    );
}

fn latest(engine: &dyn Engine) -> Option<Arc<View>> {
    let mut latest: Option<Arc<View>> = None;
    for kind in ListingKind::ALL {
        let mut after = None;
        loop {
            let page = engine.listings(Tenant::DEFAULT, kind, after, PAGE);
            let Some(last) = page.last() else { break };
            after = Some(last.listing);
            latest = page.into_iter().chain(latest).max_by_key(|view| view.at);
        }
    }
    latest
}
