//! How an event's seats are laid out in Redis: chosen by their number when it is made, and kept.

/// From so many seats on the compact layout pays: below, a person can read every seat.
pub const COMPACT_FROM: usize = 10_000;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layout {
    /// One hash field a seat, readable.
    #[default]
    Hash,
    /// Bits and packed tables.
    Compact,
}

impl Layout {
    pub const ALL: [Layout; 2] = [Layout::Hash, Layout::Compact];

    pub fn of(seats: usize, compact_from: usize) -> Layout {
        if seats >= compact_from { Layout::Compact } else { Layout::Hash }
    }

    /// As the head of a listing names it.
    pub fn as_str(self) -> &'static str {
        match self {
            Layout::Hash => "hash",
            Layout::Compact => "compact",
        }
    }

    pub fn parse(text: &str) -> Option<Layout> {
        Layout::ALL.into_iter().find(|layout| layout.as_str() == text)
    }
}
