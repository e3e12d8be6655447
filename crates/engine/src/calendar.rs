//! Which listings of some kinds are not over yet, by their end: so that a question about what ends soon costs what it
//! finds, and not what ever was. It keeps no task: whoever asks brings it up to date with the listings that moved.

use std::collections::BTreeMap;
use std::sync::Arc;

use onsale_domain::{ListingId, ListingKind, Millis, Tenant};
use parking_lot::Mutex;

use crate::agenda::Agenda;
use crate::catch_up::CatchUp;
use crate::engine::{Engine, View};

/// A listing's end and its id: the order of the calendar.
pub type Place = (Millis, ListingId);

#[derive(Debug)]
pub struct Calendar {
    pages: Mutex<Pages>,
}

#[derive(Debug)]
struct Pages {
    catch_up: CatchUp,
    by_kind: BTreeMap<(Tenant, ListingKind), Agenda>,
}

impl Calendar {
    pub fn new(engine: &dyn Engine, kinds: &'static [ListingKind]) -> Calendar {
        let catch_up = CatchUp::new(engine, kinds);
        Calendar { pages: Mutex::new(Pages { catch_up, by_kind: BTreeMap::new() }) }
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
        let Pages { catch_up, by_kind } = &mut *pages;
        catch_up.run(engine, of, |listing, view| {
            let end = view.and_then(|view| view.body.over_at());
            by_kind.entry((listing.tenant, listing.kind)).or_default().set(listing, end);
        });
        let (tenant, kind) = of;
        let first = (now, ListingId { tenant, kind, number: 0 });
        let mut place = after.filter(|after| *after > first).unwrap_or(first);
        loop {
            let agenda = by_kind.get_mut(&of)?;
            place = agenda.after(place).find(|(end, _)| *end > now)?;
            let (end, listing) = place;
            let view = engine.view(&listing);
            match view.filter(|view| view.body.over_at() == Some(end)) {
                Some(view) => return Some((place, view)),
                // It has moved since the calendar was brought up to date: its new place is further on, or nowhere.
                None => agenda.set(listing, engine.view(&listing).and_then(|view| view.body.over_at())),
            }
        }
    }
}
