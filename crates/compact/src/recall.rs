//! A memory of many small things in order of age, each found by a hash of its name: ended holds, idempotency records.
//! It grows piece by piece, so that no single command ever pays for moving all of it.

use std::collections::VecDeque;

use index::Index;

mod index;

/// Things in a chunk of the ring.
const CHUNK: u32 = 1_024;
/// Running numbers count up to 2^24 and start again; no two things that are kept share one.
const NUMBER_BITS: u32 = 24;
/// A memory is never longer: its numbers would meet again.
pub const LEN_MAX: usize = (1 << NUMBER_BITS) - 2 * CHUNK as usize;

#[derive(Clone, Debug)]
pub struct Recall<T> {
    chunks: VecDeque<Vec<T>>,
    /// The running number of the first chunk's first cell.
    base: u32,
    /// Cells of the first chunk whose things are forgotten.
    gone: u32,
    len: usize,
    /// Things ever forgotten: the place in history of the first one that is kept.
    forgotten: u64,
    index: Index,
}

impl<T> Default for Recall<T> {
    fn default() -> Self {
        let (base, gone, len, forgotten) = (0, 0, 0, 0);
        Recall { chunks: VecDeque::new(), base, gone, len, forgotten, index: Index::default() }
    }
}

fn mark_of(hash: u64) -> u32 {
    (hash >> 32) as u32
}

impl<T> Recall<T> {
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub fn oldest(&self) -> Option<&T> {
        self.chunks.front()?.get(self.gone as usize)
    }

    /// The one that is the oldest when so many are forgotten.
    pub fn oldest_after(&self, forgotten: usize) -> Option<&T> {
        let cell = self.gone as usize + forgotten;
        self.chunks.get(cell / CHUNK as usize)?.get(cell % CHUNK as usize)
    }

    /// The youngest thing with this hash that `is` it.
    pub fn find(&self, hash: u64, is: impl Fn(&T) -> bool) -> Option<&T> {
        if self.len == 0 {
            return None;
        }
        let (chunks, base) = (&self.chunks, self.base);
        let number = self.index.find(mark_of(hash), |number| is(at(chunks, base, number)))?;
        Some(at(chunks, base, number))
    }

    /// What a question for this hash looks at first, which may be far away. Whoever knows many names before the first of
    /// them is needed reads these words in a row: the memory's answers then come together instead of one by one.
    pub fn far(&self, hash: u64) -> Option<&u32> {
        self.index.far(mark_of(hash))
    }

    /// Remembers the youngest thing. One of the same name, if there is any, is not found any more.
    pub fn remember(&mut self, hash: u64, thing: T, is: impl Fn(&T) -> bool) {
        let mark = mark_of(hash);
        let (chunks, base) = (&self.chunks, self.base);
        self.index.remove(mark, |number| is(at(chunks, base, number)));
        let number = self.push(thing);
        self.index.insert(mark, number);
    }

    /// Takes the oldest thing away; `hash` is how it was remembered.
    pub fn forget_oldest(&mut self, hash: impl Fn(&T) -> u64) -> Option<T>
    where
        T: Copy,
    {
        let thing = *self.oldest()?;
        let oldest = wrapped(self.base + self.gone);
        self.index.remove(mark_of(hash(&thing)), |number| number == oldest);
        self.len -= 1;
        self.forgotten += 1;
        self.gone += 1;
        if self.gone == CHUNK {
            self.chunks.pop_front();
            self.base = wrapped(self.base + CHUNK);
            self.gone = 0;
        }
        Some(thing)
    }

    /// Up to `limit` things from a place in history on, oldest first, and the place behind them.
    pub fn page(&self, from: u64, limit: usize) -> (impl Iterator<Item = &T>, u64) {
        let from = from.max(self.forgotten);
        let skipped = (from - self.forgotten) as usize;
        let count = self.len.saturating_sub(skipped).min(limit);
        let first = self.gone as usize + skipped;
        let thing = |cell: usize| &self.chunks[cell / CHUNK as usize][cell % CHUNK as usize];
        ((first..first + count).map(thing), from + count as u64)
    }

