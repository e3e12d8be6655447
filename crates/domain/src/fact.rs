//! What happened, numbered per listing, never changed. The order of variants and fields is the journal's format:
//! numbers are only ever added (`docs/journal-format.md`), and `tests/fixtures` keeps one of each kind for ever.

use std::sync::Arc;

use minicbor::{Decode, Encode};

use crate::auction::AuctionFact;
use crate::desk::DeskFact;
use crate::event::{EventDetails, EventStatus};
use crate::id::{AreaIndex, BuyerId, HoldId, ListingId, OrderId, SeatIndex};
use crate::layout::Layout;
use crate::money::Minor;
use crate::names::{count, joined};
use crate::order::OrderFact;
use crate::registration::RegistrationFact;
use crate::series::SeriesFact;
use crate::stock::SaleFact;
use crate::time::Millis;

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub enum Fact {
    #[n(0)]
    VenueCreated(#[n(0)] Box<VenueCreated>),
    #[n(1)]
    LayoutPublished(#[n(0)] Box<LayoutPublished>),
    #[n(2)]
    EventCreated(#[n(0)] Box<EventDetails>),
    #[n(3)]
    EventChanged(#[n(0)] Box<EventDetails>),
    #[n(4)]
    ChartAdopted(#[n(0)] Box<ChartAdopted>),
    /// Closed, postponed, completed and cancelled also dissolve every queue.
    #[n(5)]
    StatusChanged {
        #[n(0)]
        status: EventStatus,
        /// True if the sale window or the event's end brought it about, not staff.
        #[n(1)]
        by_schedule: bool,
    },
    #[n(6)]
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
    #[n(7)]
    HoldExtended {
        #[n(0)]
        hold: HoldId,
        #[n(1)]
        until: Millis,
    },
    #[n(8)]
    SeatsDropped {
        #[n(0)]
        hold: HoldId,
        #[n(1)]
        seats: Vec<SeatIndex>,
        #[n(2)]
        areas: Vec<AreaCount>,
    },
    #[n(9)]
    HoldReleased {
        #[n(0)]
        hold: HoldId,
        #[n(1)]
        why: ReleaseCause,
    },
    #[n(10)]
    HoldExpired {
        #[n(0)]
        hold: HoldId,
    },
    /// Also dissolves the queues of its seats.
    #[n(11)]
    HoldConfirmed {
        #[n(0)]
        hold: HoldId,
        #[n(1)]
        order: OrderId,
    },
    #[n(12)]
    HoldOverridden {
        #[n(0)]
        hold: HoldId,
        #[n(1)]
        staff: String,
        #[n(2)]
        reason: String,
        /// Who holds the seats now, under the same hold with a raised fence; nobody: the seats come free.
        #[n(3)]
        to: Option<NewHolder>,
    },
    #[n(13)]
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
    #[n(14)]
    SeatsBlocked {
        #[n(0)]
        seats: Vec<SeatIndex>,
        #[n(1)]
        areas: Vec<AreaCount>,
        #[n(2)]
        reason: String,
    },
    #[n(15)]
    SeatsUnblocked {
        #[n(0)]
        seats: Vec<SeatIndex>,
        #[n(1)]
        areas: Vec<AreaCount>,
    },
    #[n(16)]
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
    #[n(17)]
    PlaceRenewed {
        #[n(0)]
        place: HoldId,
        #[n(1)]
        until: Millis,
        #[n(2)]
        ahead: u32,
    },
    #[n(18)]
    QueueLeft {
        #[n(0)]
        place: HoldId,
    },
    #[n(19)]
    PlaceExpired {
        #[n(0)]
        place: HoldId,
    },
    /// The seat came free, but this buyer is at the limit: the place is lost and the next is served.
    #[n(20)]
    PlaceLost {
        #[n(0)]
        place: HoldId,
    },
    /// The first in line is given the seat: the place becomes a hold of the same id.
    #[n(21)]
    SeatOffered {
        #[n(0)]
        place: HoldId,
        #[n(1)]
        price_minor: Minor,
        #[n(2)]
        until: Millis,
    },
    /// Each further kind of listing has its own facts, nested: their numbers are their own.
    #[n(22)]
    Sale(#[n(0)] SaleFact),
    #[n(23)]
    Series(#[n(0)] SeriesFact),
    #[n(24)]
    Registration(#[n(0)] RegistrationFact),
    #[n(25)]
    Auction(#[n(0)] AuctionFact),
    /// Of an order, in the log of whatever listing has its goods.
    #[n(26)]
    Order(#[n(0)] OrderFact),
    #[n(27)]
    Desk(#[n(0)] DeskFact),
}

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct VenueCreated {
    #[n(0)]
    pub name: String,
    /// City and street, as people would write it.
    #[n(1)]
    pub place: String,
}

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct LayoutPublished {
    #[n(0)]
    pub version: u32,
    #[cbor(n(1), with = "crate::layout::shared")]
    pub layout: Arc<Layout>,
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

#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct NewHolder {
    #[n(0)]
    pub buyer: BuyerId,
    #[n(1)]
    pub until: Millis,
}

impl Fact {
    /// Names of the kinds that no kind of listing has nested, by their number in the journal.
    pub const FLAT_KINDS: [&str; 22] = [
        "venue_created",
        "layout_published",
        "event_created",
        "event_changed",
        "chart_adopted",
        "status_changed",
        "hold_placed",
        "hold_extended",
        "seats_dropped",
        "hold_released",
        "hold_expired",
        "hold_confirmed",
        "hold_overridden",
        "order_refunded",
        "seats_blocked",
        "seats_unblocked",
        "queue_joined",
        "place_renewed",
        "queue_left",
        "place_expired",
        "place_lost",
        "seat_offered",
    ];

    /// Names of all kinds: the flat ones, then those of each nested enum.
    pub const KINDS: &[&str] = &joined::<{ count(&ALL_KINDS) }>(&ALL_KINDS);

    /// The numbers under which the journal has this kind: its own, and the nested one's.
    pub fn wire_numbers(&self) -> (usize, Option<usize>) {
        match self {
            Fact::Sale(fact) => (22, Some(fact.kind_number())),
            Fact::Series(fact) => (23, Some(fact.kind_number())),
            Fact::Registration(fact) => (24, Some(fact.kind_number())),
            Fact::Auction(fact) => (25, Some(fact.kind_number())),
            Fact::Order(fact) => (26, Some(fact.kind_number())),
            Fact::Desk(fact) => (27, Some(fact.kind_number())),
            Fact::VenueCreated(_) => (0, None),
            Fact::LayoutPublished(_) => (1, None),
            Fact::EventCreated(_) => (2, None),
            Fact::EventChanged(_) => (3, None),
            Fact::ChartAdopted(_) => (4, None),
            Fact::StatusChanged { .. } => (5, None),
            Fact::HoldPlaced { .. } => (6, None),
            Fact::HoldExtended { .. } => (7, None),
            Fact::SeatsDropped { .. } => (8, None),
            Fact::HoldReleased { .. } => (9, None),
            Fact::HoldExpired { .. } => (10, None),
            Fact::HoldConfirmed { .. } => (11, None),
            Fact::HoldOverridden { .. } => (12, None),
            Fact::OrderRefunded { .. } => (13, None),
            Fact::SeatsBlocked { .. } => (14, None),
            Fact::SeatsUnblocked { .. } => (15, None),
            Fact::QueueJoined { .. } => (16, None),
            Fact::PlaceRenewed { .. } => (17, None),
            Fact::QueueLeft { .. } => (18, None),
            Fact::PlaceExpired { .. } => (19, None),
            Fact::PlaceLost { .. } => (20, None),
            Fact::SeatOffered { .. } => (21, None),
        }
    }

    /// Where the kind stands in [`Fact::KINDS`]. It is of this version of the program: the journal never has it.
    pub fn kind_number(&self) -> usize {
        let (own, nested) = self.wire_numbers();
        let Some(nested) = nested else { return own };
        let list = 1 + own - ALL_KINDS[0].len();
        ALL_KINDS[..list].iter().map(|kinds| kinds.len()).sum::<usize>() + nested
    }

    /// The public name, the same in JSON, streams and metrics.
    pub fn kind(&self) -> &'static str {
        Fact::KINDS[self.kind_number()]
    }
}

const ALL_KINDS: [&[&str]; 7] = [
    &Fact::FLAT_KINDS,
    &SaleFact::KINDS,
    &SeriesFact::KINDS,
    &RegistrationFact::KINDS,
    &AuctionFact::KINDS,
    &OrderFact::KINDS,
    &DeskFact::KINDS,
];

impl From<SaleFact> for Fact {
    fn from(fact: SaleFact) -> Fact {
        Fact::Sale(fact)
    }
}

impl From<SeriesFact> for Fact {
    fn from(fact: SeriesFact) -> Fact {
        Fact::Series(fact)
    }
}

impl From<RegistrationFact> for Fact {
    fn from(fact: RegistrationFact) -> Fact {
        Fact::Registration(fact)
    }
}

impl From<AuctionFact> for Fact {
    fn from(fact: AuctionFact) -> Fact {
        Fact::Auction(fact)
    }
}
