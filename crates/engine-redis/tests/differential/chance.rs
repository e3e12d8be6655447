//! The same chances for the same seed, on every machine; and names that are hard to get right.

/// Names with everything that scripts, keys and patterns could trip over.
pub(crate) const BUYERS: [&str; 12] = [
    "ann",
    "ext:t:{bob}",
    "c e m",
    "d\"q\\",
    "é{😀}|p|q",
    "%s%d%%",
    "h|1|2|3",
    "@at",
    "x,y;z:1",
    "'; redis.call('FLUSHALL') --",
    "q|7",
    "[^%w]*.-$",
];

/// A generator that gives the same numbers for the same seed on every machine.
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Chance {
        Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5eed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }

    /// True once in `times`.
    pub(crate) fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    pub(crate) fn pick<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        all.get(self.below(all.len() as u64) as usize)
    }

    /// Mostly one of the latest.
    pub(crate) fn recent<'a, T>(&mut self, all: &'a [T], window: usize) -> Option<&'a T> {
        let back = self.below(all.len().min(window) as u64) as usize;
        all.iter().rev().nth(back)
    }
}
