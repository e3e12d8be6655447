//! The next command of a history: mostly one that may work, often one that must not.

use onsale_domain::event::EventStatus;
use onsale_domain::layout::Layout;
use onsale_domain::listing::Key;
use onsale_domain::seats::command::{
    AdoptChart, BestAvailable, BlockSeats, ChangeEvent, ConfirmHold, DropSeats, ExtendHold, HoldKey,
    JoinQueue, LeaveQueue, OverrideHold, Pick, PlaceHold, RefundOrder, UnblockSeats,
};
use onsale_domain::seats::fact::AreaCount;
use onsale_domain::seats::{EventCommand, EventFound, EventQuery};
use onsale_domain::seats::{Seats, Status};
use onsale_domain::venue::VenueCommand;
use onsale_domain::venue::command::CreateVenue;
use onsale_domain::{BuyerId, Command, HoldId, Listing, ListingId, Millis, OrderId};
use onsale_domain::{Found, Query};

use super::world::{Theme, World};
use crate::differential::histories::{Ask, asked_before};

impl World {
    /// Moves the clock: mostly by moments, sometimes far enough for everything to be over, now and then backwards.
    pub(crate) fn pass_time(&mut self) {
        let long = if self.theme == Theme::Crowd { 4 } else { 1 };
        self.now += match self.chance.below(400 * long) {
            0..=59 => 20 * self.chance.below(100) as Millis,
            60..=69 => 16_000,
            70..=74 => 45_000,
            75..=77 => 155_000,
            78 => 310_000,
            79 if self.chance.one_in(4) => 3_700_000,
            80 => -5_000,
            81 if self.chance.one_in(40) => 90_000_000,
            _ => 0,
        };
    }

    pub(crate) fn ask(&mut self, event: &Listing) -> Ask {
        // The same question again, under the same key or a changed one.
        if self.chance.one_in(9)
            && let Some((key, listing, mut command)) = asked_before(&self.asked, &mut self.chance)
        {
            let twisted = self.chance.one_in(2);
            if let Command::Event(EventCommand::PlaceHold(hold)) = &mut command
                && twisted
            {
                // Another wish under the same key is mostly another hold.
                hold.hold = HoldId(self.fresh());
            }
            let fingerprint = key.fingerprint ^ u128::from(twisted);
            return Ask { listing, command, key: Some(Key { fingerprint, ..key }) };
        }
        let listing = self.listing();
        let command = match listing == self.event {
            true if !event.exists() && !self.chance.one_in(3) => {
                let mut create = self.create();
                if self.chance.one_in(3) {
                    create.details.name.clear();
                }
                Command::Event(EventCommand::CreateEvent(Box::new(create)))
            }
            _ => self.command(event, listing),
        };
        let key = (!matches!(command, Command::ExpireDue { .. }) && self.chance.one_in(3))
            .then(|| Key { scope: self.fresh(), fingerprint: u128::from(self.chance.next()) << 1 });
        Ask { listing, command, key }
    }

    fn listing(&mut self) -> ListingId {
        let elsewhere = if self.theme == Theme::Elsewhere { 2 } else { 60 };
        match self.chance.one_in(elsewhere) {
            false => self.event,
            true if self.chance.one_in(2) => self.venue,
            true => self.nowhere,
        }
    }

