//! When a seat comes free, the first in line is given it in the same step: nobody can barge in.

use super::Run;
use super::fact::EventFact;
use super::state::{Seats, Status};
use crate::event::EventStatus;
use crate::id::SeatIndex;
use crate::limits::OFFER_MS;
use crate::time::is_over;

impl Seats {
    /// The seats with a queue that this fact sets free, by index.
    pub(super) fn freed_by(&self, fact: &EventFact) -> Vec<SeatIndex> {
        if self.queues.is_empty() {
            return Vec::new();
        }
        // Sold seats have no queue, and a blocked seat's queue was dissolved: a refund or an unblocking frees nothing here.
        let mut freed: Vec<SeatIndex> = if let EventFact::HoldReleased { hold, .. }
        | EventFact::HoldExpired { hold, .. }
        | EventFact::HoldOverridden { hold, to: None, .. } = fact
        {
            let hold = self.hold_index(*hold).map(|index| &self.holds[index]);
            hold.map_or(Vec::new(), |hold| hold.seats().iter().map(|line| line.seat).collect())
        } else if let EventFact::SeatsDropped { seats, .. } = fact {
            seats.clone()
        } else {
            return Vec::new();
        };
        freed.retain(|seat| self.queues.contains_key(seat));
        freed.sort_unstable();
        freed
    }

    /// What happens next to the first in a free seat's queue; `None` when nobody waits.
    fn next_in_line(&self, seat: SeatIndex, now: i64) -> Option<EventFact> {
        if self.status != EventStatus::OnSale || self.seat_status(seat) != Status::Available {
            return None;
        }
        let first = *self.queues.get(&seat)?.first()?;
        let place = &self.places[first];
        let buyer = &self.buyers[place.buyer];
        let limit = self.details.rules.buyer_limit;
        Some(if is_over(place.until, now) {
            self.place_expired(first)
        } else if buyer.held + buyer.sold >= limit && self.living_taken(buyer, now) >= limit {
            EventFact::PlaceLost { place: place.id, buyer: buyer.id(), seat }
        } else {
            EventFact::SeatOffered {
                place: place.id,
                buyer: buyer.id(),
                seat,
                price_minor: self.price_of_seat(seat),
                until: now + OFFER_MS,
            }
        })
    }
}

impl Run<'_, '_> {
    /// Passes over the expired and those at their limit until somebody is given the seat.
    pub(super) fn serve_queue(&mut self, seat: SeatIndex) {
        while let Some(fact) = self.seats.next_in_line(seat, self.now) {
            self.take_plain(fact);
        }
    }
}
