//! What the model would answer to a question about a buyer's things.

use onsale_domain::ended::End;
use onsale_domain::order::{OrdersFound, OrdersQuery};
use onsale_domain::outcome::{HoldState, PlaceState};
use onsale_domain::seats::{EventFound, EventQuery};
use onsale_domain::{BuyerId, HoldId, Millis};
use onsale_domain::{Found, Query};

use super::{Body, Event, Hold, Listing};

impl Listing {
    pub fn ask(&self, query: &Query, clock: Millis) -> Found {
        let now = clock.max(self.now.last_at);
        match (&self.now.body, query) {
            (Body::Event(event), Query::Event(query)) => Found::Event(event.ask(query, now)),
            // It has no orders; the payments' worker looks all the same.
            (Body::Event(_), Query::Orders(OrdersQuery::WorkAfter { .. })) => {
                Found::Orders(OrdersFound::Work(Vec::new()))
            }
            (Body::Other(other), query) => other.listing.ask(query, now),
            (Body::Nothing | Body::Venue { .. } | Body::Event(_), _) => Found::Nothing,
        }
    }
}

impl Event {
    fn ask(&self, query: &EventQuery, now: Millis) -> EventFound {
        match query {
            EventQuery::Hold(id) => match self.holds.get(id) {
                Some(hold) if now >= hold.until => EventFound::Ended(End::Expired),
                Some(hold) => EventFound::Hold(Box::new(hold.state())),
                None if self.places.iter().any(|place| place.id == *id) => self.waiting(*id, now),
                None => match self.ended.get(id) {
                    Some((end, at)) if now - at < 3_600_000 => EventFound::Ended(*end),
                    Some(_) | None => EventFound::Nothing,
                },
            },
            EventQuery::HoldsOf(buyer) => {
                let living = self.holds.values().filter(|hold| hold.buyer == *buyer && now < hold.until);
                let mut holds: Vec<HoldState> = living.map(Hold::state).collect();
                holds.sort_by_key(|hold| hold.fence);
                EventFound::Holds(holds)
            }
            EventQuery::Place { seat, buyer } => {
                if !self.chart.seats.contains_key(seat) {
                    return EventFound::Nothing;
                }
                if let Some(place) = self.place_of(*seat, buyer, now) {
                    return EventFound::Place(place);
                }
                let holder = self.holder(*seat).filter(|hold| now < hold.until && hold.buyer == *buyer);
                holder.map_or(EventFound::Nothing, |hold| EventFound::Hold(Box::new(hold.state())))
            }
            EventQuery::Order(id) => self
                .orders
                .get(id)
                .map_or(EventFound::Nothing, |order| EventFound::Order(Box::new(order.state(*id)))),
        }
    }

    /// A place that waits, by the id of the hold that it would become.
    fn waiting(&self, id: HoldId, now: Millis) -> EventFound {
        let place = self.places.iter().find(|place| place.id == id);
        let place = place.and_then(|place| self.place_of(place.seat, &place.buyer, now));
        place.map_or(EventFound::Ended(End::Expired), EventFound::Place)
    }

    /// The buyer's living place; ahead are the living who joined before.
    pub fn place_of(&self, seat: u32, buyer: &BuyerId, now: Millis) -> Option<PlaceState> {
        let living = self.places.iter().filter(|place| place.seat == seat && now < place.until);
        let (ahead, place) = living.enumerate().find(|(_, place)| place.buyer == *buyer)?;
        Some(PlaceState { place: place.id, seat, until: place.until, ahead: ahead as u32 })
    }
}

impl Hold {
    pub fn state(&self) -> HoldState {
        HoldState {
            hold: self.id,
            buyer: self.buyer.clone(),
            fence: self.fence,
            placed_at: self.placed_at,
            until: self.until,
            extensions: self.extensions,
            offered: self.offered,
            seats: self.seats.clone(),
            areas: self.areas.clone(),
        }
    }
}
