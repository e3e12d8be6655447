//! What readers see: an immutable picture of the seats, and answers to questions about one buyer's things.

use std::sync::Arc;

use super::fact::{AreaLine, SeatLine};
use super::queue::{living_place, place_of};
use super::state::{AreaState, Seats, Status};
use crate::chart::Chart;
use crate::ended::End;
use crate::event::{EventDetails, EventStatus};
use crate::id::{BuyerId, HoldId, OrderId, SeatIndex};
use crate::money::Minor;
use crate::outcome::{HoldState, PlaceState};
use crate::time::{Millis, is_over};

/// An event as of one fact. Copying it costs two bits a seat and four counters a section and tier.
#[derive(Clone, Debug)]
pub struct SeatsView {
    pub details: Arc<EventDetails>,
    pub status: EventStatus,
    pub chart: Arc<Chart>,
    /// Two bits a seat, four seats a byte, the first in the lowest bits.
    pub bits: Box<[u8]>,
    /// Counts of seats by `chart.cell(section, tier)`, then by status.
    pub cells: Box<[[u32; 4]]>,
    pub areas: Box<[AreaState]>,
}

impl SeatsView {
    pub fn seat_status(&self, seat: SeatIndex) -> Status {
        Status::in_bits(&self.bits, seat)
    }

    /// Seats and general-admission places by status.
    pub fn totals(&self) -> [u32; 4] {
        let mut totals = [0; 4];
        for cell in &self.cells {
            for (total, count) in totals.iter_mut().zip(cell) {
                *total += count;
            }
        }
        for area in &self.areas {
            totals[0] += area.available();
            totals[1] += area.held;
            totals[2] += area.sold;
            totals[3] += area.blocked;
        }
        totals
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum EventQuery {
    Hold(HoldId),
    HoldsOf(BuyerId),
    /// The buyer's place in a seat's queue, or the offer it became.
    Place {
        seat: SeatIndex,
        buyer: BuyerId,
    },
    Order(OrderId),
}

#[derive(Clone, Debug, PartialEq)]
pub enum EventFound {
    Nothing,
    Hold(Box<HoldState>),
    /// The hold or place is over, and why.
    Ended(End),
    Holds(Vec<HoldState>),
    Place(PlaceState),
    Order(Box<OrderState>),
}

/// An order that was confirmed.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderState {
    pub order: OrderId,
    /// The hold that it bought, by the fact of this fence at this time, for so much.
    pub hold: HoldId,
    pub fence: u64,
    pub at: Millis,
    pub total_minor: Minor,
    pub buyer: BuyerId,
    /// What is left of it.
    pub seats: Vec<SeatLine>,
    pub areas: Vec<AreaLine>,
}

impl Seats {
    pub(crate) fn view(&self) -> SeatsView {
        SeatsView {
            details: self.details.clone(),
            status: self.status,
            chart: self.chart.clone(),
            bits: self.bits.as_slice().into(),
            cells: self.cells.as_slice().into(),
            areas: self.areas.as_slice().into(),
        }
    }

    /// A hold past its deadline is told as expired, though its fact may still be on its way.
    pub(crate) fn ask(&self, query: &EventQuery, now: Millis) -> EventFound {
        match query {
            EventQuery::Hold(id) => match self.hold_index(*id) {
                Some(index) if is_over(self.holds[index].until, now) => EventFound::Ended(End::Expired),
                Some(index) => EventFound::Hold(Box::new(self.hold_state(index))),
                None => self.waiting(*id, now).unwrap_or_else(|| {
                    self.ended.get(*id, now).map_or(EventFound::Nothing, EventFound::Ended)
                }),
            },
            EventQuery::HoldsOf(buyer) => {
                let Some(buyer) = self.buyer_index(buyer) else { return EventFound::Holds(Vec::new()) };
                let living = self.holds_of(buyer).filter(|index| !is_over(self.holds[*index].until, now));
                let mut holds: Vec<_> = living.map(|index| self.hold_state(index)).collect();
                holds.sort_unstable_by_key(|hold| hold.fence);
                EventFound::Holds(holds)
            }
            EventQuery::Place { seat, buyer } => {
                if self.chart.seat(*seat).is_none() {
                    return EventFound::Nothing;
                }
                if let Some(place) = place_of(self, *seat, buyer, now) {
                    return EventFound::Place(place);
                }
                let holder = self.holder(*seat).filter(|index| !is_over(self.holds[*index].until, now));
                let own =
                    holder.filter(|index| *self.buyers[self.holds[*index].buyer].name == *buyer.as_str());
                own.map_or(EventFound::Nothing, |index| EventFound::Hold(Box::new(self.hold_state(index))))
            }
            EventQuery::Order(id) => match self.order_by_id.get(id) {
                None => EventFound::Nothing,
                Some(index) => EventFound::Order(Box::new(self.order_state(*index))),
            },
        }
    }

    /// A place in a queue has the id of the hold that it becomes.
    fn waiting(&self, id: HoldId, now: Millis) -> Option<EventFound> {
        let place = &self.places[*self.place_by_id.get(&id)?];
        if is_over(place.until, now) {
            return Some(EventFound::Ended(End::Expired));
        }
        living_place(self, place.seat, now, |other| other.id == id).map(EventFound::Place)
    }

    pub(super) fn order_state(&self, index: u32) -> OrderState {
        let order = &self.orders[index];
        OrderState {
            order: order.id,
            hold: order.hold,
            fence: order.fence,
            at: order.at,
            total_minor: order.total_minor,
            buyer: self.buyers[order.buyer].id(),
            seats: order.seats.clone(),
            areas: order.areas.clone(),
        }
    }
}
