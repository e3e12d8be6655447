//! What many buyers and some staff want: eager and patient, honest and confused, at the front row or anywhere.
//! It looks at the model to know what is worth asking; the answer is the engine's business.

mod about;
mod auctions;
mod demand;
mod events;
mod growing;
mod kept;
mod orders;
mod sales;

use onsale_domain::Query;
use onsale_domain::event::EventStatus;
use onsale_domain::listing::Key;
use onsale_domain::seats::Status;
use onsale_domain::seats::command::{
    BestAvailable, BlockSeats, ConfirmHold, DropSeats, ExtendHold, HoldKey, JoinQueue, LeaveQueue,
    OverrideHold, Pick, PlaceHold, RefundOrder, UnblockSeats,
};
use onsale_domain::seats::fact::AreaCount;
use onsale_domain::seats::{EventCommand, EventQuery};
use onsale_domain::{BuyerId, Command, HoldId, ListingId, ListingKind, OrderId};
use onsale_engine::Request;

use crate::auditor::Auditor;
use crate::model::{Event, Listing};
use crate::rng::Rng;

#[derive(Debug)]
pub struct Workload {
    buyers: Vec<BuyerId>,
    /// How many of a thousand go for the first seats.
    hot: u64,
    keyed: u64,
    /// How many of a thousand want something other than seats; in many runs nobody does.
    others: u64,
    /// The same for auctions, in a quarter of all runs.
    bidding: u64,
    /// The same for orders, in another quarter.
    paying: u64,
    /// The same for orders of awards and places, in runs of their own.
    keeping: u64,
    /// How many of a thousand things asked of an event let a hold grow, in a quarter of all runs.
    growing: u64,
    /// How many of a thousand describe or delete a listing of any kind, in the last quarter.
    saying: u64,
    next_id: u64,
    listings_made: u64,
    listings_max: u64,
    /// Keys of holds gone by, for those who come too late.
    old_keys: Vec<(ListingId, HoldKey)>,
}

impl Workload {
    pub fn new(rng: &mut Rng, keeping: bool) -> Workload {
        let buyer = |n: u64| BuyerId::parse(&format!("usr_{n}")).expect("a buyer's name");
        let buyers: Vec<_> = (0..rng.range(110, 140) as u64).map(buyer).collect();
        let workload = Workload {
            // Taken from what was drawn anyway, so that runs without auctions stay the runs they were.
            bidding: if buyers.len().is_multiple_of(4) { 450 } else { 0 },
            paying: if buyers.len() % 4 == 2 { 550 } else { 0 },
            growing: if buyers.len() % 4 == 3 { 120 } else { 0 },
            saying: if buyers.len() % 4 == 1 { 15 } else { 0 },
            buyers,
            hot: rng.below(700),
            keyed: 200 + rng.below(700),
            others: if rng.chance(400) { 300 + rng.below(600) } else { 0 },
            next_id: 1,
            listings_made: 0,
            listings_max: rng.range(10, 40) as u64,
            old_keys: Vec::new(),
            keeping: 0,
        };
        match keeping {
            true => Workload { bidding: 0, paying: 0, others: 0, keeping: 850, ..workload },
            false => workload,
        }
    }

    fn fresh(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }

    /// A few buyers do most of the buying.
    fn buyer(&self, rng: &mut Rng) -> BuyerId {
        let crowd = if rng.chance(850) { 12 } else { self.buyers.len() as u64 };
        self.buyers[rng.below(crowd) as usize].clone()
    }

    fn request(&mut self, rng: &mut Rng, listing: ListingId, command: Command) -> Request {
        let key = rng.chance(self.keyed).then(|| {
            let scope = u128::from(self.fresh()).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
            Key { scope, fingerprint: scope ^ 0x5555 }
        });
        Request { listing, command, key, by: None }
    }

