//! Sales, series, registrations and auctions: decided by a second copy of the domain that was never written to a disk nor read
//! from one. What the rules say is compared with a naive reading of them in the domain's own tests; here it is what
//! crashes, snapshots and retries make of them. Each fact is held against the promises of its kind besides.

use onsale_domain::{Command, Fact, Listing, ListingId, ListingKind, Millis, Outcome};

use onsale_domain::listing::Body;
use onsale_domain::registration::details::RegistrationStatus;
use onsale_domain::series::SeriesStatus;
use onsale_domain::stock::details::SaleStatus;

use super::promises::Promises;

#[derive(Clone, Debug)]
pub struct Other {
    pub listing: Listing,
    promises: Promises,
}

impl Other {
    /// Nothing yet of a listing of such a kind; `None` for the kinds that have a model of their own.
    pub fn begin(id: ListingId) -> Option<Other> {
        match id.kind {
            ListingKind::Venue | ListingKind::Event | ListingKind::Desk => None,
            ListingKind::Sale | ListingKind::Series | ListingKind::Registration | ListingKind::Auction => {
                Some(Other { listing: Listing::new(id, 1), promises: Promises::default() })
            }
        }
    }

    /// Not over yet: there is something to be had.
    pub fn goes_on(&self) -> bool {
        match &self.listing.body {
            Body::Sale(sale) => matches!(sale.status(), SaleStatus::Scheduled | SaleStatus::Open),
            Body::Registration(registration) => {
                matches!(registration.view().status, RegistrationStatus::Scheduled | RegistrationStatus::Open)
            }
            Body::Series(series) => series.status() != SeriesStatus::Ended,
            Body::Auction(auction) => auction.next_due().is_some(),
            Body::Nothing | Body::Venue(_) | Body::Event(_) | Body::Desk(_) => false,
        }
    }

    pub fn execute(&mut self, command: &Command, now: Millis) -> (Vec<Fact>, Outcome) {
        let mut facts = Vec::new();
        let outcome = self.listing.execute(command, now, &mut facts);
        facts.iter().for_each(|fact| self.promises.take(fact, now));
        (facts, outcome)
    }

    pub fn apply(&mut self, fact: &Fact, at: Millis) {
        self.listing.apply(fact, at);
        self.promises.take(fact, at);
    }
}
