//! A series' state as bytes, for snapshots, and back.

use std::sync::Arc;

use minicbor::{Decode, Encode};

use super::details::{SaleTemplate, SeriesDetails};
use super::schedule::Slot;
use super::state::{Series, SeriesStatus, SlotState};
use crate::id::ListingId;
use crate::time::Millis;

#[derive(Clone, Debug, Encode, Decode)]
pub struct SeriesImage {
    #[n(0)]
    pub details: SeriesDetails,
    #[n(1)]
    pub status: SeriesStatus,
    #[n(2)]
    pub slots: Vec<SlotState>,
    #[n(3)]
    pub ready: Vec<ReadyImage>,
    #[n(4)]
    pub paused_at: Option<Millis>,
    #[n(5)]
    pub resumed_at: Option<Millis>,
}

#[derive(Clone, Debug, Encode, Decode)]
pub struct ReadyImage {
    #[n(0)]
    pub slot: Slot,
    #[n(1)]
    pub template: SaleTemplate,
}

impl Series {
    pub fn image(&self) -> SeriesImage {
        let ready = |(slot, template): &(Slot, Arc<SaleTemplate>)| ReadyImage {
            slot: *slot,
            template: (**template).clone(),
        };
        SeriesImage {
            details: (*self.details).clone(),
            status: self.status,
            slots: self.slots.iter().copied().collect(),
            ready: self.ready.iter().map(ready).collect(),
            paused_at: self.pause.map(|(from, _)| from),
            resumed_at: self.pause.and_then(|(_, until)| until),
        }
    }

    pub fn from_image(id: ListingId, image: SeriesImage) -> Series {
        let mut series = Series::new(id, image.details);
        series.status = image.status;
        series.slots = image.slots.into();
        series.ready = image.ready.into_iter().map(|one| (one.slot, Arc::new(one.template))).collect();
        series.pause = image.paused_at.map(|from| (from, image.resumed_at));
        series
    }
}