    fn command(&mut self, event: &Listing, listing: ListingId) -> Command {
        if listing != self.event && self.chance.one_in(2) {
            return self.of_venue();
        }
        if listing != self.event {
            return self.any_verb(event);
        }
        if let Some(command) = self.reopen(event) {
            return command;
        }
        if self.theme == Theme::Crowd && !self.chance.one_in(12) {
            return self.crowd(event);
        }
        if self.theme == Theme::Waiter && !self.chance.one_in(12) {
            return self.waiter(event);
        }
        match self.chance.below(100) {
            0..=29 | 84..=86 => self.place_hold(event),
            30..=38 => self.join_queue(event),
            39..=41 => {
                let known = self.chance.recent(&self.places, 4).cloned();
                let (seat, buyer) = match known {
                    Some(known) if !self.chance.one_in(3) => known,
                    _ => (self.seat(), self.buyer()),
                };
                Command::Event(EventCommand::LeaveQueue(LeaveQueue { seat, buyer }))
            }
            42..=48 => Command::Event(EventCommand::ReleaseHold(self.key(event))),
            49..=55 => {
                let extension_ms = match self.chance.below(8) {
                    0 => Some(500),
                    1..=3 => Some(1_000 + self.chance.below(300) as Millis * 1_000),
                    _ => None,
                };
                Command::Event(EventCommand::ExtendHold(ExtendHold { key: self.key(event), extension_ms }))
            }
            56..=61 => self.drop_seats(event),
            62..=69 => {
                let order = match self.chance.recent(&self.orders, 9).map(|(order, _)| *order) {
                    Some(order) if self.chance.one_in(6) => order,
                    _ => OrderId(self.fresh()),
                };
                Command::Event(EventCommand::ConfirmHold(ConfirmHold { key: self.key(event), order }))
            }
            70..=73 => self.override_hold(event),
            74..=77 => self.refund(event),
            78..=80 => {
                let (seats, areas) = (self.some_seats(4), self.places_wanted(4));
                let reason = if self.chance.one_in(12) { "a\nb" } else { "camera {1}|2" };
                Command::Event(EventCommand::BlockSeats(BlockSeats { seats, areas, reason: reason.into() }))
            }
            81..=83 => {
                let (seats, areas) = (self.some_seats(4), self.places_wanted(5));
                Command::Event(EventCommand::UnblockSeats(UnblockSeats { seats, areas }))
            }
            87..=88 => {
                let layout = if self.chance.one_in(8) { Layout::default() } else { self.layout() };
                Command::Event(EventCommand::AdoptChart(Box::new(AdoptChart {
                    venue: None,
                    version: 2,
                    layout: layout.into(),
                })))
            }
            89..=91 => self.change_status(event),
            92..=93 => self.change_event(),
            94 if self.theme == Theme::Cancelled => self.override_hold(event),
            94 => match self.chance.below(3) {
                0 => Command::Event(EventCommand::CreateEvent(Box::new(self.create()))),
                _ => self.of_venue(),
            },
            _ => Command::ExpireDue { limit: self.chance.below(70) as u32 },
        }
    }

    /// A sale that is not open is opened again before long, its window moved if need be.
    fn reopen(&mut self, event: &Listing) -> Option<Command> {
        let status = event.event()?.status();
        let waits = matches!(status, EventStatus::Closed | EventStatus::Draft | EventStatus::Postponed);
        if !waits || !self.chance.one_in(6) {
            return None;
        }
        Some(match self.chance.one_in(2) {
            true => Command::Event(EventCommand::ChangeStatus(EventStatus::OnSale)),
            false => Command::Event(EventCommand::ChangeEvent(Box::new(ChangeEvent {
                sale_closes_at: Some(None),
                ends_at: Some(self.now + 90_000_000),
                ..ChangeEvent::default()
            }))),
        })
    }

    /// Every verb alike: where nothing is on sale, only the verb matters.
    fn any_verb(&mut self, event: &Listing) -> Command {
        match self.chance.below(16) {
            0 => self.change_event(),
            1 => self.change_status(event),
            2 => {
                let layout = self.layout().into();
                Command::Event(EventCommand::AdoptChart(Box::new(AdoptChart {
                    venue: None,
                    version: 2,
                    layout,
                })))
            }
            3 => self.place_hold(event),
            4 => Command::Event(EventCommand::ExtendHold(ExtendHold {
                key: self.key(event),
                extension_ms: None,
            })),
            5 => self.drop_seats(event),
            6 => Command::Event(EventCommand::ReleaseHold(self.key(event))),
            7 => Command::Event(EventCommand::ConfirmHold(ConfirmHold {
                key: self.key(event),
                order: OrderId(self.fresh()),
            })),
            8 => self.override_hold(event),
            9 => self.refund(event),
            10 => {
                let (seats, reason) = (vec![self.seat()], "camera".to_owned());
                Command::Event(EventCommand::BlockSeats(BlockSeats { seats, areas: Vec::new(), reason }))
            }
            11 => Command::Event(EventCommand::UnblockSeats(UnblockSeats {
                seats: vec![self.seat()],
                areas: Vec::new(),
            })),
            12 => self.join_queue(event),
            13 => Command::Event(EventCommand::LeaveQueue(LeaveQueue {
                seat: self.seat(),
                buyer: self.buyer(),
            })),
            14 => Command::ExpireDue { limit: 5 },
            _ => self.of_venue(),
        }
    }

