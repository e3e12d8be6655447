//! A second, simpler model of the rules, written from `rules.md` alone: ordered maps and linear scans, no indexes,
//! no counters. It shares only the types of commands, facts and ids with the domain, none of its decisions.

mod apply;
mod best;
mod bidding;
mod check;
mod decide;
mod expire;
mod kept;
mod laws;
mod money;
pub mod other;
mod promises;
mod query;
mod verbs;

pub use money::{AWARD_COURSES, Courses, MoneyTotals, PLACE_COURSES};

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use onsale_domain::about::About;
use onsale_domain::ended::End;
use onsale_domain::event::{EventDetails, EventStatus};
use onsale_domain::seats::fact::{AreaLine, SeatLine};
use onsale_domain::seats::{OrderState, Status};
use onsale_domain::{BuyerId, Command, Fact, HoldId, ListingId, Millis, OrderId, Outcome, Step};

/// One listing as the model sees it, with its whole log.
#[derive(Clone, Debug)]
pub struct Listing {
    pub id: ListingId,
    pub now: State,
    /// The state at the last recovery, from which a shorter log is applied again.
    base: State,
    pub log: Vec<Arc<Step>>,
    /// When it was made, among all listings: the order of sweeps.
    pub made: u64,
}

#[derive(Clone, Debug, Default)]
pub struct State {
    pub offset: u64,
    pub last_at: Millis,
    pub body: Body,
    /// What its merchant says of it, where it has a model of its own.
    pub about: About,
}

impl State {
    /// It was, and is no more.
    pub fn is_deleted(&self) -> bool {
        match &self.body {
            Body::Nothing => self.offset > 0,
            Body::Venue { .. } | Body::Event(_) => false,
            Body::Other(other) => other.listing.is_deleted(),
        }
    }
}

#[derive(Clone, Debug, Default)]
pub enum Body {
    #[default]
    Nothing,
    Venue {
        version: u32,
    },
    Event(Box<Event>),
    Other(Box<other::Other>),
}

#[derive(Clone, Debug)]
pub struct Event {
    pub details: EventDetails,
    pub status: EventStatus,
    pub chart: Chart,
    pub blocked: BTreeSet<u32>,
    pub blocked_places: BTreeMap<u16, u32>,
    pub holds: BTreeMap<HoldId, Hold>,
    pub orders: BTreeMap<OrderId, Order>,
    /// All queues in one list, in the order of joining.
    pub places: Vec<QueuePlace>,
    pub ended: BTreeMap<HoldId, (End, Millis)>,
}

#[derive(Clone, Debug, Default)]
pub struct Chart {
    /// The id of every seat ever, by index.
    pub ids: Vec<String>,
    /// What is on sale now.
    pub seats: BTreeMap<u32, Seat>,
    pub sections: Vec<String>,
    pub rows: Vec<(u16, Vec<u32>)>,
    pub areas: Vec<Area>,
    pub tiers: usize,
}

#[derive(Clone, Debug)]
pub struct Seat {
    pub section: u16,
    pub tier: u16,
    /// Accessible, or a companion's.
    pub special: bool,
}

#[derive(Clone, Debug)]
pub struct Area {
    pub id: String,
    pub tier: u16,
    /// 0 when it is no longer on sale.
    pub capacity: u32,
    pub retired: bool,
}

#[derive(Clone, Debug)]
pub struct Hold {
    pub id: HoldId,
    pub buyer: BuyerId,
    pub fence: u64,
    pub placed_at: Millis,
    pub until: Millis,
    pub length: Millis,
    pub extensions: u8,
    pub offered: bool,
    pub seats: Vec<SeatLine>,
    pub areas: Vec<AreaLine>,
}

#[derive(Clone, Debug)]
pub struct Order {
    pub buyer: BuyerId,
    pub fence: u64,
    pub hold: HoldId,
    pub at: Millis,
    pub total_minor: i64,
    pub seats: Vec<SeatLine>,
    pub areas: Vec<AreaLine>,
}

