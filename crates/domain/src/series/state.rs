//! The state of a series: its last slots and what became of them. Only `apply` changes it.

use std::collections::VecDeque;
use std::sync::Arc;

use minicbor::{Decode, Encode};

use super::details::{SaleTemplate, SeriesDetails, sale_of};
use super::fact::{SeriesFact, SkipCause};
use super::schedule::Slot;
use crate::id::ListingId;
use crate::limits::SLOTS_KEPT;
use crate::stock::command::CreateSale;
use crate::time::{Millis, is_over};

#[derive(Clone, Debug)]
pub struct Series {
    pub(super) id: ListingId,
    pub(super) details: Arc<SeriesDetails>,
    pub(super) status: SeriesStatus,
    /// The last ones, oldest first.
    pub(super) slots: VecDeque<SlotState>,
    /// What the sales of the last two open slots are made from, should somebody still have to make them.
    pub(super) ready: VecDeque<(Slot, Arc<SaleTemplate>)>,
    /// The last pause: from when, and until when if it is over.
    pub(super) pause: Option<(Millis, Option<Millis>)>,
}

/// A sale is made a minute before its slot, so there are at most the one that runs and the one to come.
const READY: usize = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub enum SeriesStatus {
    #[n(0)]
    Running,
    #[n(1)]
    Paused,
    #[n(2)]
    Ended,
}

impl SeriesStatus {
    pub fn as_str(self) -> &'static str {
        match self {
            SeriesStatus::Running => "running",
            SeriesStatus::Paused => "paused",
            SeriesStatus::Ended => "ended",
        }
    }

    pub const ALL: [SeriesStatus; 3] = [SeriesStatus::Running, SeriesStatus::Paused, SeriesStatus::Ended];
}

/// What became of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct SlotState {
    #[n(0)]
    pub slot: Slot,
    /// Until when its sale lasts; nothing if it was skipped.
    #[n(1)]
    pub ends_at: Option<Millis>,
    #[n(2)]
    pub skipped: Option<SkipCause>,
}

impl Series {
    /// The series that its first fact begins.
    pub fn begin(id: ListingId, fact: &SeriesFact) -> Option<Series> {
        if let SeriesFact::Created(details) = fact {
            return Some(Series::new(id, (**details).clone()));
        }
        None
    }

    pub(super) fn new(id: ListingId, details: SeriesDetails) -> Series {
        Series {
            id,
            details: Arc::new(details),
            status: SeriesStatus::Running,
            slots: VecDeque::new(),
            ready: VecDeque::new(),
            pause: None,
        }
    }

    pub fn apply(&mut self, fact: &SeriesFact, at: Millis) {
        match fact {
            SeriesFact::Created(_) => panic!("a series is created once"),
            SeriesFact::Changed(details) => self.details = Arc::new((**details).clone()),
            SeriesFact::SlotOpened { slot, .. } => {
                let template = &self.details.template;
                self.remember(SlotState {
                    slot: *slot,
                    ends_at: Some(slot.at + template.length_ms),
                    skipped: None,
                });
                if self.ready.len() == READY {
                    self.ready.pop_front();
                }
                self.ready.push_back((*slot, Arc::new(self.details.template.clone())));
            }
            SeriesFact::SlotSkipped { slot, why } => {
                self.remember(SlotState { slot: *slot, ends_at: None, skipped: Some(*why) });
            }
            SeriesFact::Paused => {
                self.status = SeriesStatus::Paused;
                self.pause = Some((at, None));
            }
            SeriesFact::Resumed => {
                self.status = SeriesStatus::Running;
                self.pause = self.pause.map(|(from, _)| (from, Some(at)));
            }
            SeriesFact::Ended => self.status = SeriesStatus::Ended,
        }
    }

    fn remember(&mut self, slot: SlotState) {
        if self.slots.len() == SLOTS_KEPT {
            self.slots.pop_front();
        }
        self.slots.push_back(slot);
    }

    pub fn id(&self) -> ListingId {
        self.id
    }

    pub fn details(&self) -> &Arc<SeriesDetails> {
        &self.details
    }

    pub fn status(&self) -> SeriesStatus {
        self.status
    }

    /// The last slots and what became of them, oldest first.
    pub fn slots(&self) -> impl DoubleEndedIterator<Item = &SlotState> {
        self.slots.iter()
    }

    pub(super) fn last(&self) -> Option<Slot> {
        self.slots.back().map(|known| known.slot)
    }

    /// The sale that is on at an instant: of the latest slot that has begun, while its sale lasts.
    pub fn active_at(&self, at: Millis) -> Option<ListingId> {
        let begun = self.slots.iter().rev().filter(|known| is_over(known.slot.at, at));
        let mut opened = begun.filter_map(|known| known.ends_at.map(|ends_at| (known.slot.at, ends_at)));
        let (slot, ends_at) = opened.next()?;
        (!is_over(ends_at, at)).then(|| sale_of(self.id, slot))
    }

    /// The sales that must exist now, each with the command that makes it. Making one that exists does no harm:
    /// its id is taken.
    pub fn sales_to_make(&self, now: Millis) -> Vec<(ListingId, CreateSale)> {
        let lasting =
            self.ready.iter().filter(|(slot, template)| !is_over(slot.at + template.length_ms, now));
        lasting.map(|(slot, template)| (sale_of(self.id, slot.at), template.sale(self.id, *slot))).collect()
    }
}
