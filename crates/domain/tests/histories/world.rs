//! A small world for random histories: six bytes become one command about few seats and fewer buyers,
//! so that everything collides with everything.

use onsale_domain::Query;
use onsale_domain::event::{EventDetails, EventStatus, SaleRules, Tier};
use onsale_domain::layout::{Area, Layout, Row, Seat, Section};
use onsale_domain::listing::{BodyView, fence};
use onsale_domain::money::Currency;
use onsale_domain::seats::command::{
    AdoptChart, BestAvailable, BlockSeats, ChangeEvent, ConfirmHold, CreateEvent, DropSeats, ExtendHold,
    GrowHold, HoldKey, JoinQueue, LeaveQueue, OverrideHold, Pick, PlaceHold, RefundOrder, UnblockSeats,
};
use onsale_domain::seats::fact::AreaCount;
use onsale_domain::seats::{EventCommand, EventFact, EventQuery};
use onsale_domain::{
    BuyerId, Command, Fact, HoldId, Listing, ListingId, ListingKind, Millis, OrderId, Tenant,
};

pub(crate) const EVENT: ListingId =
    ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Event, number: 5 };

const BUYERS: [&str; 4] = ["ann", "bob", "cem", "dan"];
const SEATS: u32 = 8;

/// One step: verb, three arguments, and how far the clock moves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask(pub [u8; 6]);

pub(crate) struct World {
    pub now: Millis,
    attempts: u64,
    /// Holds and places ever granted, with the latest fence known.
    holds: Vec<(HoldId, u64, BuyerId)>,
    orders: Vec<OrderId>,
    /// Who joined which queue, so that heartbeats find their place.
    places: Vec<(u32, BuyerId)>,
}

impl Default for World {
    fn default() -> Self {
        World { now: 1_000_000, attempts: 0, holds: Vec::new(), orders: Vec::new(), places: Vec::new() }
    }
}

fn buyer(number: u8) -> BuyerId {
    BuyerId::parse(BUYERS[usize::from(number) % BUYERS.len()]).expect("a short name")
}

/// The seats of a chart by its variant: the last of them come and go.
fn layout(variant: u8) -> Layout {
    let seat = |n: u32| Seat {
        id: format!("S{n}"),
        label: format!("{n}/{variant}"),
        tier: u16::from(variant % 3 == 1 && n == 2),
        accessible: n == 3,
        companion: n == 7,
        ..Seat::default()
    };
    let row = |from: u32, to: u32| Row { label: "r".into(), seats: (from..to).map(seat).collect() };
    let last = SEATS - u32::from(variant % 4);
    let rows = vec![row(0, 4), row(4, last)];
    let capacity = 3 + u32::from(variant % 5);
    let area = Area { id: "floor".into(), section: "floor".into(), tier: 1, capacity, ..Area::default() };
    Layout { sections: vec![Section { name: "stalls".into(), rows }], areas: vec![area] }
}

pub(crate) fn create() -> Command {
    let details = EventDetails {
        name: "small".into(),
        description: String::new(),
        venue: None,
        starts_at: 9_000_000,
        ends_at: 10_000_000,
        sale_opens_at: Some(1_030_000),
        sale_closes_at: None,
        time_zone: "UTC".into(),
        currency: Currency::parse("EUR").expect("three letters"),
        tiers: [700, 300].map(|price_minor| Tier { name: "t".into(), price_minor }).to_vec(),
        rules: SaleRules { hold_ms: 40_000, buyer_limit: 4, ..SaleRules::default() },
    };
    let chart = AdoptChart { venue: None, version: 1, layout: layout(0).into() };
    Command::Event(EventCommand::CreateEvent(Box::new(CreateEvent {
        details,
        status: EventStatus::Scheduled,
        chart,
    })))
}

/// Commands by which staff may bring a buyer above the limit.
pub(crate) fn is_staff_excess(command: &Command) -> bool {
    matches!(
        command,
        Command::Event(EventCommand::OverrideHold(_)) | Command::Event(EventCommand::ChangeEvent(_))
    )
}

impl World {
    fn fresh(&mut self) -> u64 {
        self.attempts += 1;
        self.attempts
    }