#[derive(Clone, Debug)]
pub struct QueuePlace {
    pub id: HoldId,
    pub seat: u32,
    pub buyer: BuyerId,
    pub fence: u64,
    pub until: Millis,
}

/// A fence: the epoch, always 1 here, above forty bits of offset.
pub fn fence_at(offset: u64) -> u64 {
    (1 << 40) + offset
}

impl Listing {
    pub fn new(id: ListingId, made: u64) -> Listing {
        Listing { id, now: State::default(), base: State::default(), log: Vec::new(), made }
    }

    pub fn event(&self) -> Option<&Event> {
        match &self.now.body {
            Body::Event(event) => Some(event),
            Body::Nothing | Body::Venue { .. } | Body::Other(_) => None,
        }
    }

    pub fn other(&self) -> Option<&other::Other> {
        match &self.now.body {
            Body::Other(other) => Some(other),
            Body::Nothing | Body::Venue { .. } | Body::Event(_) => None,
        }
    }

    /// Decides a command, takes its facts in, and says what both should be.
    pub fn execute(&mut self, command: &Command, clock: Millis) -> (Vec<Fact>, Outcome) {
        let now = clock.max(self.now.last_at);
        if let Some(answer) = self.now.execute_other(self.id, command, now) {
            return answer;
        }
        let mut run = decide::Run { id: self.id, state: &mut self.now, now, facts: Vec::new() };
        let outcome = run.command(command).unwrap_or_else(|refusal| Outcome::Refused(Box::new(refusal)));
        (run.facts, outcome)
    }

    /// Forgets every step after `offset`; false if no step ends there.
    pub fn cut(&mut self, offset: u64) -> bool {
        let kept = self.log.iter().take_while(|step| step.last() <= offset).count();
        self.log.truncate(kept);
        let mut state = self.base.clone();
        for step in self.log.iter().filter(|step| step.first > self.base.offset) {
            step.facts.iter().for_each(|fact| state.apply(self.id, fact, step.at));
        }
        self.base = state.clone();
        self.now = state;
        self.now.offset == offset
    }

    /// The steps after an offset.
    pub fn after(&self, offset: u64) -> &[Arc<Step>] {
        let start = self.log.partition_point(|step| step.first <= offset);
        &self.log[start..]
    }

    pub fn next_due(&self) -> Option<Millis> {
        match &self.now.body {
            Body::Nothing | Body::Venue { .. } => None,
            Body::Event(event) => event.next_due(),
            Body::Other(other) => other.listing.next_due(),
        }
    }
}

impl Event {
    pub fn status_of(&self, seat: u32) -> Status {
        if self.orders.values().any(|order| order.seats.iter().any(|line| line.seat == seat)) {
            Status::Sold
        } else if self.blocked.contains(&seat) {
            Status::Blocked
        } else if self.holder(seat).is_some() {
            Status::Held
        } else {
            Status::Available
        }
    }

    /// Every index ever given; what is not on sale any more shows as blocked.
    pub fn statuses(&self) -> Vec<Status> {
        let mut all: Vec<Status> = (0..self.chart.ids.len() as u32).map(|_| Status::Available).collect();
        for hold in self.holds.values() {
            hold.seats.iter().for_each(|line| all[line.seat as usize] = Status::Held);
        }
        self.blocked.iter().for_each(|seat| all[*seat as usize] = Status::Blocked);
        for order in self.orders.values() {
            order.seats.iter().for_each(|line| all[line.seat as usize] = Status::Sold);
        }
        for (index, status) in all.iter_mut().enumerate() {
            if !self.chart.seats.contains_key(&(index as u32)) {
                *status = Status::Blocked;
            }
        }
        all
    }

    pub fn holder(&self, seat: u32) -> Option<&Hold> {
        self.holds.values().find(|hold| hold.seats.iter().any(|line| line.seat == seat))
    }

