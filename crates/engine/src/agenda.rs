//! When each of many things is to be looked at: whoever waits for deadlines looks at the first of them, and walks nothing.

use std::collections::BTreeSet;
use std::ops::Bound;

use hashbrown::HashMap;
use onsale_domain::{ListingId, Millis};

/// Listings by the time at which somebody must look at them; one that waits for nothing is not here.
#[derive(Debug, Default)]
pub struct Agenda {
    by_time: BTreeSet<(Millis, ListingId)>,
    times: HashMap<ListingId, Millis>,
}

impl Agenda {
    /// Sets or changes when a listing is looked at; `None` takes it out.
    pub fn set(&mut self, listing: ListingId, at: Option<Millis>) {
        let before = match at {
            Some(at) => self.times.insert(listing, at),
            None => self.times.remove(&listing),
        };
        if before == at {
            return;
        }
        if let Some(before) = before {
            self.by_time.remove(&(before, listing));
        }
        if let Some(at) = at {
            self.by_time.insert((at, listing));
        }
    }

    /// Takes out what is due, the earliest first, at most `limit` of it.
    pub fn take_due(&mut self, now: Millis, limit: usize) -> Vec<ListingId> {
        let mut due = Vec::new();
        while let Some((at, listing)) = self.by_time.first().copied()
            && at <= now
            && due.len() < limit
        {
            self.by_time.pop_first();
            self.times.remove(&listing);
            due.push(listing);
        }
        due
    }

    /// Those that come after a time and an id, in their order.
    pub fn after(&self, place: (Millis, ListingId)) -> impl Iterator<Item = (Millis, ListingId)> {
        self.by_time.range((Bound::Excluded(place), Bound::Unbounded)).copied()
    }

    /// All of them, in order of their time.
    pub fn all(&self) -> impl Iterator<Item = (Millis, ListingId)> {
        self.by_time.iter().copied()
    }

    pub fn contains(&self, listing: &ListingId) -> bool {
        self.times.contains_key(listing)
    }

    pub fn is_empty(&self) -> bool {
        self.by_time.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use onsale_domain::{ListingKind, Tenant};

    use super::*;

    #[test]
    fn what_is_due_comes_out_once_and_in_its_order() {
        let listing = |number| ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Sale, number };
        let mut agenda = Agenda::default();
        agenda.set(listing(1), Some(30));
        agenda.set(listing(2), Some(10));
        agenda.set(listing(3), Some(20));
        agenda.set(listing(4), Some(5));
        agenda.set(listing(4), None);
        agenda.set(listing(1), Some(15));
        assert_eq!(agenda.take_due(9, 9), []);
        assert_eq!(agenda.take_due(20, 2), [listing(2), listing(1)]);
        assert_eq!(agenda.take_due(20, 2), [listing(3)]);
        assert!(agenda.is_empty());
    }
}
