//! What somebody asks of a series: staff its life, the server that looks at the clock its slots.

use super::details::{SaleTemplate, SeriesDetails};
use super::schedule::Slot;

#[derive(Clone, Debug, PartialEq)]
pub enum SeriesCommand {
    Create(Box<SeriesDetails>),
    Change(Box<ChangeSeries>),
    /// Opens a slot, and records those before it that nobody opened.
    OpenSlot(OpenSlot),
    SkipSlots(Vec<Slot>),
    Pause,
    Resume,
    End,
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

impl SeriesCommand {
    /// Whether a yes to this may never be lost, whatever store forgets: every one of them.
    pub fn is_sealed(&self) -> bool {
        true
    }

    /// All names, in the order of the commands.
    pub const VERBS: [&str; 7] = [
        "create_series",
        "change_series",
        "open_slot",
        "skip_slots",
        "pause_series",
        "resume_series",
        "end_series",
    ];

    pub fn verb(&self) -> &'static str {
        SeriesCommand::VERBS[match self {
            SeriesCommand::Create(_) => 0,
            SeriesCommand::Change(_) => 1,
            SeriesCommand::OpenSlot(_) => 2,
            SeriesCommand::SkipSlots(_) => 3,
            SeriesCommand::Pause => 4,
            SeriesCommand::Resume => 5,
            SeriesCommand::End => 6,
        }]
    }
}
