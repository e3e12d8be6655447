//! Every deadline of a listing in (until, fence) order: sorted chunks of 16-byte entries.
//! New deadlines are mostly the latest and so fill chunks to the brim; a B-tree would leave half of itself empty.

use std::marker::PhantomData;

/// Milliseconds since 1970.
type Millis = i64;

/// Entries in a chunk: moving half of one costs less than finding it.
const CHUNK: usize = 128;
/// Neighbours that fit together into half a chunk are joined.
const SPARSE: usize = CHUNK / 2;

/// What is due is a number of 32 bits: an index into a slab, and whatever its kind makes of the rest.
#[derive(Clone, Debug)]
pub struct Deadlines<D> {
    /// None is empty; within and across them entries ascend.
    chunks: Vec<Vec<Entry>>,
    len: usize,
    due: PhantomData<D>,
}

impl<D> Default for Deadlines<D> {
    fn default() -> Self {
        Deadlines { chunks: Vec::new(), len: 0, due: PhantomData }
    }
}

/// 43 bits of time (until the year 2248), 53 bits of fence, 32 bits of what is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    high: u64,
    low: u32,
    what: u32,
}

impl Entry {
    fn new(until: Millis, fence: u64, what: u32) -> Entry {
        debug_assert!((0..1 << 43).contains(&until) && fence < 1 << 53);
        Entry { high: (until as u64) << 21 | fence >> 32, low: fence as u32, what }
    }

    fn key(self) -> (u64, u32) {
        (self.high, self.low)
    }

    fn until(self) -> Millis {
        (self.high >> 21) as Millis
    }

    fn fence(self) -> u64 {
        (self.high & ((1 << 21) - 1)) << 32 | u64::from(self.low)
    }
}

impl<D: Copy + Into<u32> + From<u32>> Deadlines<D> {
    pub fn insert(&mut self, until: Millis, fence: u64, due: D) {
        let entry = Entry::new(until, fence, due.into());
        self.len += 1;
        let Some(last) = self.chunks.last_mut() else {
            self.chunks.push(vec![entry]);
            return;
        };
        if last.last().is_some_and(|latest| latest.key() < entry.key()) {
            if last.len() < CHUNK {
                last.push(entry);
            } else {
                self.chunks.push(vec![entry]);
            }
            return;
        }
        let at = self.chunk_of(entry.key());
        let chunk = &mut self.chunks[at];
        let place = chunk.partition_point(|known| known.key() < entry.key());
        chunk.insert(place, entry);
        if chunk.len() > CHUNK {
            let rest = chunk.split_off(CHUNK / 2);
            self.chunks.insert(at + 1, rest);
        }
    }

    /// Removes the deadline; it must be there.
    pub fn remove(&mut self, until: Millis, fence: u64) {
        let key = Entry::new(until, fence, 0).key();
        let at = self.chunk_of(key);
        let chunk = &mut self.chunks[at];
        let place = chunk.partition_point(|known| known.key() < key);
        assert!(chunk.get(place).is_some_and(|known| known.key() == key), "a deadline is in the index");
        chunk.remove(place);
        self.len -= 1;
        if chunk.is_empty() {
            self.chunks.remove(at);
        } else if chunk.len() < SPARSE / 2
            && let Some(next) = self.chunks.get(at + 1)
            && next.len() < SPARSE
        {
            let next = self.chunks.remove(at + 1);
            self.chunks[at].extend(next);
        }
    }

    /// The first chunk whose latest entry is not before the key, or the last chunk.
    fn chunk_of(&self, key: (u64, u32)) -> usize {
        let at = self.chunks.partition_point(|chunk| chunk.last().is_some_and(|latest| latest.key() < key));
        at.min(self.chunks.len().saturating_sub(1))
    }

    pub fn first(&self) -> Option<(Millis, D)> {
        let entry = self.chunks.first()?.first()?;
        Some((entry.until(), D::from(entry.what)))
    }

    pub fn iter(&self) -> impl Iterator<Item = (Millis, u64, D)> {
        self.chunks.iter().flatten().map(|entry| (entry.until(), entry.fence(), D::from(entry.what)))
    }

    /// What is over at `now`, in order.
    pub fn over(&self, now: Millis) -> impl Iterator<Item = D> {
        self.iter().take_while(move |(until, _, _)| *until <= now).map(|(_, _, due)| due)
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub fn len(&self) -> usize {
        self.len
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn it_orders_like_a_plain_map_whatever_comes_and_goes() {
        let (mut index, mut plain) = (Deadlines::<u32>::default(), BTreeMap::new());
        let mut random = 1u64;
        for fence in 0..20_000u64 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let fence = 1 << 40 | fence;
            let until =
                if random >> 62 == 0 { (random >> 40) as i64 % 5_000 } else { fence as i64 % (1 << 20) };
            let due = random as u32;
            index.insert(until, fence, due);
            plain.insert((until, fence), due);
            if random >> 33 & 3 != 0
                && let Some(key) = plain.range((until / 2, 0)..).next().map(|(key, _)| *key)
            {
                plain.remove(&key);
                index.remove(key.0, key.1);
            }
            let first = plain.first_key_value().map(|((until, _), due)| (*until, *due));
            assert_eq!(index.first(), first);
        }
        assert_eq!(index.len(), plain.len());
        let all: Vec<_> = plain.iter().map(|((until, fence), due)| (*until, *fence, *due)).collect();
        assert_eq!(index.iter().collect::<Vec<_>>(), all);
    }
}
