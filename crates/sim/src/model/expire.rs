//! Time passing in the model: what is due, what a command expires before it is decided, and who is served next.

use onsale_domain::event::EventStatus;
use onsale_domain::seats::Status;
use onsale_domain::seats::command::Pick;
use onsale_domain::seats::fact::{AreaCount, LapsedOffer, ReleaseCause};
use onsale_domain::seats::{EventCommand, EventFact};
use onsale_domain::{BuyerId, HoldId, Millis};

use super::decide::Run;
use super::{Event, Hold, Order, QueuePlace, size};

impl Event {
    /// The next step of the calendar and its hour.
    pub fn scheduled(&self) -> Option<(Millis, EventStatus)> {
        let details = &self.details;
        match self.status {
            EventStatus::Scheduled => details.sale_opens_at.map(|at| (at, EventStatus::OnSale)),
            EventStatus::OnSale => {
                let closes = details.sale_closes_at.map_or(details.ends_at, |at| at.min(details.ends_at));
                Some((closes, EventStatus::Closed))
            }
            EventStatus::Closed => Some((details.ends_at, EventStatus::Completed)),
            EventStatus::Draft | EventStatus::Completed | EventStatus::Cancelled | EventStatus::Postponed => {
                None
            }
        }
    }

    fn to_cancel(&self) -> bool {
        let open = self.orders.values().any(|order| size(&order.seats, &order.areas) > 0);
        self.status == EventStatus::Cancelled && (open || !self.holds.is_empty())
    }

    pub fn next_due(&self) -> Option<Millis> {
        if self.to_cancel() {
            return Some(Millis::MIN);
        }
        let holds = self.holds.values().map(|hold| hold.until);
        let places = self.places.iter().map(|place| place.until);
        holds.chain(places).chain(self.scheduled().map(|(at, _)| at)).min()
    }

    /// The deadline that comes first, by (until, fence), and the fact of its passing.
    fn first_deadline(&self) -> Option<(Millis, u64, EventFact)> {
        let holds = self.holds.values().map(|hold| (hold.until, hold.fence, hold_expired(hold)));
        let places = self.places.iter().map(|one| (one.until, one.fence, place_expired(one)));
        holds.chain(places).min_by_key(|(until, fence, _)| (*until, *fence))
    }

    fn next_swept(&self, now: Millis) -> Option<EventFact> {
        let first = self.first_deadline();
        if !self.to_cancel() {
            return first.filter(|(until, ..)| now >= *until).map(|(.., fact)| fact);
        }
        if let Some((.., EventFact::HoldExpired { hold, .. })) = first {
            return Some(EventFact::HoldReleased { hold, why: ReleaseCause::EventCancelled });
        }
        // A cancelled event has no queues any more, so a deadline left over would be a hold's.
        assert!(first.is_none(), "somebody waits for a seat of a cancelled event");
        let open = self.orders.iter().filter(|(_, order)| size(&order.seats, &order.areas) > 0);
        let (id, order) = open.min_by_key(|(_, order)| order.fence)?;
        Some(refund_all(*id, order, "event cancelled"))
    }
}

/// A hold that is over; of an offer, to whom it was made and of what.
fn hold_expired(hold: &Hold) -> EventFact {
    let seats = || hold.seats.iter().map(|line| line.seat).collect();
    let offer = hold.offered.then(|| LapsedOffer { buyer: hold.buyer.clone(), seats: seats() });
    EventFact::HoldExpired { hold: hold.id, offer }
}

fn place_expired(place: &QueuePlace) -> EventFact {
    EventFact::PlaceExpired { place: place.id, buyer: place.buyer.clone(), seat: place.seat }
}

/// All that is left of an order goes back.
pub(super) fn refund_all(id: onsale_domain::OrderId, order: &Order, reason: &str) -> EventFact {
    let mut amount_minor: i64 = order.seats.iter().map(|line| line.price_minor).sum();
    amount_minor += order.areas.iter().map(|line| line.price_minor * i64::from(line.count)).sum::<i64>();
    let mut areas: Vec<AreaCount> = Vec::new();
    for (area, count) in order.areas.iter().map(|line| (line.area, line.count)) {
        match areas.iter().position(|known| known.area == area) {
            Some(known) => areas[known].count += count,
            None => areas.push(AreaCount { area, count }),
        }
    }
    EventFact::OrderRefunded {
        order: id,
        seats: order.seats.iter().map(|line| line.seat).collect(),
        areas,
        amount_minor,
        reason: reason.to_owned(),
    }
}