    /// Something to ask of some listing, all of it of one listing.
    pub fn next(&mut self, rng: &mut Rng, auditor: &Auditor, clock: i64) -> Vec<Request> {
        let is_open =
            |listing: &&Listing| listing.event().is_some_and(|event| event.status == EventStatus::OnSale);
        let open: Vec<ListingId> = auditor.listings.values().filter(is_open).map(|one| one.id).collect();
        let wanted = self.listings_made < 3 || rng.chance(if open.len() < 2 { 40 } else { 2 });
        if wanted && self.listings_made < self.listings_max {
            return vec![self.create(rng, clock)];
        }
        if self.bidding > 0 && rng.chance(self.bidding) {
            return vec![self.bid(rng, auditor, clock)];
        }
        if self.paying > 0 && rng.chance(self.paying) {
            return vec![self.with_orders(rng, auditor, clock)];
        }
        if self.keeping > 0 && rng.chance(self.keeping) {
            return self.keep(rng, auditor, clock);
        }
        if self.saying > 0 && rng.chance(self.saying) {
            return vec![self.of_every_kind(rng, auditor, clock)];
        }
        if rng.chance(self.others) {
            return vec![self.elsewhere(rng, auditor, clock)];
        }
        if rng.chance(6) {
            return vec![self.stray(rng, auditor, clock)];
        }
        // Most of the crowd is where tickets are sold.
        let all: Vec<ListingId> = auditor.listings.keys().copied().collect();
        let ids = if rng.chance(880) && !open.is_empty() { &open } else { &all };
        let Some(listing) = rng.pick(ids).and_then(|id| auditor.listings.get(id)) else {
            return vec![self.create(rng, clock)];
        };
        if let Some(other) = listing.other() {
            return vec![self.of_other(rng, listing.id, other, clock)];
        }
        let Some(event) = listing.event() else {
            let command = self.of_venue(rng, listing);
            return vec![self.request(rng, listing.id, command)];
        };
        if rng.chance(12) {
            return self.burst(rng, listing.id, event);
        }
        let commands = if rng.chance(40) { rng.range(2, 5) } else { 1 };
        (0..commands)
            .map(|_| {
                let command = self.of_event(rng, listing, event, clock);
                self.request(rng, listing.id, command)
            })
            .collect()
    }

    /// Something to ask of a sale, a series or a registration; three of them open at least.
    fn elsewhere(&mut self, rng: &mut Rng, auditor: &Auditor, clock: i64) -> Request {
        let own = |one: &&Listing| !matches!(one.id.kind, ListingKind::Event | ListingKind::Desk);
        let all = auditor.listings.values().filter(own);
        let all: Vec<_> = all.filter_map(|one| Some((one.id, one.other()?))).collect();
        let lively: Vec<_> = all.iter().filter(|(_, other)| other.goes_on()).copied().collect();
        let wanted = lively.len() < 3 && self.listings_made < 2 * self.listings_max;
        let crowd = if rng.chance(850) && !lively.is_empty() { &lively } else { &all };
        match rng.pick(crowd).filter(|_| !wanted || rng.chance(900)) {
            Some((id, other)) => self.of_other(rng, *id, other, clock),
            None => self.create_other(rng, clock),
        }
    }

