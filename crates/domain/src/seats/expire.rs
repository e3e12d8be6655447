//! Expiry as facts: what a command touches before it is decided, the schedule of the event, and the sweep.

use std::collections::BTreeSet;

use super::Run;
use super::best_available::suits;
use super::command::{About, BestAvailable, EventCommand, Pick, PlaceHold};
use super::fact::{AreaCount, EventFact, LapsedOffer, ReleaseCause};
use super::places;
use super::state::{Due, Hold, Seats, Status};
use crate::event::EventStatus;
use crate::id::{AreaIndex, BuyerId, HoldId, SeatIndex};
use crate::layout::Layout;
use crate::limits::EXPIRE_DUE_MAX;
use crate::time::{Millis, is_over};

/// The reason that stands in the refunds of a cancelled event.
const CANCELLED: &str = "event cancelled";

impl Seats {
    /// The next change that the calendar brings, and when.
    fn next_on_schedule(&self) -> Option<(Millis, EventStatus)> {
        match self.status {
            EventStatus::Scheduled => self.details.sale_opens_at.map(|at| (at, EventStatus::OnSale)),
            EventStatus::OnSale => Some((self.details.sale_ends_at(), EventStatus::Closed)),
            EventStatus::Closed => Some((self.details.ends_at, EventStatus::Completed)),
            EventStatus::Draft | EventStatus::Completed | EventStatus::Cancelled | EventStatus::Postponed => {
                None
            }
        }
    }

    /// A cancelled event still has holds to release or orders to refund.
    fn has_cancelled_work(&self) -> bool {
        self.status == EventStatus::Cancelled && !(self.holds.is_empty() && self.open_orders.is_empty())
    }

    pub(crate) fn next_due(&self) -> Option<Millis> {
        if self.has_cancelled_work() {
            return Some(Millis::MIN);
        }
        let first = self.due.first().map(|(until, _)| until);
        let schedule = self.next_on_schedule().map(|(at, _)| at);
        first.into_iter().chain(schedule).min()
    }

    fn expiry_of(&self, due: Due) -> EventFact {
        match due {
            Due::Hold(index) => self.hold_expired(&self.holds[index]),
            Due::Place(index) => self.place_expired(index),
        }
    }

    /// A lapsed offer names its buyer and what was offered, so that its buyer can be told from the fact alone.
    fn hold_expired(&self, hold: &Hold) -> EventFact {
        let offer = hold.offered.then(|| LapsedOffer {
            buyer: self.buyers[hold.buyer].id(),
            seats: hold.seats().iter().map(|line| line.seat).collect(),
        });
        EventFact::HoldExpired { hold: hold.id, offer }
    }

    pub(super) fn place_expired(&self, index: u32) -> EventFact {
        let place = &self.places[index];
        EventFact::PlaceExpired { place: place.id, buyer: self.buyers[place.buyer].id(), seat: place.seat }
    }

    /// The buyer's own due holds, by (until, fence).
    fn due_holds_of(&self, buyer: &BuyerId, now: Millis) -> Vec<EventFact> {
        let Some(buyer) = self.buyer_index(buyer) else { return Vec::new() };
        let mut due: Vec<_> = self
            .holds_of(buyer)
            .map(|index| &self.holds[index])
            .filter(|hold| is_over(hold.until, now))
            .collect();
        due.sort_unstable_by_key(|hold| (hold.until, hold.fence));
        due.into_iter().map(|hold| self.hold_expired(hold)).collect()
    }

    fn due_hold(&self, id: HoldId, now: Millis) -> Option<EventFact> {
        let hold = &self.holds[self.hold_index(id)?];
        is_over(hold.until, now).then(|| self.hold_expired(hold))
    }

    fn due_hold_on(&self, seat: SeatIndex, now: Millis) -> Option<EventFact> {
        let hold = &self.holds[self.holder(seat)?];
        is_over(hold.until, now).then(|| self.hold_expired(hold))
    }

    fn due_place_on(&self, seat: SeatIndex, now: Millis) -> Option<EventFact> {
        let queue = self.queues.get(&seat)?;
        let place = queue.iter().find(|index| is_over(self.places[**index].until, now))?;
        Some(self.place_expired(*place))
    }

