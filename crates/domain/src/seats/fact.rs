//! What happened to an event's seats. Numbers of variants and fields are the journal's format: they are only ever added.

use std::sync::Arc;

use minicbor::{Decode, Encode};

use crate::event::{EventDetails, EventStatus};
use crate::id::{AreaIndex, BuyerId, HoldId, ListingId, OrderId, SeatIndex};
use crate::layout::Layout;
use crate::money::Minor;
use crate::time::Millis;
use crate::verb::fact_names;

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub enum EventFact {
    #[n(0)]
    EventCreated(#[n(0)] Box<EventDetails>),
    #[n(1)]
    EventChanged(#[n(0)] Box<EventDetails>),
    #[n(2)]
    ChartAdopted(#[n(0)] Box<ChartAdopted>),
    /// Closed, postponed, completed and cancelled also dissolve every queue.
    #[n(3)]
    StatusChanged {
        #[n(0)]
        status: EventStatus,
        /// True if the sale window or the event's end brought it about, not staff.
        #[n(1)]
        by_schedule: bool,
    },
    #[n(4)]
    HoldPlaced {
        #[n(0)]
        hold: HoldId,
        #[n(1)]
        buyer: BuyerId,
        #[n(2)]
        seats: Vec<SeatLine>,
        #[n(3)]
        areas: Vec<AreaLine>,
        #[n(4)]
        until: Millis,
        /// How many separate runs best available had to take; 0 for an explicit pick.
        #[n(5)]
        pieces: u8,
    },
    #[n(5)]
    HoldExtended {
        #[n(0)]
        hold: HoldId,
        #[n(1)]
        until: Millis,
        #[n(2)]
        after: Box<HoldAfter>,
    },
    #[n(6)]
    SeatsDropped {
        #[n(0)]
        hold: HoldId,
        #[n(1)]
        seats: Vec<SeatIndex>,
        #[n(2)]
        areas: Vec<AreaCount>,
        #[n(3)]
        after: Box<HoldAfter>,
    },
    #[n(7)]
    HoldReleased {
        #[n(0)]
        hold: HoldId,
        #[n(1)]
        why: ReleaseCause,
    },
    #[n(8)]
    HoldExpired {
        #[n(0)]
        hold: HoldId,
        /// What was offered to whom, if the hold was an offer.
        #[n(1)]
        offer: Option<LapsedOffer>,
    },
    /// Also dissolves the queues of its seats.
    #[n(9)]
    HoldConfirmed {
        #[n(0)]
        hold: HoldId,
        #[n(1)]
        order: OrderId,
    },
    #[n(10)]
    HoldOverridden {
        #[n(0)]
        hold: HoldId,
        #[n(1)]
        reason: String,
        /// Who holds the seats now, under the same hold with a raised fence; nobody: the seats come free.
        #[n(2)]
        to: Option<NewHolder>,
    },
    #[n(11)]
    OrderRefunded {
        #[n(0)]
        order: OrderId,
        #[n(1)]
        seats: Vec<SeatIndex>,
        #[n(2)]
        areas: Vec<AreaCount>,
        #[n(3)]
        amount_minor: Minor,
        #[n(4)]
        reason: String,
    },
    /// Also dissolves the queues of its seats.
    #[n(12)]
    SeatsBlocked {
        #[n(0)]
        seats: Vec<SeatIndex>,
        #[n(1)]
        areas: Vec<AreaCount>,
        #[n(2)]
        reason: String,
    },
    #[n(13)]
    SeatsUnblocked {
        #[n(0)]
        seats: Vec<SeatIndex>,
        #[n(1)]
        areas: Vec<AreaCount>,
    },
    #[n(14)]
    QueueJoined {
        #[n(0)]
        place: HoldId,
        #[n(1)]
        seat: SeatIndex,
        #[n(2)]
        buyer: BuyerId,
        #[n(3)]
        until: Millis,
        /// How many living places were in front.
        #[n(4)]
        ahead: u32,
    },
    #[n(15)]
    PlaceRenewed {
        #[n(0)]
        place: HoldId,
        #[n(1)]
        until: Millis,
        #[n(2)]
        ahead: u32,
    },
    #[n(16)]
    QueueLeft {
        #[n(0)]
        place: HoldId,
        #[n(1)]
        buyer: BuyerId,
        #[n(2)]
        seat: SeatIndex,
    },
    #[n(17)]
    PlaceExpired {
        #[n(0)]
        place: HoldId,
        #[n(1)]
        buyer: BuyerId,
        #[n(2)]
        seat: SeatIndex,
    },
    /// The seat came free, but this buyer is at the limit: the place is lost and the next is served.
    #[n(18)]
    PlaceLost {
        #[n(0)]
        place: HoldId,
        #[n(1)]
        buyer: BuyerId,
        #[n(2)]
        seat: SeatIndex,
    },
    /// The first in line is given the seat: the place becomes a hold of the same id.
    #[n(19)]
    SeatOffered {
        #[n(0)]
        place: HoldId,
        #[n(1)]
        buyer: BuyerId,
        #[n(2)]
        seat: SeatIndex,
        #[n(3)]
        price_minor: Minor,
        #[n(4)]
        until: Millis,
    },
    /// More seats and places come into a hold, which has a new fence from here on.
    #[n(20)]
    HoldGrown {
        #[n(0)]
        hold: HoldId,
        #[n(1)]
        buyer: BuyerId,
        /// What was added, at the prices of now.
        #[n(2)]
        seats: Vec<SeatLine>,
        #[n(3)]
        areas: Vec<AreaLine>,
        #[n(4)]
        after: Box<HoldAfter>,
    },
}

impl EventFact {
    /// The hold whose fence this fact raises, when an earlier fact has named it and whose it is.
    pub fn raises_fence_of(&self) -> Option<HoldId> {
        if let EventFact::SeatOffered { place: hold, .. }
        | EventFact::HoldOverridden { hold, to: Some(_), .. }
        | EventFact::HoldGrown { hold, .. } = self
        {
            Some(*hold)
        } else {
            None
        }
    }
}

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct ChartAdopted {
    /// The venue's layout this came from, and its version.
    #[n(0)]
    pub venue: Option<ListingId>,
    #[n(1)]
    pub version: u32,
    #[cbor(n(2), with = "crate::layout::shared")]
    pub layout: Arc<Layout>,
}

/// A seat and the price fixed for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct SeatLine {
    #[n(0)]
    pub seat: SeatIndex,
    #[n(1)]
    pub price_minor: Minor,
}

/// A hold as a change has left it. The answer to a change is the whole hold, and is made of the change's fact alone, so that it is
/// the same whenever it is told again.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct HoldAfter {
    #[n(0)]
    pub buyer: BuyerId,
    #[n(1)]
    pub placed_at: Millis,
    #[n(2)]
    pub until: Millis,
    #[n(3)]
    pub extensions: u8,
    #[n(4)]
    pub offered: bool,
    #[n(5)]
    pub seats: Vec<SeatLine>,
    #[n(6)]
    pub areas: Vec<AreaLine>,
}

/// What seats and places cost together.
pub fn total_minor(seats: &[SeatLine], areas: &[AreaLine]) -> Minor {
    let of_seats: Minor = seats.iter().map(|line| line.price_minor).sum();
    of_seats + areas.iter().map(|line| line.price_minor * Minor::from(line.count)).sum::<Minor>()
}

/// Places of a general-admission area and the price fixed for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct AreaLine {
    #[n(0)]
    pub area: AreaIndex,
    #[n(1)]
    pub count: u32,
    #[n(2)]
    pub price_minor: Minor,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct AreaCount {
    #[n(0)]
    pub area: AreaIndex,
    #[n(1)]
    pub count: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub enum ReleaseCause {
    #[n(0)]
    Buyer,
    #[n(1)]
    EventCancelled,
}

/// Whose the offer was, and what was in it when its time was over.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct LapsedOffer {
    #[n(0)]
    pub buyer: BuyerId,
    #[n(1)]
    pub seats: Vec<SeatIndex>,
}

#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct NewHolder {
    #[n(0)]
    pub buyer: BuyerId,
    #[n(1)]
    pub until: Millis,
}

fact_names! {
    EventFact {
        EventCreated = "event_created",
        EventChanged = "event_changed",
        ChartAdopted = "chart_adopted",
        StatusChanged = "status_changed",
        HoldPlaced = "hold_placed",
        HoldExtended = "hold_extended",
        SeatsDropped = "seats_dropped",
        HoldReleased = "hold_released",
        HoldExpired = "hold_expired",
        HoldConfirmed = "hold_confirmed",
        HoldOverridden = "hold_overridden",
        OrderRefunded = "order_refunded",
        SeatsBlocked = "seats_blocked",
        SeatsUnblocked = "seats_unblocked",
        QueueJoined = "queue_joined",
        PlaceRenewed = "place_renewed",
        QueueLeft = "queue_left",
        PlaceExpired = "place_expired",
        PlaceLost = "place_lost",
        SeatOffered = "seat_offered",
        HoldGrown = "hold_grown",
    }
}
