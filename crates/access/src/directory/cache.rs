//! A bounded map by the hash of a credential. Each shard has a young and an old half: what is asked for moves to the young one,
//! and when that is full, what nobody has asked for goes all at once. No list is kept in order, and no entry is looked for.

use std::collections::HashMap;

use parking_lot::Mutex;

/// More than the threads that ask at once, so that two rarely want the same.
const SHARDS: usize = 64;

pub(super) type Hash = [u8; 32];

/// Strangers choose what is hashed, so the map's own hash is seeded.
#[derive(Debug)]
pub(super) struct Cache<T> {
    shards: Box<[Mutex<Shard<T>>]>,
    /// Entries of one half of a shard.
    half: usize,
}

#[derive(Debug)]
struct Shard<T> {
    young: HashMap<Hash, T>,
    old: HashMap<Hash, T>,
}

impl<T> Default for Shard<T> {
    fn default() -> Shard<T> {
        Shard { young: HashMap::new(), old: HashMap::new() }
    }
}

impl<T: Clone> Cache<T> {
    /// For this many entries at most, and always for half of them.
    pub(super) fn new(most: usize) -> Cache<T> {
        let shards = (0..SHARDS).map(|_| Mutex::new(Shard::default())).collect();
        Cache { shards, half: (most / SHARDS / 2).max(1) }
    }

    pub(super) fn get(&self, hash: &Hash) -> Option<T> {
        let mut shard = self.shard(hash).lock();
        if let Some(found) = shard.young.get(hash) {
            return Some(found.clone());
        }
        let found = shard.old.remove(hash)?;
        let answer = found.clone();
        let gone = shard.put(*hash, found, self.half);
        drop(shard);
        drop(gone);
        Some(answer)
    }

    pub(super) fn put(&self, hash: Hash, value: T) {
        let mut shard = self.shard(&hash).lock();
        shard.old.remove(&hash);
        let gone = shard.put(hash, value, self.half);
        drop(shard);
        // Freed when nobody waits for it.
        drop(gone);
    }

    pub(super) fn remove(&self, hash: &Hash) {
        let mut shard = self.shard(hash).lock();
        let gone = (shard.young.remove(hash), shard.old.remove(hash));
        drop(shard);
        drop(gone);
    }

    pub(super) fn clear(&self) {
        for shard in &self.shards {
            let gone = std::mem::take(&mut *shard.lock());
            drop(gone);
        }
    }

    /// What is made of each entry, where something is.
    pub(super) fn collect<U>(&self, mut make: impl FnMut(&T) -> Option<U>) -> Vec<U> {
        let mut all = Vec::new();
        for shard in &self.shards {
            let shard = shard.lock();
            all.extend(shard.young.values().chain(shard.old.values()).filter_map(&mut make));
        }
        all
    }

    fn shard(&self, hash: &Hash) -> &Mutex<Shard<T>> {
        &self.shards[usize::from(hash[0]) % SHARDS]
    }
}

impl<T> Shard<T> {
    /// Returns the half that has to go.
    fn put(&mut self, hash: Hash, value: T, half: usize) -> Option<HashMap<Hash, T>> {
        let is_full = self.young.len() >= half && !self.young.contains_key(&hash);
        let gone = is_full.then(|| std::mem::replace(&mut self.old, std::mem::take(&mut self.young)));
        self.young.insert(hash, value);
        gone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(number: u32) -> Hash {
        let mut hash = [0; 32];
        hash[..4].copy_from_slice(&number.to_le_bytes());
        hash
    }

    #[test]
    fn there_are_never_more_than_the_bound_and_what_is_asked_for_stays() {
        let cache = Cache::new(1_280);
        cache.put(hash(0), 0);
        for number in 1..100_000 {
            cache.put(hash(number), number);
            assert_eq!(cache.get(&hash(0)), Some(0), "{number}");
            assert_eq!(cache.get(&hash(number)), Some(number));
        }
        let all = cache.collect(|number| Some(*number));
        assert!((640..=1_280).contains(&all.len()), "{}", all.len());
        assert_eq!(cache.get(&hash(50_000)), None);
    }

    #[test]
    fn what_is_removed_or_replaced_is_not_found_as_it_was() {
        let cache = Cache::new(1);
        for number in 0..200 {
            cache.put(hash(number), 1);
            cache.put(hash(number), 2);
            assert_eq!(cache.get(&hash(number)), Some(2));
        }
        cache.remove(&hash(199));
        assert_eq!(cache.get(&hash(199)), None);
        cache.clear();
        assert!(cache.collect(|one| Some(*one)).is_empty());
    }
}
