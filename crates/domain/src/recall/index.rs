//! Numbers found by a mark, in buckets of one cache line each: a question costs one look into far memory, and the
//! insertion that follows it none. Linear hashing: with every few insertions one bucket is split in two, in turn,
//! so the table grows without ever being moved.

use super::NUMBER_BITS;

/// Cells of a bucket: as many as fit into a cache line.
const CELLS: usize = 8;
/// Numbers per bucket, over all of them, before the next one is split.
const LOAD: usize = 5;
/// Buckets that stand in one piece of memory.
const SEGMENT: usize = 256;
const NONE: u32 = u32::MAX;

#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    /// The buckets that marks choose, in pieces: the first grows as it must, the others are made whole.
    segments: Vec<Vec<Bucket>>,
    count: u32,
    len: usize,
    /// Buckets behind full ones.
    overflow: Vec<Bucket>,
    /// The first overflow bucket that nobody uses, linked by `next`.
    free: u32,
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
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub fn find(&self, mark: u32, is: impl Fn(u32) -> bool) -> Option<u32> {
        let mut bucket = self.home(self.home_of(mark)?);
        loop {
            if let Some(cell) = bucket.position(mark, &is) {
                return Some(bucket.number(cell));
            }
            bucket = self.overflow.get(bucket.next as usize)?;
        }
    }

    /// Reads a word of the mark's bucket.
    pub fn fetch(&self, mark: u32) -> u32 {
        self.home_of(mark).map_or(0, |home| self.home(home).next)
    }

    pub fn remove(&mut self, mark: u32, is: impl Fn(u32) -> bool) {
        let Some(home) = self.home_of(mark) else { return };
        let mut bucket = self.home_mut(home);
        loop {
            if let Some(cell) = bucket.position(mark, &is) {
                bucket.take(cell);
                self.len -= 1;
                return;
            }
            let next = bucket.next as usize;
            let Some(more) = self.overflow.get_mut(next) else { return };
            bucket = more;
        }
    }

    pub fn insert(&mut self, mark: u32, number: u32) {
        debug_assert!(number < 1 << NUMBER_BITS, "a number fits its cell");
        if self.len >= self.count as usize * LOAD {
            self.grow();
        }
        self.len += 1;
        if let Some(home) = self.home_of(mark) {
            self.put(home, mark, number);
        }
    }

    fn put(&mut self, home: u32, mark: u32, number: u32) {
        let bucket = self.home_mut(home);
        if usize::from(bucket.used) < CELLS {
            return bucket.put(mark, number);
        }
        let mut last = None;
        let mut next = bucket.next;
        while let Some(bucket) = self.overflow.get_mut(next as usize) {
            if usize::from(bucket.used) < CELLS {
                return bucket.put(mark, number);
            }
            (last, next) = (Some(next), bucket.next);
        }
        let more = self.spare();
        self.overflow[more as usize].put(mark, number);
        match last {
            Some(last) => self.overflow[last as usize].next = more,
            None => self.home_mut(home).next = more,
        }
    }

    /// An empty overflow bucket.
    fn spare(&mut self) -> u32 {
        // `free` is 0 in a new index, where it means the same as the end of the list: there is no overflow yet.
        match self.overflow.get(self.free as usize) {
            Some(bucket) => {
                let spare = self.free;
                self.free = bucket.next;
                self.overflow[spare as usize] = EMPTY;
                spare
            }
            None => {
                self.free = NONE;
                self.overflow.push(EMPTY);
                self.overflow.len() as u32 - 1
            }
        }
    }

    /// Adds a bucket, and moves to it what is its own from the one whose turn it is to be split.
    fn grow(&mut self) {
        let new = self.count;
        if self.segments.last().is_none_or(|last| last.len() == SEGMENT) {
            let room = if self.segments.is_empty() { 1 } else { SEGMENT };
            self.segments.push(Vec::with_capacity(room));
        }
        if let Some(last) = self.segments.last_mut() {
            last.push(EMPTY);
        }
        self.count += 1;
        if new == 0 {
            return;
        }
        let split = new - (1 << new.ilog2());
        let mut bucket = std::mem::replace(self.home_mut(split), EMPTY);
        loop {
            for cell in 0..usize::from(bucket.used) {
                let (mark, number) = (bucket.marks[cell], bucket.number(cell));
                let home = if mark & new_bit(new) != 0 { new } else { split };
                self.put(home, mark, number);
            }
            let link = bucket.next;
            let Some(more) = self.overflow.get(link as usize).copied() else { return };
            bucket = more;
            self.overflow[link as usize].next = self.free;
            self.free = link;
        }
    }

    /// The bucket of a mark; none while there are no buckets.
    fn home_of(&self, mark: u32) -> Option<u32> {
        let last = self.count.checked_sub(1)?;
        // As many bits as the last bucket's number has; who is beyond it has not been split off yet.
        let mask = (1u64 << (u32::BITS - last.leading_zeros())) as u32;
        let home = mark & mask.wrapping_sub(1);
        Some(if home > last { home & (mask >> 1).wrapping_sub(1) } else { home })
    }

    fn home(&self, home: u32) -> &Bucket {
        &self.segments[home as usize / SEGMENT][home as usize % SEGMENT]
    }

    fn home_mut(&mut self, home: u32) -> &mut Bucket {
        &mut self.segments[home as usize / SEGMENT][home as usize % SEGMENT]
    }
}

/// The bit that tells the new bucket's marks from those of the bucket it was split off.
fn new_bit(new: u32) -> u32 {
    1 << new.ilog2()
}
