//! Which replicas a question about one buyer is put to: those that move, and those at rest in which the buyer has
//! something.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use onsale_domain::{BuyerId, ListingId, ListingKind, Tenant};
use onsale_engine::MovedListings;
use onsale_engine::buyers::{BuyerIndex, REST_MS};
use parking_lot::Mutex;

use super::Inner;
use super::bulletin::Bulletin;
use super::replica::Replica;
use crate::picture::Picture;

#[derive(Debug)]
pub(super) struct Buyers {
    moved: MovedListings,
    index: Mutex<BuyerIndex<ListingId>>,
}

impl Buyers {
    /// Before the first replica is made: each announces itself.
    pub(super) fn new(bulletin: &Bulletin) -> Buyers {
        Buyers { moved: bulletin.movements.subscribe(&ListingKind::ALL), index: Mutex::default() }
    }
}

impl Inner {
    /// Replicas of a kind in which the buyer may have something, in order of their ids, with those that a key hints at.
    pub(super) fn replicas_of(
        &self,
        (tenant, kind): (Tenant, ListingKind),
        buyer: &BuyerId,
        hinted: &BTreeSet<ListingId>,
    ) -> Vec<Arc<Replica>> {
        let (now, lately) = (self.clock.now(), self.clock.passed() - REST_MS);
        let mut index = self.buyers.index.lock();
        self.buyers.moved.take(usize::MAX).into_iter().for_each(|(listing, _)| index.note(listing));
        let known = index.listings_of(buyer, |listing, name| {
            // One that is gone has nobody.
            let Some(replica) = self.directory.get(&listing) else { return true };
            let is_untouched = replica.touched.load(Ordering::Relaxed) < lately;
            replica.with(|Picture { listing, .. }| {
                let rests = is_untouched || now - listing.last_at >= REST_MS;
                if rests {
                    listing.each_buyer(name);
                }
                rests
            })
        });
        drop(index);
        let all: BTreeSet<ListingId> = known.into_iter().chain(hinted.iter().copied()).collect();
        let of_kind = all.iter().filter(|listing| listing.tenant == tenant && listing.kind == kind);
        of_kind.filter_map(|listing| self.directory.get(listing)).collect()
    }
}
