//! The state of an event's seats: dense arrays by seat index, slabs for holds, buyers and queue places.
//! Only `apply` changes it; everything here that is `&mut self` is called from there.

use std::collections::BTreeMap;
use std::hash::BuildHasher;
use std::sync::Arc;

use onsale_compact::deadlines::Deadlines;
use onsale_compact::map::{Hasher, Map, Table};
use onsale_compact::slab::Slab;

use super::command::{EventCommand, HoldKey, PlaceHold};
use super::fact::{AreaLine, HoldAfter, SeatLine};
use crate::chart::Chart;
use crate::ended::EndMemory;
use crate::event::{EventDetails, EventStatus};
use crate::id::{BuyerId, HoldId, OrderId, SeatIndex};
use crate::money::Minor;
use crate::outcome::HoldState;
use crate::time::{Millis, is_over};

pub(super) const NONE: u32 = u32::MAX;

#[derive(Clone, Debug)]
pub struct Seats {
    pub(super) details: Arc<EventDetails>,
    pub(super) status: EventStatus,
    pub(super) chart: Arc<Chart>,
    pub(super) seats: Vec<SeatState>,
    pub(super) areas: Vec<AreaState>,
    pub(super) holds: Slab<Hold>,
    pub(super) hold_by_id: Table<u32>,
    pub(super) buyers: Slab<Buyer>,
    pub(super) buyer_by_id: Table<u32>,
    pub(super) orders: Slab<Order>,
    pub(super) order_by_id: Map<OrderId, u32>,
    /// Orders with something left to refund, in the order they were confirmed.
    pub(super) open_orders: BTreeMap<u64, u32>,
    /// The queues that are not empty; each first come, first served.
    pub(super) queues: BTreeMap<SeatIndex, Vec<u32>>,
    pub(super) places: Slab<QueuePlace>,
    pub(super) place_by_id: Map<HoldId, u32>,
    /// Every deadline, in (until, fence) order.
    pub(super) due: Deadlines<Due>,
    pub(super) ended: EndMemory,
    /// Counts by section and tier, indexed by status; and two bits a seat. Both follow every change.
    pub(super) cells: Vec<[u32; 4]>,
    pub(super) bits: Vec<u8>,
    /// Available seats by row, so that best available can pass over full rows.
    pub(super) row_available: Vec<u32>,
    pub(super) hasher: Hasher,
}

/// What a seat shows to the world; the two bits of the binary seat map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Status {
    Available = 0,
    Held = 1,
    Sold = 2,
    Blocked = 3,
}

impl Status {
    pub const ALL: [Status; 4] = [Status::Available, Status::Held, Status::Sold, Status::Blocked];