    fn of_venue(&mut self) -> Command {
        let layout = if self.chance.one_in(4) { Layout::default() } else { self.layout() };
        match self.chance.below(5) {
            0 => {
                let mut create = self.create();
                if self.chance.one_in(4) {
                    create.details.name.clear();
                }
                Command::Event(EventCommand::CreateEvent(Box::new(create)))
            }
            1 | 2 => {
                let (name, place) = ("Halle {|}".to_owned(), "Main\tSt".replace('\t', " "));
                Command::Venue(VenueCommand::CreateVenue(Box::new(CreateVenue {
                    name,
                    place,
                    layout: layout.into(),
                })))
            }
            _ => Command::Venue(VenueCommand::PublishLayout(layout.into())),
        }
    }

    /// Everybody wants the seat that one of them holds.
    fn crowd(&mut self, event: &Listing) -> Command {
        if let Some(seat) = held_seats(event).first().copied() {
            let (place, buyer) = (HoldId(self.fresh()), self.buyer());
            return Command::Event(EventCommand::JoinQueue(JoinQueue { place, seat, buyer }));
        }
        self.hold_of(vec![0], 900_000)
    }

    /// One wants every seat that others hold.
    fn waiter(&mut self, event: &Listing) -> Command {
        let held = held_seats(event);
        if held.len() >= 22
            && let Some(seat) = self.chance.pick(&held).copied()
        {
            let buyer = BuyerId::parse("ann").expect("a short name");
            return Command::Event(EventCommand::JoinQueue(JoinQueue {
                place: HoldId(self.fresh()),
                seat,
                buyer,
            }));
        }
        let seat = self.chance.below(u64::from(self.seats)) as u32;
        let mut command = self.hold_of(vec![seat], 900_000);
        if let Command::Event(EventCommand::PlaceHold(hold)) = &mut command {
            hold.buyer = BuyerId::parse("b{o}b").expect("a short name");
        }
        command
    }

    fn hold_of(&mut self, seats: Vec<u32>, hold_ms: Millis) -> Command {
        let (hold, buyer) = (HoldId(self.fresh()), self.buyer());
        let (pick, areas, hold_ms) = (Pick::Seats(seats), Vec::new(), Some(hold_ms));
        Command::Event(EventCommand::PlaceHold(PlaceHold { hold, buyer, pick, areas, hold_ms }))
    }

    /// Any seat, now and then one that never was.
    fn seat(&mut self) -> u32 {
        if self.chance.one_in(50) {
            return self.chance.pick(&[u32::MAX, 100_000, 400]).copied().unwrap_or_default();
        }
        self.chance.below(u64::from(self.seats)) as u32
    }

    fn some_seats(&mut self, most: u64) -> Vec<u32> {
        let least = u64::from(!self.chance.one_in(12));
        (0..least + self.chance.below(most - 1)).map(|_| self.seat()).collect()
    }

    fn places_wanted(&mut self, times: u64) -> Vec<AreaCount> {
        if !self.chance.one_in(times) {
            return Vec::new();
        }
        let area = if self.chance.one_in(8) { 7 } else { self.chance.below(2) as u16 };
        let mut places = vec![AreaCount { area, count: 1 + self.chance.below(3) as u32 }];
        if self.chance.one_in(4) {
            let count = self.chance.below(3) as u32;
            places.push(AreaCount { area: self.chance.below(2) as u16, count });
        }
        places
    }