    /// A hold that was granted once, mostly a recent one; now and then a wrong fence.
    fn key(&self, choice: u8, twist: u8) -> HoldKey {
        let back = usize::from(choice) % self.holds.len().clamp(1, 6);
        match self.holds.iter().rev().nth(back) {
            None => HoldKey { hold: HoldId(9_999), fence: 1, buyer: buyer(choice) },
            Some((hold, fence, buyer)) => HoldKey {
                hold: *hold,
                fence: fence + u64::from(twist.is_multiple_of(16)),
                buyer: buyer.clone(),
            },
        }
    }

    pub(crate) fn command(&mut self, ask: &Ask, listing: &Listing) -> Command {
        let Ask([verb, a, b, c, d, wait]) = *ask;
        // Mostly seconds, sometimes far enough for everything to be over, once in a while backwards.
        self.now += match wait {
            0..=99 => 0,
            100..=239 => Millis::from(wait - 99) * 100,
            240..=246 => 45_000,
            247..=251 => 155_000,
            252..=253 => 310_000,
            254 => 3_700_000,
            255 => -5_000,
        };
        let seat = |n: u8| u32::from(n) % (SEATS + 1);
        let (first, second) = (seat(a), seat(b));
        let seats = if c % 3 == 0 { vec![first, second] } else { vec![first] };
        let places = |n: u8| match n % 4 {
            0 => vec![AreaCount { area: 0, count: 1 + u32::from(n / 4 % 3) }],
            _ => Vec::new(),
        };
        match verb % 25 {
            0..=5 => Command::Event(EventCommand::PlaceHold(PlaceHold {
                hold: HoldId(if d == 77 { u64::from(a) } else { self.fresh() }),
                buyer: buyer(d),
                pick: match c % 8 {
                    7 => Pick::Best(BestAvailable {
                        count: 1 + u32::from(a % 3),
                        section: None,
                        tier: (b % 5 == 0).then_some(0),
                        accessible: b % 7 == 0,
                    }),
                    6 => Pick::Seats(Vec::new()),
                    _ => Pick::Seats(seats),
                },
                areas: places(b),
                hold_ms: (a % 3 == 0).then_some(30_000 + Millis::from(b) * 3_000),
            })),
            6 | 7 => Command::Event(EventCommand::JoinQueue(JoinQueue {
                place: HoldId(self.fresh()),
                seat: first,
                buyer: buyer(d),
            })),
            8 => Command::Event(EventCommand::JoinQueue(JoinQueue {
                place: HoldId(self.fresh()),
                // The seat of a hold that lives, if there is one: queues are only there.
                seat: held_seat(listing, a).unwrap_or(first),
                buyer: buyer(d),
            })),
            9 => {
                let known = self.places.iter().rev().nth(usize::from(a % 3)).cloned();
                let (seat, buyer) = known.unwrap_or((first, buyer(d)));
                match b % 4 {
                    0 => Command::Event(EventCommand::LeaveQueue(LeaveQueue { seat, buyer })),
                    _ => Command::Event(EventCommand::JoinQueue(JoinQueue {
                        place: HoldId(self.fresh()),
                        seat,
                        buyer,
                    })),
                }
            }
            10 | 11 => Command::Event(EventCommand::ReleaseHold(self.key(a, c))),
            12 => {
                let extension_ms = (b % 2 == 0).then_some(1_000 + Millis::from(b) * 1_000);
                Command::Event(EventCommand::ExtendHold(ExtendHold { key: self.key(a, c), extension_ms }))
            }
            13 => Command::Event(EventCommand::DropSeats(DropSeats {
                key: self.key(a, c),
                seats: vec![second],
                areas: places(d),
            })),
            24 => Command::Event(EventCommand::GrowHold(GrowHold {
                key: self.key(a, c),
                seats: if d % 3 == 0 { vec![first, second] } else { vec![second] },
                areas: places(d),
            })),
            14 | 15 => {
                let order = OrderId(self.fresh());
                let (key, settled) = (self.key(a, c), b % 8 > 0);
                Command::Event(EventCommand::ConfirmHold(ConfirmHold { key, order, settled }))
            }
            16 => Command::Event(EventCommand::OverrideHold(OverrideHold {
                hold: self.key(a, 1).hold,
                reason: "because".into(),
                to: (b % 2 == 0).then(|| (buyer(d), None)),
            })),
            17 => Command::Event(EventCommand::RefundOrder(RefundOrder {
                order: self.orders.iter().rev().nth(usize::from(a % 4)).copied().unwrap_or(OrderId(1)),
                seats: if c % 2 == 0 { vec![second] } else { Vec::new() },
                areas: Vec::new(),
                reason: "rain".into(),
            })),
            18 => Command::Event(EventCommand::BlockSeats(BlockSeats {
                seats,
                areas: places(d),
                reason: "camera".into(),
            })),
            19 => Command::Event(EventCommand::UnblockSeats(UnblockSeats { seats, areas: places(d) })),
            20 => Command::Event(EventCommand::AdoptChart(Box::new(AdoptChart {
                venue: None,
                version: 2,
                layout: layout(a).into(),
            }))),
            21 => Command::Event(EventCommand::ChangeStatus(match a % 16 {
                0..=6 => EventStatus::OnSale,
                7 | 8 => EventStatus::Closed,
                9 | 10 => EventStatus::Postponed,
                11 | 12 => EventStatus::Scheduled,
                13 => EventStatus::Cancelled,
                14 => EventStatus::Completed,
                _ => EventStatus::Draft,
            })),
            22 => Command::Event(EventCommand::ChangeEvent(Box::new(ChangeEvent {
                buyer_limit: Some(1 + u32::from(a % 5)),
                refuse_single_seats: Some(b % 4 == 0),
                extensions_max: Some(c % 4),
                ..ChangeEvent::default()
            }))),
            _ => Command::ExpireDue { limit: u32::from(a % 8) },
        }
    }

