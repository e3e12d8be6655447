//! What replicas tell the engine's own tasks: that they moved, when they fall due, whether somebody follows them. So that
//! no task walks all listings to find the few it has something to do for.

use std::collections::BTreeSet;

use onsale_domain::{ListingId, Millis};
use onsale_engine::{Agenda, Movements};
use parking_lot::Mutex;

#[derive(Debug, Default)]
pub(super) struct Bulletin {
    /// Whatever is shown anew, by facts or by another epoch.
    pub movements: Movements,
    /// Those whose facts went on, for who compares them with Redis. An epoch alone is none: the listing was just read.
    pub gone_on: Movements,
    deadlines: Mutex<Agenda>,
    followed: Mutex<BTreeSet<ListingId>>,
}

impl Bulletin {
    /// When a listing falls due, or that it does not.
    pub(super) fn due(&self, listing: ListingId, at: Option<Millis>) {
        self.deadlines.lock().set(listing, at);
    }

    /// Takes out what is due; whoever sees to it says when it falls due again.
    pub(super) fn take_due(&self, now: Millis, limit: usize) -> Vec<ListingId> {
        self.deadlines.lock().take_due(now, limit)
    }

    pub(super) fn is_followed(&self, listing: ListingId, is: bool) {
        let mut followed = self.followed.lock();
        match is {
            true => followed.insert(listing),
            false => followed.remove(&listing),
        };
    }

    pub(super) fn followed(&self) -> BTreeSet<ListingId> {
        self.followed.lock().clone()
    }
}
