//! What somebody asks of a series: staff its life, the server that looks at the clock its slots.

use super::details::{SaleTemplate, SeriesDetails};
use super::schedule::Slot;
use crate::verb::commands;

commands! {
    pub enum SeriesCommand {
        Create(Box<SeriesDetails>) = creates "create_series",
        Change(Box<ChangeSeries>) = sealed "change_series",
        /// Opens a slot, and records those before it that nobody opened.
        OpenSlot(OpenSlot) = sealed "open_slot",
        SkipSlots(Vec<Slot>) = sealed "skip_slots",
        Pause = sealed "pause_series",
        Resume = sealed "resume_series",
        End = sealed "end_series",
    }
}

/// Only what is given changes; for sales from the next slot on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChangeSeries {
    pub name: Option<String>,
    pub template: Option<SaleTemplate>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct OpenSlot {
    pub slot: Slot,
    /// Earlier ones, in order.
    pub skipped: Vec<Slot>,
}
