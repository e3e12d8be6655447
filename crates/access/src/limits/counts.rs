//! What the limits have done since the start, for the metrics page. Counting is all that a refused request leaves behind.

use std::sync::atomic::{AtomicU64, Ordering};

use super::class::Class;

#[derive(Debug, Default)]
pub(super) struct Counters {
    pub passed: [AtomicU64; Class::ALL.len()],
    pub limited: [AtomicU64; Class::ALL.len()],
    pub unavailable: AtomicU64,
    pub on_own_share: AtomicU64,
}

pub(super) fn add(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

/// One reading of all counters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub by_class: Vec<ClassCounts>,
    /// Refused because the store of exact limits did not answer.
    pub unavailable: u64,
    /// Decided by this server's share of a limit, because the shared store was away or its book was full.
    pub on_own_share: u64,
    /// Strangers who found no place of their own and shared a bucket.
    pub crowded: u64,
    /// Whether the shared store is away now.
    pub is_away: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassCounts {
    pub class: Class,
    pub passed: u64,
    pub limited: u64,
}

impl Counters {
    pub(super) fn read(&self) -> Counts {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let of = |class: Class| ClassCounts {
            class,
            passed: read(&self.passed[class as usize]),
            limited: read(&self.limited[class as usize]),
        };
        Counts {
            by_class: Class::ALL.into_iter().map(of).collect(),
            unavailable: read(&self.unavailable),
            on_own_share: read(&self.on_own_share),
            crowded: 0,
            is_away: false,
        }
    }
}
