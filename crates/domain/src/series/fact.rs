//! What happened to a series. Numbers of variants and fields are the journal's format: they are only ever added.

use minicbor::{Decode, Encode};

use super::details::SeriesDetails;
use super::schedule::Slot;
use crate::id::ListingId;
use crate::verb::fact_names;

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

fact_names! {
    SeriesFact {
        Created = "series_created",
        Changed = "series_changed",
        SlotOpened = "slot_opened",
        SlotSkipped = "slot_skipped",
        Paused = "series_paused",
        Resumed = "series_resumed",
        Ended = "series_ended",
    }
}