    fn place_hold(&mut self, event: &Listing) -> Command {
        let hold = match self.chance.recent(&self.holds, 9).map(|(hold, ..)| *hold) {
            Some(hold) if self.chance.one_in(25) => hold,
            _ => HoldId(self.fresh()),
        };
        let mut buyer = self.buyer();
        let pick = match self.chance.below(16) {
            0..=2 => Pick::Best(BestAvailable {
                count: if self.chance.one_in(20) { 21 } else { 1 + self.chance.below(5) as u32 },
                section: self.chance.one_in(4).then(|| self.chance.below(2) as u16),
                tier: self.chance.one_in(5).then_some(0),
                accessible: self.chance.one_in(6),
            }),
            3 if self.chance.one_in(3) => Pick::Seats(Vec::new()),
            4 if !self.holds.is_empty() => {
                // Exactly, or nearly, what somebody holds.
                let known = self.chance.recent(&self.holds, 6).cloned();
                let (hold, _, owner) = known.expect("some hold");
                buyer = owner;
                let mut seats = seats_of(event, hold, self.now);
                if self.chance.one_in(4) {
                    seats.push(self.seat());
                }
                Pick::Seats(seats)
            }
            5..=13 => Pick::Seats(self.free_run(event)),
            _ => Pick::Seats(self.some_seats(4)),
        };
        let areas = self.places_wanted(4);
        let hold_ms = match self.chance.below(6) {
            0 => Some(30_000 + self.chance.below(870) as Millis * 1_000),
            1 if self.chance.one_in(6) => Some(1),
            _ => None,
        };
        Command::Event(EventCommand::PlaceHold(PlaceHold { hold, buyer, pick, areas, hold_ms }))
    }

    /// Neighbours that are free.
    fn free_run(&mut self, event: &Listing) -> Vec<u32> {
        let Some(seats) = event.event() else { return vec![0] };
        let free: Vec<u32> =
            living(seats).filter(|seat| seats.seat_status(*seat) == Status::Available).collect();
        if free.is_empty() {
            return vec![self.seat()];
        }
        let from = self.chance.below(free.len() as u64) as usize;
        let count = 1 + self.chance.below(3) as usize;
        free.into_iter().skip(from).take(count).collect()
    }

    fn join_queue(&mut self, event: &Listing) -> Command {
        let place = match self.chance.recent(&self.holds, 9).map(|(hold, ..)| *hold) {
            Some(hold) if self.chance.one_in(12) => hold,
            _ => HoldId(self.fresh()),
        };
        if self.chance.one_in(4)
            && let Some((seat, buyer)) = self.chance.recent(&self.places, 4).cloned()
        {
            return Command::Event(EventCommand::JoinQueue(JoinQueue { place, seat, buyer }));
        }
        let held = held_seats(event);
        let seat = match self.chance.pick(&held).copied() {
            Some(seat) if !self.chance.one_in(4) => seat,
            _ => self.seat(),
        };
        Command::Event(EventCommand::JoinQueue(JoinQueue { place, seat, buyer: self.buyer() }))
    }

    /// A hold that was granted once, mostly one that lives; now and then with a wrong fence or none at all.
    fn key(&mut self, event: &Listing) -> HoldKey {
        let living: Vec<(HoldId, u64, BuyerId)> = match self.chance.one_in(6) {
            true => Vec::new(),
            false => {
                let lives = |hold: &HoldId| {
                    matches!(
                        event.ask(&Query::Event(EventQuery::Hold(*hold)), self.now),
                        Found::Event(EventFound::Hold(_))
                    )
                };
                self.holds.iter().rev().take(24).filter(|(hold, ..)| lives(hold)).cloned().collect()
            }
        };
        let known = self.chance.pick(&living).cloned();
        match known.or_else(|| self.chance.recent(&self.holds, 30).cloned()) {
            Some((hold, fence, buyer)) if !self.chance.one_in(40) => {
                HoldKey { hold, fence: fence + u64::from(self.chance.one_in(16)), buyer }
            }
            _ => HoldKey { hold: HoldId(self.fresh()), fence: 1, buyer: self.buyer() },
        }
    }

    fn drop_seats(&mut self, event: &Listing) -> Command {
        let key = self.key(event);
        let mut seats = seats_of(event, key.hold, self.now);
        let keep = usize::from(!self.chance.one_in(4));
        seats.truncate(seats.len().saturating_sub(keep).min(2));
        if self.chance.one_in(8) {
            seats.push(self.seat());
        }
        let mut areas = self.places_wanted(5);
        if seats.is_empty() && areas.is_empty() && !self.chance.one_in(8) {
            areas = vec![AreaCount { area: self.chance.below(2) as u16, count: 1 }];
        }
        Command::Event(EventCommand::DropSeats(DropSeats { key, seats, areas }))
    }