    /// Held, sold and blocked places of an area.
    pub fn area_use(&self, area: u16) -> [u32; 3] {
        let count = |lines: &[AreaLine]| {
            lines.iter().filter(|line| line.area == area).map(|line| line.count).sum::<u32>()
        };
        let held = self.holds.values().map(|hold| count(&hold.areas)).sum();
        let sold = self.orders.values().map(|order| count(&order.areas)).sum();
        [held, sold, self.blocked_places.get(&area).copied().unwrap_or(0)]
    }

    pub fn area_free(&self, area: u16) -> u32 {
        let taken: u32 = self.area_use(area).iter().sum();
        self.chart.areas[usize::from(area)].capacity.saturating_sub(taken)
    }

    /// What counts against a buyer's limit.
    pub fn taken(&self, buyer: &BuyerId) -> u32 {
        let held = self.holds.values().filter(|hold| hold.buyer == *buyer).map(Hold::size);
        let sold = self.orders.values().filter(|order| order.buyer == *buyer);
        held.sum::<u32>() + sold.map(|order| size(&order.seats, &order.areas)).sum::<u32>()
    }

    /// The same without holds that are over, though nobody has said so yet.
    pub fn taken_living(&self, buyer: &BuyerId, now: Millis) -> u32 {
        let over = self.holds.values().filter(|hold| hold.buyer == *buyer && now >= hold.until);
        self.taken(buyer) - over.map(Hold::size).sum::<u32>()
    }

    pub fn price(&self, tier: u16) -> i64 {
        self.details.tiers.get(usize::from(tier)).map_or(0, |tier| tier.price_minor)
    }

    pub fn seat_price(&self, seat: u32) -> i64 {
        self.chart.seats.get(&seat).map_or(0, |seat| self.price(seat.tier))
    }
}

impl Order {
    pub fn state(&self, order: OrderId) -> OrderState {
        OrderState {
            order,
            hold: self.hold,
            fence: self.fence,
            at: self.at,
            total_minor: self.total_minor,
            buyer: self.buyer.clone(),
            seats: self.seats.clone(),
            areas: self.areas.clone(),
        }
    }
}

impl Hold {
    pub fn size(&self) -> u32 {
        size(&self.seats, &self.areas)
    }
}

/// Takes places out one by one, each from the latest line that has some; their price, or nothing if there are too few.
pub fn take_latest(lines: &mut Vec<AreaLine>, area: u16, count: u32) -> Option<i64> {
    let mut price_minor = 0;
    for _ in 0..count {
        let latest = lines.iter().rposition(|line| line.area == area)?;
        price_minor += lines[latest].price_minor;
        lines[latest].count -= 1;
        if lines[latest].count == 0 {
            lines.remove(latest);
        }
    }
    Some(price_minor)
}

/// Adds places, to those of the same area and price if there are any.
pub fn add_places(lines: &mut Vec<AreaLine>, more: &[AreaLine]) {
    for add in more {
        let like = |line: &AreaLine| line.area == add.area && line.price_minor == add.price_minor;
        match lines.iter().position(like) {
            Some(known) => lines[known].count += add.count,
            None => lines.push(*add),
        }
    }
}

pub fn price(seats: &[SeatLine], areas: &[AreaLine]) -> i64 {
    let places = areas.iter().map(|line| i64::from(line.count) * line.price_minor);
    seats.iter().map(|line| line.price_minor).chain(places).sum()
}

/// Places by area, whatever they cost.
pub fn by_area(lines: &[AreaLine]) -> BTreeMap<u16, u32> {
    let mut counts = BTreeMap::new();
    lines.iter().for_each(|line| *counts.entry(line.area).or_default() += line.count);
    counts
}

pub fn size(seats: &[SeatLine], areas: &[AreaLine]) -> u32 {
    seats.len() as u32 + areas.iter().map(|line| line.count).sum::<u32>()
}
