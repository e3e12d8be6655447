//! The promises themselves, asserted of every fact before it is taken in: a model that broke one would prove nothing.

use onsale_domain::Millis;
use onsale_domain::event::EventStatus;
use onsale_domain::seats::EventFact;
use onsale_domain::seats::Status;

use super::{Event, size};

impl Event {
    /// Panics if a fact about to happen breaks a promise of the house.
    pub fn assert_lawful(&self, fact: &EventFact, now: Millis) {
        if let EventFact::HoldPlaced { until, .. } = fact {
            assert!(*until > now, "a hold that is over when it begins");
        } else if let EventFact::HoldGrown { hold, buyer, .. } = fact {
            let grown = &self.holds[hold];
            assert!(grown.until > now, "an expired hold grows");
            assert!(grown.buyer == *buyer, "a hold grows for another");
        }
        if let EventFact::HoldPlaced { buyer, seats, areas, .. }
        | EventFact::HoldGrown { buyer, seats, areas, .. } = fact
        {
            assert!(self.status == EventStatus::OnSale, "a hold outside the sale");
            for line in seats {
                assert!(self.status_of(line.seat) == Status::Available, "a seat has two owners");
                let queued = self.places.iter().any(|place| place.seat == line.seat);
                assert!(!queued, "somebody barged in before the queue");
            }
            areas.iter().for_each(|line| {
                assert!(self.area_free(line.area) >= line.count, "an area has too many places");
            });
            let (limit, taken) = (self.details.rules.buyer_limit, self.taken(buyer));
            assert!(taken + size(seats, areas) <= limit, "a buyer is over the limit");
        } else if let EventFact::SeatOffered { place, .. } = fact {
            let offered = self.places.iter().find(|one| one.id == *place).expect("the place lives");
            let earlier = |one: &super::QueuePlace| one.seat == offered.seat && one.fence < offered.fence;
            assert!(!self.places.iter().any(earlier), "the queue is served out of turn");
            assert!(offered.until > now, "an expired place is offered the seat");
            assert!(self.status_of(offered.seat) == Status::Available, "a seat is offered twice");
            let limit = self.details.rules.buyer_limit;
            assert!(
                self.taken_living(&offered.buyer, now) < limit,
                "an offer carries a buyer over the limit"
            );
        } else if let EventFact::HoldExpired { hold, .. } = fact {
            assert!(self.holds[hold].until <= now, "expired too early");
        } else if let EventFact::HoldExtended { hold, until, .. } = fact {
            assert!(*until > self.holds[hold].until, "an extension that shortens");
            assert!(self.holds[hold].until > now, "an expired hold is extended");
        } else if let EventFact::HoldConfirmed { hold, .. } = fact {
            assert!(self.holds[hold].until > now, "an expired hold is sold");
        }
    }
}