    fn of_event(&mut self, rng: &mut Rng, listing: &Listing, event: &Event, clock: i64) -> Command {
        const WEIGHTS: [u64; 17] = [300, 110, 40, 30, 100, 110, 130, 50, 25, 30, 20, 20, 12, 8, 14, 20, 8];
        if self.growing > 0 && rng.chance(self.growing) {
            return self.grow_hold(rng, listing, event);
        }
        match rng.weighted(&WEIGHTS) {
            0 => self.place_hold(rng, event),
            1 => {
                let held: Vec<u32> =
                    event.holds.values().flat_map(|one| one.seats.iter().map(|l| l.seat)).collect();
                let seat = if rng.chance(900) { rng.pick(&held).copied() } else { None };
                let seat = seat.unwrap_or_else(|| self.seat(rng, event));
                let place = HoldId(if rng.chance(985) { self.fresh() } else { self.next_id });
                // Those who hold much already are the ones whom an offer may carry over their limit.
                let holds: Vec<_> = event.holds.values().map(|hold| &hold.buyer).collect();
                let greedy = rng.pick(&holds).map(|buyer| (*buyer).clone()).filter(|_| rng.chance(350));
                let buyer = greedy.unwrap_or_else(|| self.buyer(rng));
                Command::Event(EventCommand::JoinQueue(JoinQueue { place, seat, buyer }))
            }
            2 => match event.places.iter().min_by_key(|place| place.until) {
                Some(place) => Command::Event(EventCommand::JoinQueue(JoinQueue {
                    place: HoldId(self.fresh()),
                    seat: place.seat,
                    buyer: place.buyer.clone(),
                })),
                None => self.place_hold(rng, event),
            },
            3 => {
                let place = rng.pick(&event.places).map(|place| (place.seat, place.buyer.clone()));
                let place = place.filter(|_| rng.chance(800));
                let (seat, buyer) = place.unwrap_or_else(|| (self.seat(rng, event), self.buyer(rng)));
                Command::Event(EventCommand::LeaveQueue(LeaveQueue { seat, buyer }))
            }
            4 => {
                let extension_ms = match rng.below(10) {
                    0 => Some(rng.range(1_000, 900_000)),
                    1 => Some(1_000),
                    2 => Some(rng.range(-5, 999)),
                    _ => None,
                };
                Command::Event(EventCommand::ExtendHold(ExtendHold {
                    key: self.key(rng, listing, event),
                    extension_ms,
                }))
            }
            5 => Command::Event(EventCommand::ReleaseHold(self.key(rng, listing, event))),
            6 => {
                let order = OrderId(if rng.chance(970) { self.fresh() } else { self.some_order(rng, event) });
                Command::Event(EventCommand::ConfirmHold(ConfirmHold {
                    key: self.key(rng, listing, event),
                    order,
                    settled: rng.chance(850),
                }))
            }
            7 => self.drop_seats(rng, listing, event),
            8 => {
                let hold = self.key(rng, listing, event).hold;
                let length = if rng.chance(700) { None } else { Some(rng.range(20_000, 910_000)) };
                let to = rng.chance(500).then(|| (self.buyer(rng), length));
                let reason = if rng.chance(950) { "a wheelchair" } else { "" };
                Command::Event(EventCommand::OverrideHold(OverrideHold { hold, reason: reason.into(), to }))
            }
            9 => self.refund(rng, event),
            10 => Command::Event(EventCommand::BlockSeats(BlockSeats {
                seats: (0..rng.below(4)).map(|_| self.seat(rng, event)).collect(),
                areas: if rng.chance(300) { self.areas(rng, event) } else { Vec::new() },
                reason: "a camera".into(),
            })),
            11 => {
                let blocked: Vec<u32> = event.blocked.iter().copied().collect();
                let seat = |rng: &mut Rng| rng.pick(&blocked).copied().unwrap_or(0);
                Command::Event(EventCommand::UnblockSeats(UnblockSeats {
                    seats: (0..rng.range(0, 3)).map(|_| seat(rng)).collect(),
                    areas: if rng.chance(400) { self.areas(rng, event) } else { Vec::new() },
                }))
            }
            12 => self.change_event(rng, event, clock),
            13 => self.adopt_chart(rng, event),
            14 => self.change_status(rng, event),
            15 => Command::ExpireDue { limit: rng.below(70) as u32 },
            _ => self.odd(rng, event),
        }
    }

    fn seat(&self, rng: &mut Rng, event: &Event) -> u32 {
        let count = event.chart.ids.len() as u64;
        let crowd = if rng.chance(self.hot) { 4 } else { count };
        let unknown = u64::from(rng.chance(8));
        (rng.below(crowd) + unknown * count) as u32
    }

    fn areas(&self, rng: &mut Rng, event: &Event) -> Vec<AreaCount> {
        let unknown = u64::from(rng.chance(60));
        let area = rng.below(event.chart.areas.len() as u64 + unknown) as u16;
        let least = i64::from(rng.chance(980));
        vec![AreaCount { area, count: rng.range(least, 5) as u32 }]
    }