    /// All holds that are due, in (until, fence) order.
    fn due_holds(&self, now: Millis) -> impl Iterator<Item = &Hold> {
        self.due.over(now).filter_map(|due| match due {
            Due::Hold(index) => Some(&self.holds[index]),
            Due::Place(_) => None,
        })
    }

    /// As many due holds as it takes to have `wanted` places free in an area.
    fn due_holds_in(&self, area: AreaIndex, wanted: u32, now: Millis) -> Vec<EventFact> {
        let mut free = self.areas.get(usize::from(area)).map_or(wanted, |state| state.available());
        let mut facts = Vec::new();
        let mut due = self.due_holds(now);
        while free < wanted
            && facts.len() < EXPIRE_DUE_MAX as usize
            && let Some(hold) = due.next()
        {
            let places = places::count_in(hold.area_lines(), area);
            if places > 0 {
                facts.push(self.hold_expired(hold));
            }
            free += places;
        }
        facts
    }

    /// Due holds of seats that would suit a wish, a bounded number.
    fn due_holds_for(&self, wish: &BestAvailable, now: Millis) -> Vec<EventFact> {
        let suits = |hold: &&Hold| {
            let mut seats = hold.seats().iter();
            seats.any(|line| {
                self.seat_status(line.seat) == Status::Held && suits(&self.chart, wish, line.seat)
            })
        };
        let due = self.due_holds(now).filter(suits).take(EXPIRE_DUE_MAX as usize);
        due.map(|hold| self.hold_expired(hold)).collect()
    }

    /// Due holds of seats that a new layout no longer has.
    fn due_seats_without(&self, layout: &Layout, now: Millis) -> Vec<SeatIndex> {
        let kept: BTreeSet<&str> = layout.seats().map(|seat| seat.id.as_str()).collect();
        let held = self.due_holds(now).flat_map(|hold| hold.seats().iter().map(|line| line.seat));
        held.filter(|seat| !kept.contains(self.chart.seat_id(*seat))).collect()
    }

    /// Whether anything at all is due: the common "no" costs one comparison.
    fn anything_due(&self, now: Millis) -> bool {
        self.due.first().is_some_and(|(until, _)| is_over(until, now))
    }
}

impl Run<'_, '_> {
    /// Opens, closes or completes the event when its hour has come.
    pub(super) fn follow_schedule(&mut self) {
        while let Some((at, status)) = self.seats.next_on_schedule()
            && is_over(at, self.now)
        {
            self.take_plain(EventFact::StatusChanged { status, by_schedule: true });
        }
    }

    /// Expires what is touched: the buyer's own holds, then holds, offers and places on the seats, by seat index.
    pub(super) fn expire_touched(&mut self, touched: &ExpiryScope<'_>) {
        if !self.seats.anything_due(self.now) {
            return;
        }
        if let Some(buyer) = touched.buyer {
            for fact in self.seats.due_holds_of(buyer, self.now) {
                self.take(fact);
            }
        }
        let mut named = touched.seats.clone();
        named.retain(|seat| self.seats.chart.seat(*seat).is_some());
        named.sort_unstable();
        for seat in named {
            if let Some(fact) = self.seats.due_hold_on(seat, self.now) {
                self.take(fact);
            }
            while let Some(fact) = self.seats.due_place_on(seat, self.now) {
                self.take(fact);
            }
        }
        // A hold of places alone is on no seat: it is named by itself.
        if let Some(fact) = touched.hold.and_then(|hold| self.seats.due_hold(hold, self.now)) {
            self.take(fact);
        }
        for (area, wanted) in &touched.wanted {
            for fact in self.seats.due_holds_in(*area, *wanted, self.now) {
                self.take(fact);
            }
        }
    }

    /// Expires what is due on seats that would suit a wish which found too few; true if there was any.
    pub(super) fn expire_for_best(&mut self, command: &EventCommand) -> bool {
        let EventCommand::PlaceHold(PlaceHold { pick: Pick::Best(wish), .. }) = command else { return false };
        let due = self.seats.due_holds_for(wish, self.now);
        let any = !due.is_empty();
        due.into_iter().for_each(|fact| self.take(fact));
        any
    }

