//! Numbers found by a mark, in buckets of one cache line each: a question costs one look into far memory, and the
//! insertion that follows it none. Linear hashing: with every few insertions one bucket is split in two, in turn,
//! so the table grows without ever being moved.

use super::NUMBER_BITS;

/// Cells of a bucket: as many as fit into a cache line.
const CELLS: usize = 8;
/// Numbers per bucket, over all of them, before the next one is split.
const LOAD: usize = 6;
/// Buckets that stand in one piece of memory.
const SEGMENT: usize = 256;
const NONE: u32 = u32::MAX;

#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    /// The buckets that marks choose.
    homes: Buckets,
    len: usize,
    /// Buckets behind full ones.
    overflow: Buckets,
    /// The first overflow bucket that nobody uses, linked by `next`.
    free: u32,
}

/// Buckets in pieces of memory that are never moved: only the first grows as it must, the others are made whole.
#[derive(Clone, Debug, Default)]
struct Buckets {
    segments: Vec<Vec<Bucket>>,
    count: u32,
}

impl Buckets {
    /// Adds an empty one and tells its number.
    fn push(&mut self) -> u32 {
        match self.segments.last_mut() {
            Some(last) if last.len() < SEGMENT => last.push(EMPTY),
            Some(_) => {
                let mut segment = Vec::with_capacity(SEGMENT);
                segment.push(EMPTY);
                self.segments.push(segment);
            }
            None => self.segments.push(vec![EMPTY]),
        }
        self.count += 1;
        self.count - 1
    }

    fn get(&self, number: u32) -> Option<&Bucket> {
        self.segments.get(number as usize / SEGMENT)?.get(number as usize % SEGMENT)
    }

    fn get_mut(&mut self, number: u32) -> Option<&mut Bucket> {
        self.segments.get_mut(number as usize / SEGMENT)?.get_mut(number as usize % SEGMENT)
    }
}

impl std::ops::Index<u32> for Buckets {
    type Output = Bucket;

    fn index(&self, number: u32) -> &Bucket {
        &self.segments[number as usize / SEGMENT][number as usize % SEGMENT]
    }
}

impl std::ops::IndexMut<u32> for Buckets {
    fn index_mut(&mut self, number: u32) -> &mut Bucket {
        &mut self.segments[number as usize / SEGMENT][number as usize % SEGMENT]
    }
}

#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Bucket {
    marks: [u32; CELLS],
    numbers: [[u8; 3]; CELLS],
    /// Where this bucket goes on in the overflow.
    next: u32,
    used: u8,
}

const EMPTY: Bucket = Bucket { marks: [0; CELLS], numbers: [[0; 3]; CELLS], next: NONE, used: 0 };

impl Bucket {
    fn number(&self, cell: usize) -> u32 {
        let [a, b, c] = self.numbers[cell];
        u32::from_le_bytes([a, b, c, 0])
    }

    fn put(&mut self, mark: u32, number: u32) {
        let cell = usize::from(self.used);
        let [a, b, c, _] = number.to_le_bytes();
        self.marks[cell] = mark;
        self.numbers[cell] = [a, b, c];
        self.used += 1;
    }

    fn take(&mut self, cell: usize) {
        self.used -= 1;
        let last = usize::from(self.used);
        self.marks[cell] = self.marks[last];
        self.numbers[cell] = self.numbers[last];
    }

    /// The cell with this mark whose number `is` the one.
    fn position(&self, mark: u32, is: &impl Fn(u32) -> bool) -> Option<usize> {
        // All eight at once; a loop that ends early would be slower.
        let mut same = 0u32;
        for cell in 0..CELLS {
            same |= u32::from(self.marks[cell] == mark) << cell;
        }
        same &= (1 << self.used) - 1;
        while same != 0 {
            let cell = same.trailing_zeros() as usize;
            if is(self.number(cell)) {
                return Some(cell);
            }
            same &= same - 1;
        }
        None
    }
}

