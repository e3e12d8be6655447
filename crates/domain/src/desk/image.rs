//! A desk as bytes, for snapshots, and back.

use minicbor::{Decode, Encode};

use super::state::{Desk, Event, Item};
use crate::id::{ListingId, PaymentId};
use crate::time::Millis;

#[derive(Clone, Debug, Encode, Decode)]
pub struct DeskImage {
    #[n(0)]
    cursors: Vec<(ListingId, u64)>,
    #[n(1)]
    items: Vec<Item>,
    #[n(2)]
    events: Vec<(PaymentId, Vec<Event>)>,
    #[n(3)]
    inbox: Vec<(Millis, String, String)>,
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
