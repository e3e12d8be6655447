//! What each listing's facts and answers take, summed up by master, and which of them have something to give: kept while
//! listings move, so that nobody goes through all of them to see that there is room.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use onsale_domain::{ListingId, Millis};
use onsale_engine::Agenda;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Size {
    pub bytes: u64,
    pub facts: u64,
}

impl Size {
    pub(super) fn bytes_each(self) -> u64 {
        self.bytes / self.facts.max(1)
    }
}

#[derive(Debug, Default)]
struct Master {
    /// The sum of its listings.
    bytes: u64,
    /// Whose streams may have something to give: more than one fact, and nobody has looked since it came.
    unlooked: BTreeSet<ListingId>,
    /// Those that have more than one step, by the oldest. One that was cut by somebody else gave more than stands here.
    oldest: Agenda,
}

#[derive(Debug, Default)]
pub(super) struct Sizes {
    of_listing: BTreeMap<ListingId, (Size, Arc<str>)>,
    masters: BTreeMap<Arc<str>, Master>,
}

impl Sizes {
    /// Measured, on this master.
    pub(super) fn set(&mut self, listing: ListingId, node: &str, size: Size) {
        let before = self.of_listing.get(&listing).cloned();
        let stayed = before.as_ref().filter(|(_, home)| **home == *node);
        let has_moved = stayed.is_none_or(|(known, _)| known.facts != size.facts);
        if stayed.is_none() {
            self.remove(listing);
        }
        // One without facts is gone: what its empty stream takes is not counted either.
        if size.facts == 0 {
            return self.remove(listing);
        }
        let name = self.masters.get_key_value(node).map_or_else(|| Arc::from(node), |(name, _)| name.clone());
        let master = self.masters.entry(name.clone()).or_default();
        let known = stayed.map_or(0, |(known, _)| known.bytes);
        master.bytes = master.bytes + size.bytes - known;
        if size.facts == 1 {
            master.forget(listing);
        } else if has_moved && !master.oldest.contains(&listing) {
            master.unlooked.insert(listing);
        }
        self.of_listing.insert(listing, (size, name));
    }

    fn remove(&mut self, listing: ListingId) {
        if let Some((size, node)) = self.of_listing.remove(&listing)
            && let Some(master) = self.masters.get_mut(&node)
        {
            master.bytes -= size.bytes;
            master.forget(listing);
        }
    }

    /// A slot went to another master: everything is looked for where it is now.
    pub(super) fn regroup(&mut self, home: impl Fn(&ListingId) -> Option<Arc<str>>) {
        let moved: Vec<(ListingId, Size, Arc<str>)> = self
            .of_listing
            .iter()
            .filter_map(|(listing, (size, node))| {
                Some((*listing, *size, home(listing).filter(|now| now != node)?))
            })
            .collect();
        moved.into_iter().for_each(|(listing, size, node)| self.set(listing, &node, size));
        self.masters.retain(|_, master| master.bytes > 0);
    }

    /// The master with most.
    pub(super) fn fullest(&self) -> Option<(Arc<str>, u64)> {
        let masters = self.masters.iter().map(|(node, master)| (node.clone(), master.bytes));
        masters.max_by_key(|(_, bytes)| *bytes)
    }

    pub(super) fn masters(&self) -> Vec<(Arc<str>, u64)> {
        self.masters.iter().map(|(node, master)| (node.clone(), master.bytes)).collect()
    }

    pub(super) fn facts_of(&self, listing: &ListingId) -> u64 {
        self.of_listing.get(listing).map_or(0, |(size, _)| size.facts)
    }

    /// Streams that nobody has looked at, each told once.
    pub(super) fn take_unlooked(&mut self, node: &str, limit: usize) -> Vec<ListingId> {
        let Some(master) = self.masters.get_mut(node) else { return Vec::new() };
        let rest = match master.unlooked.iter().nth(limit).copied() {
            Some(first_left) => master.unlooked.split_off(&first_left),
            None => BTreeSet::new(),
        };
        std::mem::replace(&mut master.unlooked, rest).into_iter().collect()
    }

    /// The oldest steps are to be looked for again.
    pub(super) fn look_again(&mut self, node: &str, listing: ListingId) {
        if let Some(master) = self.masters.get_mut(node) {
            master.unlooked.insert(listing);
        }
    }

