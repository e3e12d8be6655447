//! Which listings of some kinds are not over yet, by their end: so that a question about what is on costs what is on, and
//! not what ever was. It keeps no task: whoever asks brings it up to date with the listings that moved.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use onsale_domain::{ListingId, ListingKind, Millis, Tenant};
use parking_lot::Mutex;

use crate::agenda::Agenda;
use crate::engine::{Engine, View};
use crate::moved::Moved;

/// Listings taken in at a time.
const PAGE: usize = 500;

/// A listing's end and its id: the order of the calendar.
pub type Place = (Millis, ListingId);

#[derive(Debug)]
pub struct Calendar {
    moved: Moved,
    pages: Mutex<Pages>,
}

#[derive(Debug, Default)]
struct Pages {
    by_kind: BTreeMap<(Tenant, ListingKind), Agenda>,
    /// Of whom all listings were looked at once; from then on it is enough to hear which move.
    read: BTreeSet<(Tenant, ListingKind)>,
}

impl Calendar {
    pub fn new(engine: &dyn Engine, kinds: &'static [ListingKind]) -> Calendar {
        Calendar { moved: engine.moved(kinds), pages: Mutex::default() }
    }

    /// The first listing of a kind that ends after `now` and comes after a place; the next call takes its place.
    pub fn next(
        &self,
        engine: &dyn Engine,
        of: (Tenant, ListingKind),
        now: Millis,
        after: Option<Place>,
    ) -> Option<(Place, Arc<View>)> {
        let mut pages = self.pages.lock();
        self.catch_up(&mut pages, engine, of);
        let (tenant, kind) = of;
        let first = (now, ListingId { tenant, kind, number: 0 });
        let mut place = after.filter(|after| *after > first).unwrap_or(first);
        loop {
            let agenda = pages.by_kind.get_mut(&of)?;
            place = agenda.after(place).find(|(end, _)| *end > now)?;
            let (end, listing) = place;
            let view = engine.view(&listing);
            match view.filter(|view| view.body.over_at() == Some(end)) {
                Some(view) => return Some((place, view)),
                // It has moved since the calendar was brought up to date: its new place is further on, or nowhere.
                None => agenda.set(listing, end_of(engine, &listing)),
            }
        }
    }

    fn catch_up(&self, pages: &mut Pages, engine: &dyn Engine, of: (Tenant, ListingKind)) {
        loop {
            let moved = self.moved.take(PAGE);
            for (listing, _) in &moved {
                let agenda = pages.by_kind.entry((listing.tenant, listing.kind)).or_default();
                agenda.set(*listing, end_of(engine, listing));
            }
            if moved.len() < PAGE {
                break;
            }
        }
        if !pages.read.insert(of) {
            return;
        }
        let (tenant, kind) = of;
        let agenda = pages.by_kind.entry(of).or_default();
        let mut after = None;
        loop {
            let views = engine.listings(tenant, kind, after, PAGE);
            views.iter().for_each(|view| agenda.set(view.listing, view.body.over_at()));
            match views.last() {
                Some(last) if views.len() == PAGE => after = Some(last.listing),
                Some(_) | None => break,
            }
        }
    }
}

fn end_of(engine: &dyn Engine, listing: &ListingId) -> Option<Millis> {
    engine.view(listing)?.body.over_at()
}
