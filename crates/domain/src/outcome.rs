//! What a command came to. With the facts it is the whole answer.

use crate::id::{BuyerId, HoldId, SeatIndex};
use crate::refusal::Refusal;
use crate::registration::EntryState;
use crate::seats::OrderState;
use crate::seats::fact::{AreaLine, SeatLine};
use crate::stock::PurchaseState;
use crate::time::Millis;

#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// Yes; the facts say what happened.
    Done,
    /// Yes, and nothing had to change.
    Unchanged,
    /// Yes: the buyer holds exactly these seats already.
    AlreadyYours(Box<HoldState>),
    /// Yes: the buyer's place in the queue is young enough to need no renewal.
    StillQueued(Box<PlaceState>),
    /// Yes: the hold was confirmed under this order before.
    AlreadyConfirmed(Box<OrderState>),
    /// Yes: the code was used by this buyer before, and this is what was bought.
    AlreadyPurchased(Box<PurchaseState>),
    /// Yes: the buyer is registered, or in the waiting list, already.
    AlreadyRegistered(Box<EntryState>),
    /// No. Facts of what had expired stand all the same.
    Refused(Box<Refusal>),
}

impl Outcome {
    pub fn refused(&self) -> Option<&Refusal> {
        if let Outcome::Refused(refusal) = self { Some(refusal) } else { None }
    }
}

/// A living hold as its owner sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct HoldState {
    pub hold: HoldId,
    pub buyer: BuyerId,
    pub fence: u64,
    pub placed_at: Millis,
    pub until: Millis,
    pub extensions: u8,
    /// True if it came from a queue.
    pub offered: bool,
    pub seats: Vec<SeatLine>,
    pub areas: Vec<AreaLine>,
}

/// A living place in a seat's queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlaceState {
    pub place: HoldId,
    pub seat: SeatIndex,
    pub until: Millis,
    /// Living places in front.
    pub ahead: u32,
}
