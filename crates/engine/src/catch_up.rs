//! How a picture over many listings is kept true without a task of its own: all of them are looked at once, and then those
//! that moved, whenever somebody asks. Calendars are kept so; it decides nothing.

use std::collections::BTreeSet;

use onsale_domain::{ListingId, ListingKind, Tenant};

use crate::engine::{Engine, View};
use crate::moved::MovedListings;

/// Listings taken in at a time.
const PAGE: usize = 500;

#[derive(Debug)]
pub(crate) struct CatchUp {
    moved: MovedListings,
    /// Of whom all listings were looked at once; from then on it is enough to hear which move.
    read: BTreeSet<(Tenant, ListingKind)>,
}

impl CatchUp {
    pub(crate) fn new(engine: &dyn Engine, kinds: &'static [ListingKind]) -> CatchUp {
        CatchUp { moved: engine.moved(kinds), read: BTreeSet::new() }
    }

    /// Tells of each listing that has moved, and the first time of all listings of this tenant and kind.
    pub(crate) fn run(
        &mut self,
        engine: &dyn Engine,
        of: (Tenant, ListingKind),
        mut note: impl FnMut(ListingId, Option<&View>),
    ) {
        loop {
            let moved = self.moved.take(PAGE);
            moved.iter().for_each(|(listing, _)| note(*listing, engine.view(listing).as_deref()));
            if moved.len() < PAGE {
                break;
            }
        }
        if !self.read.insert(of) {
            return;
        }
        let (tenant, kind) = of;
        let mut after = None;
        loop {
            let views = engine.listings(tenant, kind, after, PAGE);
            views.iter().for_each(|view| note(view.listing, Some(view)));
            match views.last() {
                Some(last) if views.len() == PAGE => after = Some(last.listing),
                Some(_) | None => break,
            }
        }
    }
}