    pub(crate) fn learn(&mut self, facts: &[Fact], last: u64, epoch: u64) {
        let first = last - facts.len() as u64;
        for (n, fact) in facts.iter().enumerate() {
            let fence = fence(epoch, first + n as u64 + 1);
            if let Fact::Event(EventFact::HoldPlaced { hold, buyer, .. })
            | Fact::Event(EventFact::QueueJoined { place: hold, buyer, .. }) = fact
            {
                self.holds.push((*hold, fence, buyer.clone()));
            }
            if let Fact::Event(EventFact::QueueJoined { seat, buyer, .. }) = fact {
                self.places.push((*seat, buyer.clone()));
            }
            if let Fact::Event(fact) = fact
                && let Some(hold) = fact.raises_fence_of()
                && let Some(known) = self.holds.iter_mut().rev().find(|(known, ..)| *known == hold)
            {
                known.1 = fence;
            }
            if let Fact::Event(EventFact::HoldConfirmed { order, .. }) = fact {
                self.orders.push(*order);
            }
        }
    }
}

fn held_seat(listing: &Listing, choice: u8) -> Option<u32> {
    let seats = listing.event()?;
    let held = (0..SEATS).filter(|seat| {
        (*seat as usize) < seats.chart().seats_len()
            && seats.seat_status(*seat) == onsale_domain::seats::Status::Held
    });
    let held: Vec<u32> = held.collect();
    held.get(usize::from(choice) % held.len().max(1)).copied()
}

/// All that a reader can see or ask.
pub(crate) fn picture(listing: &Listing, world: &World) -> String {
    let mut lines = vec![format!("{} at {}", listing.offset, listing.last_at)];
    if let Some(BodyView::Event(view)) = listing.view() {
        lines.push(format!("{:?} {:?}", view.status, view.details));
        lines.push(format!("{:?} {:?} {:?}", view.bits, view.cells, view.areas));
        for (index, seat) in view.chart.all_seats() {
            lines.push(format!("{} {} {seat:?}", view.chart.seat_id(index), view.chart.label(index)));
        }
    }
    let holds = world.holds.iter().map(|(hold, ..)| Query::Event(EventQuery::Hold(*hold)));
    let orders = world.orders.iter().map(|order| Query::Event(EventQuery::Order(*order)));
    let buyers = (0..BUYERS.len() as u8).map(|n| Query::Event(EventQuery::HoldsOf(buyer(n))));
    let places = (0..SEATS).flat_map(|seat| {
        (0..BUYERS.len() as u8).map(move |n| Query::Event(EventQuery::Place { seat, buyer: buyer(n) }))
    });
    for query in holds.chain(orders).chain(buyers).chain(places) {
        lines.push(format!("{query:?}: {:?}", listing.ask(&query, world.now)));
    }
    lines.push(format!("next {:?}", listing.next_due()));
    lines.join("\n")
}