impl Index {
    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(super) fn find(&self, mark: u32, is: impl Fn(u32) -> bool) -> Option<u32> {
        let mut bucket = &self.homes[self.home_of(mark)?];
        loop {
            if let Some(cell) = bucket.position(mark, &is) {
                return Some(bucket.number(cell));
            }
            bucket = self.overflow.get(bucket.next)?;
        }
    }

    /// A word of the mark's bucket, not read yet.
    pub(super) fn far(&self, mark: u32) -> Option<&u32> {
        Some(&self.homes[self.home_of(mark)?].next)
    }

    pub(super) fn remove(&mut self, mark: u32, is: impl Fn(u32) -> bool) {
        let Some(home) = self.home_of(mark) else { return };
        let mut bucket = &mut self.homes[home];
        loop {
            if let Some(cell) = bucket.position(mark, &is) {
                bucket.take(cell);
                self.len -= 1;
                return;
            }
            let next = bucket.next;
            let Some(more) = self.overflow.get_mut(next) else { return };
            bucket = more;
        }
    }

    pub(super) fn insert(&mut self, mark: u32, number: u32) {
        debug_assert!(number < 1 << NUMBER_BITS, "a number fits its cell");
        if self.len >= self.homes.count as usize * LOAD {
            self.grow();
        }
        self.len += 1;
        if let Some(home) = self.home_of(mark) {
            self.put(home, mark, number);
        }
    }

    fn put(&mut self, home: u32, mark: u32, number: u32) {
        let bucket = &mut self.homes[home];
        if usize::from(bucket.used) < CELLS {
            return bucket.put(mark, number);
        }
        let mut last = None;
        let mut next = bucket.next;
        while let Some(bucket) = self.overflow.get_mut(next) {
            if usize::from(bucket.used) < CELLS {
                return bucket.put(mark, number);
            }
            (last, next) = (Some(next), bucket.next);
        }
        let more = self.spare();
        self.overflow[more].put(mark, number);
        match last {
            Some(last) => self.overflow[last].next = more,
            None => self.homes[home].next = more,
        }
    }

    /// An empty overflow bucket.
    fn spare(&mut self) -> u32 {
        // `free` is 0 in a new index, where it means the same as the end of the list: there is no overflow yet.
        match self.overflow.get_mut(self.free) {
            Some(bucket) => {
                let next = std::mem::replace(bucket, EMPTY).next;
                std::mem::replace(&mut self.free, next)
            }
            None => {
                self.free = NONE;
                self.overflow.push()
            }
        }
    }

    /// Adds a bucket, and moves to it what is its own from the one whose turn it is to be split.
    fn grow(&mut self) {
        let new = self.homes.push();
        if new == 0 {
            return;
        }
        let split = new - new_bit(new);
        let mut bucket = std::mem::replace(&mut self.homes[split], EMPTY);
        loop {
            for cell in 0..usize::from(bucket.used) {
                let (mark, number) = (bucket.marks[cell], bucket.number(cell));
                let home = if mark & new_bit(new) != 0 { new } else { split };
                self.put(home, mark, number);
            }
            let link = bucket.next;
            let Some(more) = self.overflow.get_mut(link) else { return };
            bucket = *more;
            more.next = std::mem::replace(&mut self.free, link);
        }
    }

    /// The bucket of a mark; none while there are no buckets.
    fn home_of(&self, mark: u32) -> Option<u32> {
        let last = self.homes.count.checked_sub(1)?;
        // As many bits as the last bucket's number has; who is beyond it has not been split off yet.
        let mask = (1u64 << (u32::BITS - last.leading_zeros())) as u32;
        let home = mark & mask.wrapping_sub(1);
        Some(if home > last { home & (mask >> 1).wrapping_sub(1) } else { home })
    }
}

/// The bit that tells the new bucket's marks from those of the bucket it was split off.
fn new_bit(new: u32) -> u32 {
    1 << new.ilog2()
}