    /// The sweep: whatever is due, in (until, fence) order, a bounded number at a time.
    pub(super) fn expire_due(&mut self, limit: u32) {
        for _ in 0..limit.min(EXPIRE_DUE_MAX) {
            let seats = &*self.seats;
            let fact = if seats.has_cancelled_work() {
                seats.next_cancelled()
            } else {
                let first = seats.due.first();
                first.filter(|(until, _)| is_over(*until, self.now)).map(|(_, due)| seats.expiry_of(due))
            };
            let Some(fact) = fact else { break };
            self.take(fact);
        }
    }
}

impl Seats {
    /// The next piece of a cancellation: living holds first, then orders, each in the order they were made.
    fn next_cancelled(&self) -> Option<EventFact> {
        if let Some((_, due)) = self.due.first() {
            return Some(match due {
                Due::Hold(index) => {
                    EventFact::HoldReleased { hold: self.holds[index].id, why: ReleaseCause::EventCancelled }
                }
                Due::Place(index) => self.place_expired(index),
            });
        }
        let (_, order) = self.open_orders.first_key_value()?;
        Some(super::refund_order::all_of(self, *order, CANCELLED))
    }
}

/// What shall not be in the way, or not be told as living, if it is over.
#[derive(Debug, Default)]
pub(super) struct ExpiryScope<'a> {
    /// Whose own holds.
    pub buyer: Option<&'a BuyerId>,
    pub seats: Vec<SeatIndex>,
    pub hold: Option<HoldId>,
    /// Areas in which free places are needed, and how many.
    pub wanted: Vec<(AreaIndex, u32)>,
}

impl<'a> ExpiryScope<'a> {
    /// A hold, its seats and whatever else its buyer has.
    pub(super) fn hold(seats: &Seats, hold: HoldId, buyer: Option<&'a BuyerId>) -> ExpiryScope<'a> {
        let found = seats.hold_index(hold).map(|index| &seats.holds[index]);
        let on = found.map_or(Vec::new(), |hold| hold.seats().iter().map(|line| line.seat).collect());
        ExpiryScope { buyer, seats: on, hold: Some(hold), wanted: Vec::new() }
    }

    fn seats(seats: Vec<SeatIndex>, buyer: Option<&'a BuyerId>) -> ExpiryScope<'a> {
        ExpiryScope { buyer, seats, hold: None, wanted: Vec::new() }
    }
}

/// What a command touches; nothing is looked up while nothing is due.
pub(super) fn touched<'a>(seats: &Seats, command: &'a EventCommand, now: Millis) -> ExpiryScope<'a> {
    if !seats.anything_due(now) {
        return ExpiryScope::default();
    }
    match command.about() {
        About::Hold(key) => ExpiryScope::hold(seats, key.hold, Some(&key.buyer)),
        About::HoldsGoods { key, seats: added, areas } => {
            let mut scope = ExpiryScope::hold(seats, key.hold, Some(&key.buyer));
            scope.seats.extend_from_slice(added);
            ExpiryScope { wanted: wanted(areas), ..scope }
        }
        About::AnyHold(hold) => ExpiryScope::hold(seats, hold, None),
        About::Seats { seats: touched, areas, buyer } => {
            ExpiryScope { wanted: wanted(areas), ..ExpiryScope::seats(touched.to_vec(), buyer) }
        }
        About::Chart(layout) => {
            let without = seats.due_seats_without(layout, now);
            ExpiryScope { wanted: shrinking(seats, layout), ..ExpiryScope::seats(without, None) }
        }
        About::Nothing => ExpiryScope::default(),
    }
}

fn wanted(areas: &[AreaCount]) -> Vec<(AreaIndex, u32)> {
    areas.iter().map(|line| (line.area, line.count)).collect()
}

/// Areas that a new layout makes smaller, and by how many places.
fn shrinking(seats: &Seats, layout: &Layout) -> Vec<(AreaIndex, u32)> {
    let shrinks = seats.chart.areas.iter().enumerate().filter_map(|(index, area)| {
        let next = layout.areas.iter().find(|next| next.id == area.id);
        let capacity = next.map_or(0, |next| next.capacity);
        let lost = seats.areas[index].capacity.saturating_sub(capacity);
        (lost > 0).then_some((index as AreaIndex, lost))
    });
    shrinks.collect()
}