    fn place_hold(&mut self, rng: &mut Rng, event: &Event) -> Command {
        let buyer = self.buyer(rng);
        let mut pick = if rng.chance(250) {
            let count = if rng.chance(900) { rng.range(1, 5) } else { rng.range(0, 22) } as u32;
            Pick::Best(BestAvailable {
                count,
                section: rng.chance(200).then(|| rng.below(3) as u16),
                tier: rng.chance(200).then(|| rng.below(3) as u16),
                accessible: rng.chance(150),
            })
        } else {
            let count = if rng.chance(990) { rng.range(1, 4) } else { rng.range(18, 22) };
            let mut seats: Vec<u32> = (0..count).map(|_| self.seat(rng, event)).collect();
            if rng.chance(980) {
                seats.sort_unstable();
                seats.dedup();
            }
            Pick::Seats(seats)
        };
        let mut areas = if rng.chance(120) { self.areas(rng, event) } else { Vec::new() };
        // Once more exactly what the buyer holds: the double click.
        let mine: Vec<_> = event.holds.values().filter(|hold| hold.buyer == buyer).collect();
        if rng.chance(80)
            && let Some(hold) = rng.pick(&mine)
        {
            pick = Pick::Seats(hold.seats.iter().rev().map(|line| line.seat).collect());
            areas = hold.areas.iter().map(|line| AreaCount { area: line.area, count: line.count }).collect();
        }
        let hold =
            HoldId(if rng.chance(985) { self.fresh() } else { self.next_id.saturating_sub(rng.below(8)) });
        let hold_ms = match rng.below(20) {
            0 => Some(rng.range(30_000, 900_000)),
            1 => Some(*rng.pick(&[29_999, 30_000, 900_000, 900_001]).unwrap_or(&0)),
            _ => None,
        };
        Command::Event(EventCommand::PlaceHold(PlaceHold { hold, buyer, pick, areas, hold_ms }))
    }

    /// Mostly a key that opens; sometimes one of the past, a guessed fence, or another buyer's name on it.
    fn key(&mut self, rng: &mut Rng, listing: &Listing, event: &Event) -> HoldKey {
        let holds: Vec<_> = event.holds.values().collect();
        let living = rng.pick(&holds).map(|hold| HoldKey {
            hold: hold.id,
            fence: hold.fence,
            buyer: hold.buyer.clone(),
        });
        if let Some(key) = &living {
            if self.old_keys.len() == 64 {
                self.old_keys.remove(rng.below(64) as usize);
            }
            self.old_keys.push((listing.id, key.clone()));
        }
        let of_here: Vec<_> = self.old_keys.iter().filter(|(id, _)| *id == listing.id).collect();
        let old = rng.pick(&of_here).map(|(_, key)| key.clone());
        let unknown = || HoldKey { hold: HoldId(7), fence: 7, buyer: self.buyers[0].clone() };
        let mut key = match rng.below(100) {
            0..80 => living.or(old).unwrap_or_else(unknown),
            80..97 => old.unwrap_or_else(unknown),
            _ => unknown(),
        };
        match rng.below(100) {
            0..3 => key.fence += 1,
            3..7 => key.buyer = self.buyer(rng),
            _ => {}
        }
        key
    }

    fn drop_seats(&mut self, rng: &mut Rng, listing: &Listing, event: &Event) -> Command {
        let key = self.key(rng, listing, event);
        let (mut seats, mut areas) = (Vec::new(), Vec::new());
        if let Some(hold) = event.holds.get(&key.hold) {
            seats.extend(hold.seats.iter().map(|line| line.seat).filter(|_| rng.chance(400)));
            let held = hold.areas.iter().filter(|line| line.count > 1);
            areas.extend(held.map(|line| AreaCount { area: line.area, count: 1 }));
        }
        if rng.chance(60) {
            seats.push(self.seat(rng, event));
        }
        Command::Event(EventCommand::DropSeats(DropSeats { key, seats, areas }))
    }

    fn some_order(&self, rng: &mut Rng, event: &Event) -> u64 {
        let orders: Vec<_> = event.orders.keys().collect();
        rng.pick(&orders).map_or(9, |order| order.0)
    }

    fn refund(&mut self, rng: &mut Rng, event: &Event) -> Command {
        let order = OrderId(if rng.chance(950) { self.some_order(rng, event) } else { 9 });
        let (mut seats, mut areas) = (Vec::new(), Vec::new());
        if let Some(order) = event.orders.get(&order).filter(|_| rng.chance(400)) {
            seats.extend(order.seats.iter().map(|line| line.seat).filter(|_| rng.chance(500)));
            areas.extend(order.areas.iter().map(|line| AreaCount { area: line.area, count: 1 }));
            if rng.chance(100) {
                seats.push(self.seat(rng, event));
            }
        }
        Command::Event(EventCommand::RefundOrder(RefundOrder {
            order,
            seats,
            areas,
            reason: "asked for".into(),
        }))
    }