    fn override_hold(&mut self, event: &Listing) -> Command {
        let hold_ms = self.chance.one_in(3).then(|| 1_000 * self.chance.below(400) as Millis);
        let reason = if self.chance.one_in(20) { "" } else { "wheel|chair" };
        let to = self.chance.one_in(2).then(|| (self.buyer(), hold_ms));
        let (hold, staff) = (self.key(event).hold, "eve {x}".to_owned());
        Command::Event(EventCommand::OverrideHold(OverrideHold { hold, staff, reason: reason.into(), to }))
    }

    fn refund(&mut self, event: &Listing) -> Command {
        let open = |order: &OrderId| {
            let Found::Event(EventFound::Order(left)) =
                event.ask(&Query::Event(EventQuery::Order(*order)), self.now)
            else {
                return false;
            };
            !left.seats.is_empty() || !left.areas.is_empty()
        };
        let open: Vec<OrderId> =
            self.orders.iter().rev().take(20).map(|(order, _)| *order).filter(open).collect();
        let known = match self.chance.one_in(5) {
            true => self.chance.recent(&self.orders, 8).map(|(order, _)| *order),
            false => self.chance.pick(&open).copied(),
        };
        let order = match known {
            Some(order) if !self.chance.one_in(12) => order,
            _ => OrderId(self.fresh()),
        };
        let (mut seats, mut areas) = (Vec::new(), Vec::new());
        if self.chance.one_in(2)
            && let Found::Event(EventFound::Order(left)) =
                event.ask(&Query::Event(EventQuery::Order(order)), self.now)
        {
            seats = left.seats.iter().take(1).map(|line| line.seat).collect();
            areas = left.areas.iter().map(|line| AreaCount { area: line.area, count: 1 }).collect();
        }
        if self.chance.one_in(6) {
            seats.push(self.seat());
        }
        let reason = if self.chance.one_in(20) { "" } else { "rain" };
        Command::Event(EventCommand::RefundOrder(RefundOrder { order, seats, areas, reason: reason.into() }))
    }

    fn change_status(&mut self, event: &Listing) -> Command {
        use EventStatus::{Cancelled, Closed, Completed, Draft, OnSale, Postponed, Scheduled};
        let on_sale = event.event().is_some_and(|seats| seats.status() == OnSale);
        let cancelled = self.theme == Theme::Cancelled;
        Command::Event(EventCommand::ChangeStatus(match self.chance.below(24) {
            0 | 1 => Closed,
            2 => Postponed,
            3 => Scheduled,
            4 => Draft,
            5 if self.chance.one_in(4) => Completed,
            6..=9 if cancelled => Cancelled,
            _ if on_sale && self.chance.one_in(3) => Closed,
            _ => OnSale,
        }))
    }

    fn change_event(&mut self) -> Command {
        let mut change = ChangeEvent::default();
        match self.chance.below(8) {
            0 => change.buyer_limit = Some(self.chance.below(9) as u32),
            1 => change.refuse_single_seats = Some(self.chance.one_in(3)),
            2 => change.extensions_max = Some(self.chance.below(6) as u8),
            3 => change.sale_closes_at = Some(self.chance.one_in(2).then_some(self.now + 900_000)),
            4 => change.ends_at = Some(self.now + 90_000_000),
            5 => change.extension_ms = Some(self.chance.one_in(2).then_some(20_000)),
            6 => change.name = Some(if self.chance.one_in(2) { "new | name".into() } else { String::new() }),
            _ => {}
        }
        Command::Event(EventCommand::ChangeEvent(Box::new(change)))
    }
}

fn living(seats: &Seats) -> impl Iterator<Item = u32> {
    seats.chart().all_seats().filter(|(_, seat)| !seat.retired).map(|(index, _)| index)
}

fn held_seats(event: &Listing) -> Vec<u32> {
    let Some(seats) = event.event() else { return Vec::new() };
    living(seats).filter(|seat| seats.seat_status(*seat) == Status::Held).collect()
}

fn seats_of(event: &Listing, hold: HoldId, now: Millis) -> Vec<u32> {
    let Found::Event(EventFound::Hold(state)) = event.ask(&Query::Event(EventQuery::Hold(hold)), now) else {
        return Vec::new();
    };
    state.seats.iter().map(|line| line.seat).collect()
}