    /// All of them, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.page(0, usize::MAX).0
    }

    fn push(&mut self, thing: T) -> u32 {
        assert!(self.len < LEN_MAX, "a memory has a bound");
        let number = wrapped(self.base + self.gone + self.len as u32);
        self.len += 1;
        match self.chunks.back_mut() {
            Some(last) if last.len() < CHUNK as usize => last.push(thing),
            Some(_) => {
                let mut chunk = Vec::with_capacity(CHUNK as usize);
                chunk.push(thing);
                self.chunks.push_back(chunk);
            }
            // The first chunk grows as it must: many a memory is short.
            None => self.chunks.push_back(vec![thing]),
        }
        number
    }
}

fn wrapped(number: u32) -> u32 {
    number & ((1 << NUMBER_BITS) - 1)
}

fn at<T>(chunks: &VecDeque<Vec<T>>, base: u32, number: u32) -> &T {
    let cell = wrapped(number.wrapping_sub(base));
    &chunks[(cell / CHUNK) as usize][(cell % CHUNK) as usize]
}

#[cfg(test)]
mod tests {
    use std::hash::BuildHasher;

    use super::*;
    use crate::map::Hasher;

    #[test]
    fn it_finds_what_it_keeps_and_nothing_else_while_it_grows_and_shrinks() {
        let hasher = Hasher::default();
        let hash = |thing: &u64| hasher.hash_one(thing);
        let mut recall = Recall { base: (1 << NUMBER_BITS) - 8 * CHUNK, ..Recall::default() };
        for thing in 0..60_000u64 {
            recall.remember(hash(&thing), thing, |known| *known == thing);
            if thing >= 20_000 {
                assert_eq!(recall.forget_oldest(hash), Some(thing - 20_000));
                assert_eq!(recall.find(hash(&(thing - 20_000)), |known| *known == thing - 20_000), None);
            }
            let oldest = thing.saturating_sub(19_999);
            for known in [oldest, (oldest + thing) / 2, thing] {
                assert_eq!(recall.find(hash(&known), |found| *found == known), Some(&known));
            }
        }
        assert_eq!(recall.len(), 20_000);
        assert!(recall.iter().copied().eq(40_000..60_000));
        for forgotten in [0, 1, 1_023, 1_024, 19_999] {
            assert_eq!(recall.oldest_after(forgotten).copied(), Some(40_000 + forgotten as u64));
        }
        assert_eq!(recall.oldest_after(20_000), None);
        while recall.forget_oldest(hash).is_some() {}
        assert!(recall.is_empty() && recall.index.is_empty());
    }

    #[test]
    fn the_youngest_of_a_name_is_found_and_the_elder_only_ages() {
        let mut recall = Recall::default();
        for at in 0..3 {
            recall.remember(7 << 32, ('a', at), |known| known.0 == 'a');
        }
        assert_eq!(recall.find(7 << 32, |known| known.0 == 'a'), Some(&('a', 2)));
        assert_eq!(recall.forget_oldest(|_| 7 << 32), Some(('a', 0)));
        assert_eq!(recall.find(7 << 32, |known| known.0 == 'a'), Some(&('a', 2)));
        assert_eq!(recall.len(), 2);
    }

    #[test]
    fn pages_go_on_from_where_the_last_ended() {
        let mut recall = Recall::default();
        (0..3_000u64).for_each(|thing| recall.remember(thing << 40, thing, |_| false));
        let (first, next) = recall.page(0, 1_500);
        assert!(first.copied().eq(0..1_500));
        for _ in 0..100 {
            recall.forget_oldest(|thing| thing << 40);
        }
        let (second, next) = recall.page(next, 9_999);
        assert!(second.copied().eq(1_500..3_000));
        assert_eq!(recall.page(next, 10).0.count(), 0);
    }

    #[test]
    fn marks_that_are_all_alike_still_fit() {
        let mut recall = Recall::default();
        (0..1_000u64).for_each(|thing| recall.remember(0, thing, |_| false));
        assert_eq!(recall.find(0, |thing| *thing == 999), Some(&999));
    }
}
