//! An event's state as bytes, for snapshots, and back. Only what cannot be counted again is written:
//! tallies, indexes and tables are made anew when it is read.

use std::sync::Arc;

use minicbor::{Decode, Encode};

use super::fact::{AreaLine, SeatLine};
use super::state::{Due, Grip, Hold, NONE, NewHold, Order, QueuePlace, SeatState, Seats};
use crate::chart::{Chart, ChartImage};
use crate::ended::End;
use crate::event::{EventDetails, EventStatus};
use crate::id::{BuyerId, HoldId, OrderId, SeatIndex};
use crate::money::Minor;
use crate::time::Millis;

#[derive(Clone, Debug, Encode, Decode)]
pub struct SeatsImage {
    #[n(0)]
    pub details: EventDetails,
    #[n(1)]
    pub status: EventStatus,
    #[n(2)]
    pub chart: ChartImage,
    #[n(3)]
    pub blocked: Vec<SeatIndex>,
    #[n(4)]
    pub blocked_places: Vec<u32>,
    #[n(5)]
    pub holds: Vec<HoldImage>,
    #[n(6)]
    pub orders: Vec<OrderImage>,
    /// Each queue in its order.
    #[n(7)]
    pub places: Vec<PlaceImage>,
    #[n(8)]
    pub ended: Vec<EndedImage>,
}

#[derive(Clone, Debug, Encode, Decode)]
pub struct HoldImage {
    #[n(0)]
    pub id: HoldId,
    #[n(1)]
    pub buyer: BuyerId,
    #[n(2)]
    pub fence: u64,
    #[n(3)]
    pub placed_at: Millis,
    #[n(4)]
    pub until: Millis,
    #[n(5)]
    pub length_ms: u32,
    #[n(6)]
    pub extensions: u8,
    #[n(7)]
    pub offered: bool,
    #[n(8)]
    pub seats: Vec<SeatLine>,
    #[n(9)]
    pub areas: Vec<AreaLine>,
}

#[derive(Clone, Debug, Encode, Decode)]
pub struct OrderImage {
    #[n(0)]
    pub id: OrderId,
    #[n(1)]
    pub buyer: BuyerId,
    #[n(2)]
    pub fence: u64,
    #[n(3)]
    pub seats: Vec<SeatLine>,
    #[n(4)]
    pub areas: Vec<AreaLine>,
    #[n(5)]
    pub hold: HoldId,
    #[n(6)]
    pub at: Millis,
    #[n(7)]
    pub total_minor: Minor,
}

#[derive(Clone, Debug, Encode, Decode)]
pub struct PlaceImage {
    #[n(0)]
    pub id: HoldId,
    #[n(1)]
    pub seat: SeatIndex,
    #[n(2)]
    pub buyer: BuyerId,
    #[n(3)]
    pub fence: u64,
    #[n(4)]
    pub until: Millis,
}

#[derive(Clone, Debug, Encode, Decode)]
pub struct EndedImage {
    #[n(0)]
    pub at: Millis,
    #[n(1)]
    pub id: HoldId,
    #[n(2)]
    pub end: End,
}

impl SeatsImage {
    /// Puts what has no order of its own into one: by fence, which is unique.
    pub(crate) fn sort(&mut self) {
        self.holds.sort_unstable_by_key(|hold| hold.fence);
        self.orders.sort_unstable_by_key(|order| order.fence);
        self.ended.sort_by_key(|ended| (ended.at, ended.id));
    }
}