    /// When the oldest step of a stream was that has others behind it; none: it has nothing to give.
    pub(super) fn set_oldest(&mut self, node: &str, listing: ListingId, at: Option<Millis>) {
        if let Some(master) = self.masters.get_mut(node) {
            master.oldest.set(listing, at);
        }
    }

    /// Takes out the listing whose oldest step is the oldest of this master, if it is from before a moment.
    pub(super) fn take_oldest(&mut self, node: &str, before: Millis) -> Option<(ListingId, Size)> {
        let listing = *self.masters.get_mut(node)?.oldest.take_due(before - 1, 1).first()?;
        Some((listing, self.of_listing.get(&listing)?.0))
    }

    /// So many facts of a listing are gone; what they took is known when it is measured.
    pub(super) fn took(&mut self, listing: &ListingId, facts: u64) {
        if let Some((size, node)) = self.of_listing.get_mut(listing)
            && let Some(master) = self.masters.get_mut(node)
        {
            let freed = (size.bytes_each() * facts).min(size.bytes);
            (size.bytes, size.facts) = (size.bytes - freed, size.facts.saturating_sub(facts));
            master.bytes -= freed;
        }
    }
}

impl Master {
    fn forget(&mut self, listing: ListingId) {
        self.unlooked.remove(&listing);
        self.oldest.set(listing, None);
    }
}

#[cfg(test)]
mod tests {
    use onsale_domain::{ListingKind, Tenant};

    use super::*;

    fn listing(number: u64) -> ListingId {
        ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Sale, number }
    }

    fn size(bytes: u64, facts: u64) -> Size {
        Size { bytes, facts }
    }

    fn sums(sizes: &Sizes) -> Vec<u64> {
        let sum = |node: &Arc<str>| {
            sizes.of_listing.values().filter(|(_, home)| home == node).map(|(size, _)| size.bytes).sum()
        };
        let counted: Vec<u64> = sizes.masters.keys().map(sum).collect();
        assert_eq!(sizes.masters.values().map(|master| master.bytes).collect::<Vec<_>>(), counted);
        counted
    }

    #[test]
    fn the_sums_are_those_of_the_listings_however_often_they_are_measured() {
        let mut sizes = Sizes::default();
        for (number, node, bytes, facts) in [
            (1, "a", 900, 3),
            (2, "b", 500, 1),
            (1, "a", 300, 1),
            (2, "b", 96, 0),
            (2, "b", 96, 0),
            (1, "a", 700, 2),
        ] {
            sizes.set(listing(number), node, size(bytes, facts));
            sums(&sizes);
        }
        assert_eq!(sums(&sizes), [700, 0]);
        sizes.took(&listing(1), 1);
        assert_eq!(sums(&sizes), [350, 0]);
    }

    #[test]
    fn a_slot_that_moves_takes_its_bytes_and_what_can_go_along() {
        let mut sizes = Sizes::default();
        sizes.set(listing(1), "a", size(900, 3));
        sizes.set(listing(2), "a", size(100, 2));
        sizes.set_oldest("a", listing(1), Some(5));
        sizes.regroup(|listing| Some(if listing.number == 1 { "b".into() } else { "a".into() }));
        assert_eq!(sums(&sizes), [100, 900]);
        assert_eq!(sizes.take_oldest("a", 9), None);
        assert_eq!(sizes.take_unlooked("b", 9), [listing(1)]);
    }

    #[test]
    fn a_stream_is_looked_at_once_as_long_as_it_rests() {
        let mut sizes = Sizes::default();
        for _ in 0..3 {
            sizes.set(listing(1), "a", size(900, 2));
            sizes.set(listing(2), "a", size(100, 1));
        }
        assert_eq!(sizes.take_unlooked("a", 9), [listing(1)], "one fact has nothing to give");
        // It has one step, and is measured again.
        sizes.set(listing(1), "a", size(900, 2));
        assert_eq!(sizes.take_unlooked("a", 9), []);
        sizes.set(listing(1), "a", size(950, 3));
        assert_eq!(sizes.take_unlooked("a", 9), [listing(1)]);
        sizes.set_oldest("a", listing(1), Some(5));
        sizes.set(listing(1), "a", size(999, 4));
        assert_eq!(sizes.take_unlooked("a", 9), [], "its oldest step is known");
        assert_eq!(
            (sizes.take_oldest("a", 5), sizes.take_oldest("a", 6)),
            (None, Some((listing(1), size(999, 4))))
        );
    }
}