    pub fn as_str(self) -> &'static str {
        match self {
            Status::Available => "available",
            Status::Held => "held",
            Status::Sold => "sold",
            Status::Blocked => "blocked",
        }
    }

    /// The status of the seat at `index` in a binary seat map.
    pub fn in_bits(bits: &[u8], index: SeatIndex) -> Status {
        Status::ALL[usize::from(bits[index as usize / 4] >> (index % 4 * 2) & 3)]
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grip {
    Free,
    Held,
    Sold,
}

/// Eight bytes a seat.
#[derive(Clone, Copy, Debug)]
pub(super) struct SeatState {
    /// The hold or the order, by slab index.
    pub by: u32,
    pub grip: Grip,
    pub blocked: bool,
}

impl SeatState {
    pub(super) const FREE: SeatState = SeatState { by: NONE, grip: Grip::Free, blocked: false };

    /// Sold shows before blocked, blocked before held: the order of precedence.
    pub(super) fn status(self) -> Status {
        match (self.grip, self.blocked) {
            (Grip::Sold, _) => Status::Sold,
            (Grip::Free | Grip::Held, true) => Status::Blocked,
            (Grip::Held, false) => Status::Held,
            (Grip::Free, false) => Status::Available,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AreaState {
    pub capacity: u32,
    pub held: u32,
    pub sold: u32,
    pub blocked: u32,
}

impl AreaState {
    pub fn available(self) -> u32 {
        self.capacity.saturating_sub(self.held + self.sold + self.blocked)
    }
}

#[derive(Clone, Debug)]
pub(super) struct Hold {
    pub id: HoldId,
    pub fence: u64,
    pub until: Millis,
    /// How long before `until` it was placed.
    pub span_ms: u32,
    pub length_ms: u32,
    pub buyer: u32,
    /// The buyer's next hold: a list through the slab.
    pub next: u32,
    pub extensions: u8,
    pub offered: bool,
    /// The seat, if it is just one: most holds are, and then need no allocation of their own.
    one: SeatLine,
    many: Option<Box<Lines>>,
}

/// The lines of a hold of several seats, or of general-admission places.
#[derive(Clone, Debug, Default)]
struct Lines {
    seats: Vec<SeatLine>,
    areas: Vec<AreaLine>,
}

/// What makes a hold; see [`Hold`].
pub(super) struct NewHold<'a> {
    pub id: HoldId,
    pub fence: u64,
    pub placed_at: Millis,
    pub until: Millis,
    pub length_ms: u32,
    pub buyer: u32,
    pub next: u32,
    pub extensions: u8,
    pub offered: bool,
    pub seats: &'a [SeatLine],
    pub areas: &'a [AreaLine],
}

impl Hold {
    pub(super) fn new(new: &NewHold<'_>) -> Hold {
        let mut hold = Hold {
            id: new.id,
            fence: new.fence,
            until: new.until,
            span_ms: (new.until - new.placed_at) as u32,
            length_ms: new.length_ms,
            buyer: new.buyer,
            next: new.next,
            extensions: new.extensions,
            offered: new.offered,
            one: SeatLine { seat: NONE, price_minor: 0 },
            many: None,
        };
        hold.set_lines(new.seats, new.areas);
        hold
    }

    pub(super) fn set_lines(&mut self, seats: &[SeatLine], areas: &[AreaLine]) {
        match (seats, areas) {
            ([one], []) => (self.one, self.many) = (*one, None),
            _ => self.many = Some(Box::new(Lines { seats: seats.to_vec(), areas: areas.to_vec() })),
        }
    }

    pub(super) fn placed_at(&self) -> Millis {
        self.until - Millis::from(self.span_ms)
    }

    pub(super) fn seats(&self) -> &[SeatLine] {
        self.many.as_ref().map_or(std::slice::from_ref(&self.one), |lines| &lines.seats)
    }

    pub(super) fn area_lines(&self) -> &[AreaLine] {
        self.many.as_ref().map_or(&[], |lines| &lines.areas)
    }

    pub(super) fn total_minor(&self) -> Minor {
        super::fact::total_minor(self.seats(), self.area_lines())
    }

    /// Seats and places in it.
    pub(super) fn size(&self) -> u32 {
        self.seats().len() as u32 + self.area_lines().iter().map(|line| line.count).sum::<u32>()
    }
}

#[derive(Clone, Debug)]
pub(super) struct Buyer {
    pub name: Box<str>,
    pub held: u32,
    pub sold: u32,
    pub first_hold: u32,
    pub places: u16,
    /// Whether there ever was an order, refunded ones too: they name their buyer for ever.
    pub ordered: bool,
}

impl Buyer {
    pub(super) fn id(&self) -> BuyerId {
        BuyerId::known(&self.name)
    }
}

#[derive(Clone, Debug)]
pub(super) struct Order {
    pub id: OrderId,
    pub fence: u64,
    pub buyer: u32,
    /// The hold that it bought, when, and for how much.
    pub hold: HoldId,
    pub at: Millis,
    pub total_minor: Minor,
    /// What is left of it.
    pub seats: Vec<SeatLine>,
    pub areas: Vec<AreaLine>,
}

#[derive(Clone, Debug)]
pub(super) struct QueuePlace {
    pub id: HoldId,
    pub seat: SeatIndex,
    pub buyer: u32,
    pub fence: u64,
    pub until: Millis,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    Hold(u32),
    Place(u32),
}

/// The bit that tells a place from a hold.
const PLACE: u32 = 1 << 31;

impl From<Due> for u32 {
    fn from(due: Due) -> u32 {
        match due {
            Due::Hold(index) => index,
            Due::Place(index) => index | PLACE,
        }
    }
}

impl From<u32> for Due {
    fn from(what: u32) -> Due {
        if what & PLACE == 0 { Due::Hold(what) } else { Due::Place(what & !PLACE) }
    }
}

impl Seats {
    pub(crate) fn new(details: EventDetails) -> Seats {
        Seats {
            details: Arc::new(details),
            status: EventStatus::Draft,
            chart: Arc::new(Chart::default()),
            seats: Vec::new(),
            areas: Vec::new(),
            holds: Slab::default(),
            hold_by_id: Table::default(),
            buyers: Slab::default(),
            buyer_by_id: Table::default(),
            orders: Slab::default(),
            order_by_id: Map::default(),
            open_orders: BTreeMap::new(),
            queues: BTreeMap::new(),
            places: Slab::default(),
            place_by_id: Map::default(),
            due: Deadlines::default(),
            ended: EndMemory::default(),
            cells: Vec::new(),
            bits: Vec::new(),
            row_available: Vec::new(),
            hasher: Hasher::default(),
        }
    }

    pub fn details(&self) -> &Arc<EventDetails> {
        &self.details
    }

    pub fn status(&self) -> EventStatus {
        self.status
    }

    pub fn chart(&self) -> &Arc<Chart> {
        &self.chart
    }

    pub fn seat_status(&self, seat: SeatIndex) -> Status {
        self.seats[seat as usize].status()
    }

    /// See [`Listing::far`](crate::Listing::far).
    pub(crate) fn far(&self, command: &EventCommand, before: usize) -> [Option<&u32>; 2] {
        if let EventCommand::PlaceHold(PlaceHold { hold, .. }) = command {
            [self.ended.far(*hold), None]
        } else if let EventCommand::ReleaseHold(HoldKey { hold, .. }) = command {
            self.ended.far_of_end(*hold, before)
        } else {
            [None; 2]
        }
    }

    pub(super) fn hold_index(&self, id: HoldId) -> Option<u32> {
        self.hold_by_id.find(self.hasher.hash_one(id), |known| self.holds[*known].id == id).copied()
    }

    pub(super) fn buyer_index(&self, id: &BuyerId) -> Option<u32> {
        self.buyer_by_id
            .find(self.hasher.hash_one(id.as_str()), |known| *self.buyers[*known].name == *id.as_str())
            .copied()
    }

    /// The buyer's holds; at most as many as the limit allows places.
    pub(super) fn holds_of(&self, buyer: u32) -> impl Iterator<Item = u32> {
        let mut next = self.buyers[buyer].first_hold;
        std::iter::from_fn(move || {
            let hold = (next != NONE).then_some(next)?;
            next = self.holds[hold].next;
            Some(hold)
        })
    }

    /// Whether an id names, or lately named, anything here; a new thing must bring a new id.
    pub(super) fn knows(&self, id: HoldId, now: Millis) -> bool {
        self.hold_index(id).is_some()
            || self.place_by_id.contains_key(&id)
            || self.ended.get(id, now).is_some()
    }

    /// The holder of a seat that is held.
    pub(super) fn holder(&self, seat: SeatIndex) -> Option<u32> {
        let state = self.seats[seat as usize];
        (state.grip == Grip::Held).then_some(state.by)
    }

    pub(super) fn hold_state(&self, index: u32) -> HoldState {
        let hold = &self.holds[index];
        HoldState {
            hold: hold.id,
            buyer: self.buyers[hold.buyer].id(),
            fence: hold.fence,
            placed_at: hold.placed_at(),
            until: hold.until,
            extensions: hold.extensions,
            offered: hold.offered,
            seats: hold.seats().to_vec(),
            areas: hold.area_lines().to_vec(),
        }
    }

    /// The hold as it is, for a fact that changes it to say how it leaves it.
    pub(super) fn hold_after(&self, index: u32) -> HoldAfter {
        let hold = &self.holds[index];
        HoldAfter {
            buyer: self.buyers[hold.buyer].id(),
            placed_at: hold.placed_at(),
            until: hold.until,
            extensions: hold.extensions,
            offered: hold.offered,
            seats: hold.seats().to_vec(),
            areas: hold.area_lines().to_vec(),
        }
    }

    /// Places that count against a buyer's limit.
    pub(super) fn taken_by(&self, buyer: &BuyerId) -> u32 {
        self.buyer_index(buyer).map_or(0, |index| self.buyers[index].held + self.buyers[index].sold)
    }

    /// The same, without the holds whose time is over though nobody has said so yet.
    pub(super) fn living_taken(&self, buyer: &Buyer, now: Millis) -> u32 {
        let mut taken = buyer.held + buyer.sold;
        let mut next = buyer.first_hold;
        while next != NONE {
            let hold = &self.holds[next];
            taken -= if is_over(hold.until, now) { hold.size() } else { 0 };
            next = hold.next;
        }
        taken
    }

    pub(super) fn price_of_tier(&self, tier: u16) -> i64 {
        self.details.tiers.get(usize::from(tier)).map_or(0, |tier| tier.price_minor)
    }

    pub fn price_of_seat(&self, seat: SeatIndex) -> i64 {
        self.chart.seat(seat).map_or(0, |seat| self.price_of_tier(seat.tier.into()))
    }
}