impl Seats {
    pub(crate) fn image(&self) -> SeatsImage {
        let buyer_of = |index: u32| self.buyers[index].id();
        let hold = |hold: &Hold| HoldImage {
            id: hold.id,
            buyer: buyer_of(hold.buyer),
            fence: hold.fence,
            placed_at: hold.placed_at(),
            until: hold.until,
            length_ms: hold.length_ms,
            extensions: hold.extensions,
            offered: hold.offered,
            seats: hold.seats().to_vec(),
            areas: hold.area_lines().to_vec(),
        };
        let order = |order: &Order| OrderImage {
            id: order.id,
            buyer: buyer_of(order.buyer),
            fence: order.fence,
            seats: order.seats.clone(),
            areas: order.areas.clone(),
            hold: order.hold,
            at: order.at,
            total_minor: order.total_minor,
        };
        let place = |place: &QueuePlace| PlaceImage {
            id: place.id,
            seat: place.seat,
            buyer: buyer_of(place.buyer),
            fence: place.fence,
            until: place.until,
        };
        let blocked = self.seats.iter().enumerate().filter(|(_, state)| state.blocked);
        SeatsImage {
            details: (*self.details).clone(),
            status: self.status,
            chart: self.chart.image(),
            blocked: blocked.map(|(index, _)| index as SeatIndex).collect(),
            blocked_places: self.areas.iter().map(|area| area.blocked).collect(),
            holds: self.holds.values().map(hold).collect(),
            orders: self.orders.values().map(order).collect(),
            places: self.queues.values().flatten().map(|index| place(&self.places[*index])).collect(),
            ended: self.ended.iter().map(|(at, id, end)| EndedImage { at, id, end }).collect(),
        }
    }

    pub(crate) fn from_image(image: SeatsImage) -> Seats {
        let mut seats = Seats::new(image.details);
        seats.status = image.status;
        seats.take_chart(Arc::new(Chart::from_image(image.chart)));
        for seat in image.blocked {
            seats.seats[seat as usize].blocked = true;
        }
        for (area, blocked) in seats.areas.iter_mut().zip(image.blocked_places) {
            area.blocked = blocked;
        }
        image.holds.into_iter().for_each(|hold| seats.restore_hold(hold));
        image.orders.into_iter().for_each(|order| seats.restore_order(order));
        for place in image.places {
            let buyer = seats.intern(&place.buyer);
            seats.buyers[buyer].places += 1;
            let (fence, until) = (place.fence, place.until);
            let index =
                seats.places.insert(QueuePlace { id: place.id, seat: place.seat, buyer, fence, until });
            seats.place_by_id.insert(place.id, index);
            seats.queues.entry(place.seat).or_default().push(index);
            seats.due.insert(until, fence, Due::Place(index));
        }
        for EndedImage { at, id, end } in image.ended {
            seats.ended.remember(id, end, at);
        }
        seats.recount();
        seats
    }

    fn restore_hold(&mut self, image: HoldImage) {
        let buyer = self.intern(&image.buyer);
        let hold = Hold::new(&NewHold {
            id: image.id,
            fence: image.fence,
            placed_at: image.placed_at,
            until: image.until,
            length_ms: image.length_ms,
            buyer,
            next: self.buyers[buyer].first_hold,
            extensions: image.extensions,
            offered: image.offered,
            seats: &image.seats,
            areas: &image.areas,
        });
        let (size, due) = (hold.size(), (hold.until, hold.fence));
        let index = self.insert_hold(hold);
        self.buyers[buyer].held += size;
        self.buyers[buyer].first_hold = index;
        self.due.insert(due.0, due.1, Due::Hold(index));
        let (holds, seats, areas) = (&self.holds, &mut self.seats, &mut self.areas);
        for line in holds[index].seats() {
            seats[line.seat as usize] =
                SeatState { by: index, grip: Grip::Held, ..seats[line.seat as usize] };
        }
        for line in holds[index].area_lines() {
            areas[usize::from(line.area)].held += line.count;
        }
    }

    fn restore_order(&mut self, image: OrderImage) {
        let buyer = self.intern(&image.buyer);
        let sold = image.seats.len() as u32 + image.areas.iter().map(|line| line.count).sum::<u32>();
        self.buyers[buyer].sold += sold;
        let (lines, areas) = (image.seats.clone(), image.areas.clone());
        let index = self.insert_order(Order {
            id: image.id,
            fence: image.fence,
            buyer,
            hold: image.hold,
            at: image.at,
            total_minor: image.total_minor,
            seats: image.seats,
            areas: image.areas,
        });
        debug_assert_ne!(index, NONE);
        for line in lines {
            let state = &mut self.seats[line.seat as usize];
            *state = SeatState { by: index, grip: Grip::Sold, ..*state };
        }
        areas.iter().for_each(|line| self.areas[usize::from(line.area)].sold += line.count);
    }
}