impl Run<'_> {
    pub(super) fn follow_schedule(&mut self) {
        while let Some((_, status)) = self.event().scheduled().filter(|(at, _)| self.now >= *at) {
            self.emit(EventFact::StatusChanged { status, by_schedule: true });
        }
    }

    pub(super) fn sweep(&mut self, limit: u32) {
        for _ in 0..limit.min(64) {
            let Some(fact) = self.event().next_swept(self.now) else { break };
            self.emit_and_serve(fact);
        }
    }

    /// First the buyer's own due holds, then what is due on the seats the command names.
    pub(super) fn expire_touched(&mut self, command: &EventCommand) {
        let (buyer, seats) = self.touched(command);
        if let Some(buyer) = buyer {
            let own =
                self.event().holds.values().filter(|hold| hold.buyer == buyer && self.now >= hold.until);
            let mut own: Vec<_> = own.map(|hold| (hold.until, hold.fence, hold_expired(hold))).collect();
            own.sort_by_key(|(until, fence, _)| (*until, *fence));
            own.into_iter().for_each(|(_, _, fact)| self.emit_and_serve(fact));
        }
        for seat in seats {
            let now = self.now;
            if !self.event().chart.seats.contains_key(&seat) {
                continue;
            }
            if let Some(hold) = self.event().holder(seat).filter(|hold| now >= hold.until) {
                let fact = hold_expired(hold);
                self.emit_and_serve(fact);
            }
            let due = |event: &Event| {
                event.places.iter().find(|place| place.seat == seat && now >= place.until).map(place_expired)
            };
            while let Some(fact) = due(self.event()) {
                self.emit(fact);
            }
        }
        for (area, wanted) in self.wanted_places(command) {
            let Some(free) = self.event().chart.areas.get(usize::from(area)) else { continue };
            let mut free = if free.retired && free.capacity == 0 { 0 } else { self.event().area_free(area) };
            let mut over = Vec::new();
            for hold in self.due_holds() {
                let places: u32 =
                    hold.areas.iter().filter(|line| line.area == area).map(|line| line.count).sum();
                if free < wanted && places > 0 && over.len() < 64 {
                    over.push(hold_expired(hold));
                    free += places;
                }
            }
            over.into_iter().for_each(|fact| self.emit_and_serve(fact));
        }
    }

    /// All holds that are over, by (until, fence).
    fn due_holds(&self) -> Vec<&Hold> {
        let mut due: Vec<&Hold> = self.event().holds.values().filter(|hold| self.now >= hold.until).collect();
        due.sort_by_key(|hold| (hold.until, hold.fence));
        due
    }

    /// Best available found too few: what is over on seats that would suit goes, and it looks once more.
    pub(super) fn expire_for_best(&mut self, command: &EventCommand) -> bool {
        let EventCommand::PlaceHold(place) = command else { return false };
        let Pick::Best(wish) = &place.pick else { return false };
        let event = self.event();
        let suits = |seat: u32| {
            event.status_of(seat) == Status::Held
                && event.chart.seats.get(&seat).is_some_and(|info| {
                    wish.section.is_none_or(|section| section == info.section)
                        && wish.tier.is_none_or(|tier| tier == info.tier)
                        && wish.accessible == info.special
                })
        };
        let due = self.due_holds().into_iter().filter(|hold| hold.seats.iter().any(|line| suits(line.seat)));
        let due: Vec<EventFact> = due.map(hold_expired).take(64).collect();
        let any = !due.is_empty();
        due.into_iter().for_each(|fact| self.emit_and_serve(fact));
        any
    }

    /// Areas in which a command needs free places, and how many.
    fn wanted_places(&self, command: &EventCommand) -> Vec<(u16, u32)> {
        let lines = |areas: &[AreaCount]| areas.iter().map(|line| (line.area, line.count)).collect();
        if let EventCommand::PlaceHold(place) = command {
            return lines(&place.areas);
        }
        if let EventCommand::GrowHold(grow) = command {
            return lines(&grow.areas);
        }
        if let EventCommand::BlockSeats(block) = command {
            return lines(&block.areas);
        }
        let EventCommand::AdoptChart(chart) = command else { return Vec::new() };
        let areas = self.event().chart.areas.iter().enumerate();
        let lost = areas.map(|(index, area)| {
            let next = chart.layout.areas.iter().find(|next| next.id == area.id);
            (index as u16, area.capacity.saturating_sub(next.map_or(0, |next| next.capacity)))
        });
        lost.filter(|(_, lost)| *lost > 0).collect()
    }

    /// The command's buyer, and its seats by index.
    fn touched(&self, command: &EventCommand) -> (Option<BuyerId>, Vec<u32>) {
        let of = |hold: &HoldId| -> Vec<u32> {
            let hold = self.event().holds.get(hold);
            hold.map_or(Vec::new(), |hold| hold.seats.iter().map(|line| line.seat).collect())
        };
        let (buyer, mut seats) = match command {
            EventCommand::PlaceHold(place) => match &place.pick {
                Pick::Seats(seats) => (Some(&place.buyer), seats.clone()),
                Pick::Best(_) => (Some(&place.buyer), Vec::new()),
            },
            EventCommand::ExtendHold(extend) => (Some(&extend.key.buyer), of(&extend.key.hold)),
            EventCommand::GrowHold(grow) => {
                (Some(&grow.key.buyer), [of(&grow.key.hold), grow.seats.clone()].concat())
            }
            EventCommand::DropSeats(drop) => (Some(&drop.key.buyer), of(&drop.key.hold)),
            EventCommand::ReleaseHold(key) => (Some(&key.buyer), of(&key.hold)),
            EventCommand::ConfirmHold(confirm) => (Some(&confirm.key.buyer), of(&confirm.key.hold)),
            EventCommand::OverrideHold(staff) => (None, of(&staff.hold)),
            EventCommand::BlockSeats(block) => (None, block.seats.clone()),
            EventCommand::UnblockSeats(unblock) => (None, unblock.seats.clone()),
            EventCommand::JoinQueue(join) => (Some(&join.buyer), vec![join.seat]),
            EventCommand::LeaveQueue(leave) => (Some(&leave.buyer), vec![leave.seat]),
            EventCommand::AdoptChart(chart) => {
                let stays = |seat: &u32| {
                    let id = &self.event().chart.ids[*seat as usize];
                    chart.layout.seats().any(|seat| seat.id == *id)
                };
                let due =
                    self.due_holds().into_iter().flat_map(|hold| hold.seats.iter().map(|line| line.seat));
                (None, due.filter(|seat| !stays(seat)).collect())
            }
            EventCommand::CreateEvent(_)
            | EventCommand::ChangeEvent(_)
            | EventCommand::ChangeStatus(_)
            | EventCommand::RefundOrder(_) => (None, Vec::new()),
        };
        seats.sort_unstable();
        (buyer.cloned(), seats)
    }

    /// A fact, and then everybody who waited for what it set free.
    pub(super) fn emit_and_serve(&mut self, fact: EventFact) {
        let mut freed: Vec<u32> = Vec::new();
        if let EventFact::HoldReleased { hold, .. }
        | EventFact::HoldExpired { hold, .. }
        | EventFact::HoldOverridden { hold, to: None, .. } = &fact
        {
            freed.extend(self.event().holds[hold].seats.iter().map(|line| line.seat));
        }
        if let EventFact::SeatsDropped { seats, .. } = &fact {
            freed.extend(seats);
        }
        freed.sort_unstable();
        self.emit(fact);
        freed.into_iter().for_each(|seat| self.serve(seat));
    }

    fn serve(&mut self, seat: u32) {
        while self.event().status == EventStatus::OnSale && self.event().status_of(seat) == Status::Available
        {
            let event = self.event();
            let Some(first) = event.places.iter().find(|place| place.seat == seat) else { return };
            let (place, buyer, seat) = (first.id, first.buyer.clone(), first.seat);
            let fact = if self.now >= first.until {
                place_expired(first)
            } else if event.taken_living(&first.buyer, self.now) + 1 > event.details.rules.buyer_limit {
                EventFact::PlaceLost { place, buyer, seat }
            } else {
                EventFact::SeatOffered {
                    place,
                    buyer,
                    seat,
                    price_minor: event.seat_price(seat),
                    until: self.now + 60_000,
                }
            };
            self.emit(fact);
        }
    }
}