    /// Many at once: everybody for one seat, one for every seat, or a rush on all that is free.
    fn burst(&mut self, rng: &mut Rng, listing: ListingId, event: &Event) -> Vec<Request> {
        let held: Vec<u32> =
            event.chart.seats.keys().copied().filter(|s| event.holder(*s).is_some()).collect();
        let mut joins = Vec::new();
        let commands: Vec<Command> = match rng.below(4) {
            0 => {
                let Some(seat) = rng.pick(&held).copied() else { return Vec::new() };
                let all = self.buyers.clone();
                let join = |buyer| {
                    Command::Event(EventCommand::JoinQueue(JoinQueue {
                        place: HoldId(self.fresh()),
                        seat,
                        buyer,
                    }))
                };
                all.into_iter().map(join).collect()
            }
            1 => {
                let buyer = self.buyer(rng);
                let join = |seat| {
                    let (place, buyer) = (HoldId(self.fresh()), buyer.clone());
                    Command::Event(EventCommand::JoinQueue(JoinQueue { place, seat, buyer }))
                };
                held.into_iter().map(join).collect()
            }
            _ => {
                let free = event.statuses();
                let free = (0..free.len() as u32).filter(|seat| free[*seat as usize] == Status::Available);
                let mut commands: Vec<Command> = Vec::new();
                for seat in free {
                    let hold = HoldId(self.fresh());
                    let buyer = self.buyers[rng.below(self.buyers.len() as u64) as usize].clone();
                    let pick = Pick::Seats(vec![seat]);
                    let areas = Vec::new();
                    commands.push(Command::Event(EventCommand::PlaceHold(PlaceHold {
                        hold,
                        buyer,
                        pick,
                        areas,
                        hold_ms: None,
                    })));
                }
                // And one who waits for every single seat of the house.
                let buyer = self.buyer(rng);
                for seat in event.chart.seats.keys().copied().filter(|_| commands.len() > 12) {
                    let (place, buyer) = (HoldId(self.fresh()), buyer.clone());
                    joins.push(Command::Event(EventCommand::JoinQueue(JoinQueue { place, seat, buyer })));
                }
                commands.extend(joins);
                commands
            }
        };
        commands.into_iter().map(|command| Request { listing, command, key: None, by: None }).collect()
    }

    /// A question about a buyer's things.
    pub fn question(&mut self, rng: &mut Rng, auditor: &Auditor) -> Option<(ListingId, Query)> {
        let ids: Vec<&ListingId> = auditor.listings.keys().collect();
        let listing = auditor.listings.get(*rng.pick(&ids)?)?;
        if let Some(other) = listing.other() {
            return Some((listing.id, self.question_of_other(rng, other)));
        }
        let Some(event) = listing.event() else {
            return Some((listing.id, Query::Event(EventQuery::Hold(HoldId(1)))));
        };
        let query = match rng.below(4) {
            0 => Query::Event(EventQuery::Hold(self.key(rng, listing, event).hold)),
            1 => Query::Event(EventQuery::HoldsOf(self.buyer(rng))),
            2 => match rng.pick(&event.places) {
                Some(place) => {
                    Query::Event(EventQuery::Place { seat: place.seat, buyer: place.buyer.clone() })
                }
                None => {
                    Query::Event(EventQuery::Place { seat: self.seat(rng, event), buyer: self.buyer(rng) })
                }
            },
            _ => Query::Event(EventQuery::Order(OrderId(self.some_order(rng, event)))),
        };
        Some((listing.id, query))
    }

    /// Whether this run has orders.
    pub fn is_paying(&self) -> bool {
        self.paying > 0 || self.keeping > 0
    }

    /// Whether its orders are for awards and places.
    pub fn is_keeping(&self) -> bool {
        self.keeping > 0
    }

    /// Whether this run has auctions.
    pub fn is_bidding(&self) -> bool {
        self.bidding > 0
    }

    pub fn some_buyer(&self, rng: &mut Rng) -> BuyerId {
        self.buyer(rng)
    }
}
