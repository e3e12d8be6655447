//! A desk as bytes, for snapshots, and back.

use minicbor::{Decode, Encode};

use super::state::Desk;
pub use super::state::{Event as EventImage, Item as ItemImage};
use crate::id::{ListingId, PaymentName};
use crate::time::Millis;

#[derive(Clone, Debug, Encode, Decode)]
pub struct DeskImage {
    #[n(0)]
    pub cursors: Vec<(ListingId, u64)>,
    #[n(1)]
    pub items: Vec<ItemImage>,
    #[n(2)]
    pub events: Vec<(PaymentName, Vec<EventImage>)>,
    #[n(3)]
    pub inbox: Vec<(Millis, String, String)>,
}

impl DeskImage {
    /// What came at the same time has no order of its own.
    pub(crate) fn sort(&mut self) {
        self.inbox.sort_unstable();
    }
}

impl Desk {
    pub(crate) fn image(&self) -> DeskImage {
        DeskImage {
            cursors: self.cursors.iter().map(|(listing, through)| (*listing, *through)).collect(),
            items: self.items.values().cloned().collect(),
            events: self.events.iter().map(|(of, all)| (*of, all.iter().cloned().collect())).collect(),
            inbox: self.inbox.iter().cloned().collect(),
        }
    }

    pub(crate) fn from_image(image: DeskImage) -> Desk {
        let mut desk = Desk { cursors: image.cursors.into_iter().collect(), ..Desk::default() };
        image.items.into_iter().for_each(|item| desk.insert(item));
        desk.events = image.events.into_iter().map(|(of, all)| (of, all.into())).collect();
        image.inbox.iter().for_each(|(at, provider, event)| desk.see(*at, provider, event));
        desk
    }
}
