//! In which listings a buyer may have something: so that a question about one buyer asks few listings, however many there
//! are. Those that move are asked anyway; one that has come to rest is looked through once, by the next question.

use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasher, RandomState};

use onsale_domain::BuyerId;

/// A listing in which nothing has happened for so long has come to rest.
pub const REST_MS: i64 = 10_000;
/// Listings looked through by one question; the rest of them by the next ones. All of them are asked meanwhile.
const LISTINGS_MAX: usize = 4_096;
/// Buyers looked through by one question.
const BUYERS_MAX: usize = 16_384;
/// A listing with more buyers is not looked through, but always asked: there are few such, and to ask one costs as little as to find it here.
const BUYERS_OF_ONE_MAX: usize = 4_096;

/// `K` names a listing. What stands here may be too much (the buyer had something there once), never too little.
#[derive(Debug)]
pub struct BuyerIndex<K> {
    /// By a hash of the buyer's name: whoever shares it is asked about in vain.
    of_buyer: HashMap<u64, Vec<K>>,
    /// Moved since they were looked through, or never were.
    restless: BTreeSet<K>,
    /// Too many buyers to look through.
    large: BTreeSet<K>,
    hasher: RandomState,
}

impl<K> Default for BuyerIndex<K> {
    fn default() -> Self {
        BuyerIndex {
            of_buyer: HashMap::new(),
            restless: BTreeSet::new(),
            large: BTreeSet::new(),
            hasher: RandomState::new(),
        }
    }
}

impl<K: Copy + Ord> BuyerIndex<K> {
    /// A listing has moved, or is new here.
    pub fn note(&mut self, listing: K) {
        self.restless.insert(listing);
    }

    /// Every listing in which the buyer may have something, in their order. `names_of` names the buyers of a listing that has come to rest;
    /// of one that has not it says no.
    pub fn listings_of(
        &mut self,
        buyer: &BuyerId,
        mut names_of: impl FnMut(K, &mut dyn FnMut(&str)) -> bool,
    ) -> Vec<K> {
        let BuyerIndex { of_buyer, restless, large, hasher } = self;
        let mut asked: BTreeSet<K> = restless.union(large).copied().collect();
        asked.extend(of_buyer.get(&hasher.hash_one(buyer.as_str())).into_iter().flatten());
        let mut listings_left = LISTINGS_MAX;
        let mut buyers_left = BUYERS_MAX;
        let mut names = Vec::new();
        restless.retain(|listing| {
            if large.contains(listing) {
                return false;
            }
            if listings_left == 0 || buyers_left == 0 {
                return true;
            }
            names.clear();
            let is_at_rest = names_of(*listing, &mut |name| {
                if names.len() <= BUYERS_OF_ONE_MAX {
                    names.push(hasher.hash_one(name));
                }
            });
            if !is_at_rest {
                return true;
            }
            listings_left -= 1;
            buyers_left = buyers_left.saturating_sub(names.len());
            if names.len() > BUYERS_OF_ONE_MAX {
                large.insert(*listing);
                return false;
            }
            for name in &names {
                let known = of_buyer.entry(*name).or_default();
                if let Err(place) = known.binary_search(listing) {
                    known.insert(place, *listing);
                }
            }
            false
        });
        asked.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buyer(name: &str) -> BuyerId {
        BuyerId::parse(name).expect("a name")
    }

    /// A question while these listings rest, each with one buyer; what is asked, and what is looked through.
    fn ask(index: &mut BuyerIndex<u32>, who: &str, resting: &[(u32, &str)]) -> (Vec<u32>, Vec<u32>) {
        let mut looked = Vec::new();
        let asked = index.listings_of(&buyer(who), |listing, name| {
            let Some((_, of)) = resting.iter().find(|(known, _)| *known == listing) else { return false };
            looked.push(listing);
            name(of);
            true
        });
        (asked, looked)
    }

    #[test]
    fn a_listing_at_rest_is_looked_through_once_and_asked_about_its_buyers_alone() {
        let mut index = BuyerIndex::default();
        (1..=3).for_each(|listing| index.note(listing));
        let resting = [(1, "ann"), (2, "bob")];
        assert_eq!(ask(&mut index, "ann", &resting), (vec![1, 2, 3], vec![1, 2]));
        assert_eq!(ask(&mut index, "ann", &resting), (vec![1, 3], vec![]));
        assert_eq!(ask(&mut index, "bob", &resting), (vec![2, 3], vec![]));
        assert_eq!(ask(&mut index, "cleo", &resting), (vec![3], vec![]));
    }

    #[test]
    fn a_listing_that_moves_again_is_asked_about_everybody_until_it_rests() {
        let mut index = BuyerIndex::default();
        index.note(1);
        ask(&mut index, "ann", &[(1, "ann")]);
        index.note(1);
        assert_eq!(ask(&mut index, "bob", &[]), (vec![1], vec![]));
        assert_eq!(ask(&mut index, "bob", &[(1, "bob")]), (vec![1], vec![1]));
        assert_eq!(ask(&mut index, "bob", &[]), (vec![1], vec![]));
    }

    #[test]
    fn a_listing_with_very_many_buyers_is_asked_and_not_looked_through_again() {
        let mut index = BuyerIndex::default();
        index.note(1);
        let mut looked = 0;
        for _ in 0..3 {
            index.note(1);
            let asked = index.listings_of(&buyer("ann"), |_, name| {
                looked += 1;
                (0..=BUYERS_OF_ONE_MAX).for_each(|number| name(&number.to_string()));
                true
            });
            assert_eq!(asked, [1]);
        }
        assert_eq!(looked, 1);
    }

    #[test]
    fn one_question_looks_through_a_bounded_number_of_listings() {
        let mut index = BuyerIndex::default();
        let count = LISTINGS_MAX as u32 + 10;
        (0..count).for_each(|listing| index.note(listing));
        let mut asked = Vec::new();
        for _ in 0..3 {
            let listings = index.listings_of(&buyer("ann"), |_, name| {
                name("bob");
                true
            });
            asked.push(listings.len());
        }
        assert_eq!(asked, [LISTINGS_MAX + 10, 10, 0]);
    }
}
