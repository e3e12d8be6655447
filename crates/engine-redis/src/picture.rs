//! What a server knows of a listing: the domain's own state, fed by facts, and the versions of what scripts compare.
//! It prepares commands; it never decides.

use onsale_domain::{Fact, Listing, ListingId, Step};

use crate::kinds;
use crate::layout::Layout;

#[derive(Clone, Debug)]
pub struct Picture {
    pub listing: Listing,
    pub versions: Versions,
    pub layout: Layout,
}

/// How often the details and the chart were replaced; a script refuses to work on older ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Versions {
    pub details: u64,
    pub chart: u64,
}

impl Picture {
    pub fn nothing(id: ListingId) -> Picture {
        let (versions, layout) = (Versions::default(), Layout::default());
        Picture { listing: Listing::new(id, 1), versions, layout }
    }

    /// Takes the next step in; false if it is not the next one.
    pub fn apply(&mut self, step: &Step) -> bool {
        let next = step.first == self.listing.offset + 1;
        if next {
            self.listing.epoch = step.epoch;
            for fact in &step.facts {
                self.count(fact);
                self.listing.apply(fact, step.at);
            }
        }
        if next && self.listing.is_deleted() {
            // Nothing is left that a script would compare.
            (self.versions, self.layout) = (Versions::default(), Layout::default());
        }
        next
    }

    fn count(&mut self, fact: &Fact) {
        let kind = self.listing.id.kind;
        if kinds::details(kind).contains(&fact.kind()) {
            self.versions.details += 1;
        } else if kinds::charts(kind).contains(&fact.kind()) {
            self.versions.chart += 1;
        }
    }
}

impl std::fmt::Display for Versions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}|{}", self.details, self.chart)
    }
}
