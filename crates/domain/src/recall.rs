//! A memory of many small things in order of age, each found by a hash of its name: ended holds, idempotency records.
//! It grows and shrinks piece by piece, so that no single command ever pays for moving all of it.

use std::collections::VecDeque;

use hashbrown::HashTable;

/// Things in a chunk of the ring.
const CHUNK: u32 = 1_024;
/// A page of the index is split before it holds more: the longest that anybody waits for order.
const PAGE_MAX: usize = 448;
/// No more than this many bits choose a page, four megabytes of directory; names that hash alike make it no longer.
const DEPTH_MAX: u32 = 20;
/// Running numbers count up to 2^32 and start again; a memory is never half as long.
pub const LEN_MAX: usize = 1 << 31;

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
    /// Pages by the first `depth` bits of a mark; one page may stand in many places.
    directory: Vec<u32>,
    pages: Vec<Page>,
    depth: u32,
}

#[derive(Clone, Debug, Default)]
struct Page {
    cells: HashTable<Cell>,
    /// How many first bits of their marks all its cells share.
    depth: u32,
}

/// A thing's running number, and half of its hash: enough to pass over nearly every stranger without a look at it.
#[derive(Clone, Copy, Debug)]
struct Cell {
    mark: u32,
    number: u32,
}

impl<T> Default for Recall<T> {
    fn default() -> Self {
        Recall {
            chunks: VecDeque::new(),
            base: 0,
            gone: 0,
            len: 0,
            forgotten: 0,
            directory: vec![0],
            pages: vec![Page::default()],
            depth: 0,
        }
    }
}

/// A whole hash again, from the half that is kept: the table looks at both ends of it.
fn spread(mark: u32) -> u64 {
    u64::from(mark).wrapping_mul(0x9e37_79b9_7f4a_7c15)
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

    /// The youngest thing with this hash that `is` it.
    pub fn find(&self, hash: u64, is: impl Fn(&T) -> bool) -> Option<&T> {
        if self.len == 0 {
            return None;
        }
        let mark = mark_of(hash);
        let page = &self.pages[self.page_of(mark)];
        let same = |cell: &Cell| cell.mark == mark && is(self.at(cell.number));
        page.cells.find(spread(mark), same).map(|cell| self.at(cell.number))
    }

    /// Remembers the youngest thing. One of the same name, if there is any, is not found any more.
    pub fn remember(&mut self, hash: u64, thing: T, is: impl Fn(&T) -> bool) {
        let mark = mark_of(hash);
        let mut page = self.page_of(mark);
        let (chunks, base) = (&self.chunks, self.base);
        let same = |cell: &Cell| cell.mark == mark && is(at(chunks, base, cell.number));
        if let Ok(old) = self.pages[page].cells.find_entry(spread(mark), same) {
            old.remove();
        }
        while self.pages[page].cells.len() >= PAGE_MAX && self.pages[page].depth < DEPTH_MAX {
            self.split(mark);
            page = self.page_of(mark);
        }
        let number = self.push(thing);
        let rehash = |cell: &Cell| spread(cell.mark);
        self.pages[page].cells.insert_unique(spread(mark), Cell { mark, number }, rehash);
    }

    /// Takes the oldest thing away; `hash` is how it was remembered.
    pub fn forget_oldest(&mut self, hash: impl Fn(&T) -> u64) -> Option<T>
    where
        T: Copy,
    {
        let thing = *self.oldest()?;
        let number = self.base.wrapping_add(self.gone);
        let mark = mark_of(hash(&thing));
        let page = self.page_of(mark);
        if let Ok(cell) = self.pages[page].cells.find_entry(spread(mark), |cell| cell.number == number) {
            cell.remove();
        }
        self.len -= 1;
        self.forgotten += 1;
        self.gone += 1;
        if self.gone == CHUNK {
            self.chunks.pop_front();
            self.base = self.base.wrapping_add(CHUNK);
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

    fn at(&self, number: u32) -> &T {
        at(&self.chunks, self.base, number)
    }

    fn push(&mut self, thing: T) -> u32 {
        assert!(self.len < LEN_MAX, "a memory has a bound");
        let number = self.base.wrapping_add(self.gone).wrapping_add(self.len as u32);
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

    fn page_of(&self, mark: u32) -> usize {
        self.directory[place(mark, self.depth)] as usize
    }

    /// Moves half of the page of a mark, by the next bit of its marks, to a new one.
    fn split(&mut self, mark: u32) {
        let page = self.page_of(mark);
        let depth = self.pages[page].depth;
        if depth == self.depth {
            self.directory = self.directory.iter().flat_map(|page| [*page, *page]).collect();
            self.depth += 1;
        }
        let goes = |cell: &Cell| cell.mark >> (u32::BITS - 1 - depth) & 1 == 1;
        let full = std::mem::take(&mut self.pages[page].cells);
        let moving = full.iter().filter(|cell| goes(cell)).count();
        let mut halves = [HashTable::with_capacity(full.len() - moving), HashTable::with_capacity(moving)];
        for cell in full {
            let half = &mut halves[usize::from(goes(&cell))];
            half.insert_unique(spread(cell.mark), cell, |cell| spread(cell.mark));
        }
        let [stays, moves] = halves;
        let new = self.pages.len() as u32;
        self.pages[page] = Page { cells: stays, depth: depth + 1 };
        self.pages.push(Page { cells: moves, depth: depth + 1 });
        // A page's places in the directory are neighbours; the second half of them is the new page's.
        let places = 1 << (self.depth - depth);
        let first = place(mark, depth) * places;
        self.directory[first + places / 2..first + places].fill(new);
    }
}

/// The first `depth` bits of a mark.
fn place(mark: u32, depth: u32) -> usize {
    (u64::from(mark) >> (u32::BITS - depth)) as usize
}

fn at<T>(chunks: &VecDeque<Vec<T>>, base: u32, number: u32) -> &T {
    let cell = number.wrapping_sub(base);
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
        let mut recall = Recall { base: u32::MAX - 5_000, ..Recall::default() };
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
        assert!(recall.pages.iter().all(|page| page.cells.len() <= PAGE_MAX));
        while recall.forget_oldest(hash).is_some() {}
        assert!(recall.is_empty() && recall.pages.iter().all(|page| page.cells.is_empty()));
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
