//! What happened to a series. Numbers of variants and fields are the journal's format: they are only ever added.

use minicbor::{Decode, Encode};

use super::details::SeriesDetails;
use super::schedule::Slot;
use crate::id::ListingId;

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub enum SeriesFact {
    #[n(0)]
    Created(#[n(0)] Box<SeriesDetails>),
    #[n(1)]
    Changed(#[n(0)] Box<SeriesDetails>),
    /// The slot has its sale, as the series' template is at this moment.
    #[n(2)]
    SlotOpened {
        #[n(0)]
        slot: Slot,
        #[n(1)]
        sale: ListingId,
    },
    #[n(3)]
    SlotSkipped {
        #[n(0)]
        slot: Slot,
        #[n(1)]
        why: SkipCause,
    },
    #[n(4)]
    Paused,
    #[n(5)]
    Resumed,
    #[n(6)]
    Ended,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub enum SkipCause {
    /// No server was up to open it.
    #[n(0)]
    Down,
    #[n(1)]
    Paused,
}

impl SeriesFact {
    /// Public names of all kinds, by their number in the journal.
    pub const KINDS: [&str; 7] = [
        "series_created",
        "series_changed",
        "slot_opened",
        "slot_skipped",
        "series_paused",
        "series_resumed",
        "series_ended",
    ];

    pub fn kind_number(&self) -> usize {
        match self {
            SeriesFact::Created(_) => 0,
            SeriesFact::Changed(_) => 1,
            SeriesFact::SlotOpened { .. } => 2,
            SeriesFact::SlotSkipped { .. } => 3,
            SeriesFact::Paused => 4,
            SeriesFact::Resumed => 5,
            SeriesFact::Ended => 6,
        }
    }

    pub fn kind(&self) -> &'static str {
        SeriesFact::KINDS[self.kind_number()]
    }
}
