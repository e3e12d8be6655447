//! Which listings changed since somebody last looked: a set that coalesces, so that a busy listing costs a slow reader
//! one entry. Engines feed it where they publish views. Whoever needs each fact reads them after a position of its own;
//! nobody walks all listings to find the few that moved.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use onsale_domain::{ListingId, ListingKind};
use parking_lot::{Mutex, RwLock};
use tokio::sync::Notify;

use crate::engine::Position;

/// One reader's set. It holds at most one entry per listing, so the number of listings bounds it.
#[derive(Debug)]
pub struct MovedListings {
    inner: Arc<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    kinds: &'static [ListingKind],
    listings: Mutex<BTreeMap<ListingId, Position>>,
    wake: Notify,
}

impl MovedListings {
    /// What moved since the last call, in order of ids, at most `limit` listings; the others wait for the next call.
    pub fn take(&self, limit: usize) -> Vec<(ListingId, Position)> {
        let mut listings = self.inner.listings.lock();
        let rest = match listings.keys().nth(limit).copied() {
            Some(first_left) => listings.split_off(&first_left),
            None => BTreeMap::new(),
        };
        std::mem::replace(&mut *listings, rest).into_iter().collect()
    }

    /// Waits until something has moved, and takes it. Loses nothing if the future is dropped before it is ready.
    pub async fn next(&self, limit: usize) -> Vec<(ListingId, Position)> {
        loop {
            let moved = self.take(limit);
            if !moved.is_empty() {
                return moved;
            }
            self.inner.wake.notified().await;
        }
    }

    /// Puts a listing back that could not be seen to; a newer position stays.
    pub fn put_back(&self, listing: ListingId, position: Position) {
        self.inner.note(listing, position);
    }
}

impl Waiting {
    fn note(&self, listing: ListingId, position: Position) {
        let mut listings = self.listings.lock();
        let noted = listings.entry(listing).or_insert(position);
        *noted = (*noted).max(position);
        drop(listings);
        self.wake.notify_one();
    }
}

/// Everybody who wants to hear which listings moved; an engine has one.
#[derive(Debug, Default)]
pub struct Movements {
    readers: RwLock<Vec<Weak<Waiting>>>,
    /// So that a publisher without readers pays a look at one number.
    count: AtomicUsize,
}

impl Movements {
    /// From now on the reader hears of these kinds. What exists already it must look at once itself.
    pub fn subscribe(&self, kinds: &'static [ListingKind]) -> MovedListings {
        let inner = Arc::new(Waiting { kinds, listings: Mutex::default(), wake: Notify::new() });
        let mut readers = self.readers.write();
        readers.retain(|reader| reader.strong_count() > 0);
        readers.push(Arc::downgrade(&inner));
        self.count.store(readers.len(), Ordering::Release);
        MovedListings { inner }
    }

    /// A view was published: call it after that, so that whoever is woken sees it.
    pub fn publish(&self, listing: ListingId, position: Position) {
        if self.count.load(Ordering::Acquire) == 0 {
            return;
        }
        for reader in self.readers.read().iter().filter_map(Weak::upgrade) {
            if reader.kinds.contains(&listing.kind) {
                reader.note(listing, position);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use onsale_domain::Tenant;

    use super::*;

    fn listing(kind: ListingKind, number: u64) -> ListingId {
        ListingId { tenant: Tenant::DEFAULT, kind, number }
    }

    fn at(offset: u64) -> Position {
        Position { epoch: 1, offset }
    }

    #[test]
    fn a_listing_that_moves_often_is_told_once_with_its_last_position() {
        let movements = Movements::default();
        let moved = movements.subscribe(&[ListingKind::Sale]);
        let sale = listing(ListingKind::Sale, 1);
        (1..=1_000).for_each(|offset| movements.publish(sale, at(offset)));
        movements.publish(listing(ListingKind::Event, 1), at(1));
        assert_eq!(moved.take(10), [(sale, at(1_000))]);
        assert_eq!(moved.take(10), []);
    }

    #[test]
    fn what_is_beyond_the_limit_waits_and_what_is_put_back_comes_again() {
        let movements = Movements::default();
        let moved = movements.subscribe(&[ListingKind::Sale]);
        let sales: Vec<ListingId> = (1..=3).map(|number| listing(ListingKind::Sale, number)).collect();
        sales.iter().for_each(|sale| movements.publish(*sale, at(7)));
        assert_eq!(moved.take(2).len(), 2);
        moved.put_back(sales[0], at(3));
        movements.publish(sales[0], at(9));
        assert_eq!(moved.take(5), [(sales[0], at(9)), (sales[2], at(7))]);
    }

    #[tokio::test]
    async fn a_reader_that_waits_is_woken_and_one_that_went_away_costs_nothing() {
        let movements = Arc::new(Movements::default());
        drop(movements.subscribe(&[ListingKind::Sale]));
        let moved = movements.subscribe(&[ListingKind::Sale]);
        let publisher = movements.clone();
        let sale = listing(ListingKind::Sale, 1);
        let waiting = tokio::spawn(async move { moved.next(8).await });
        publisher.publish(sale, at(1));
        assert_eq!(waiting.await.expect("the reader ends"), [(sale, at(1))]);
        assert_eq!(movements.readers.read().iter().filter(|reader| reader.strong_count() > 0).count(), 0);
    }
}
