//! What a command speaks of: mostly something that exists, now and then something that never was.

use onsale_domain::seats::command::HoldKey;
use onsale_domain::seats::fact::AreaCount;
use onsale_domain::seats::{EventFound, EventQuery, Seats, Status};
use onsale_domain::{BuyerId, Found, HoldId, Listing, Millis, Query};

use super::super::world::World;

impl World {
    /// Any seat, now and then one that never was.
    pub(super) fn seat(&mut self) -> u32 {
        if self.chance.one_in(50) {
            return self.chance.pick(&[u32::MAX, 100_000, 400]).copied().unwrap_or_default();
        }
        self.chance.below(u64::from(self.seats)) as u32
    }

    pub(super) fn some_seats(&mut self, most: u64) -> Vec<u32> {
        let least = u64::from(!self.chance.one_in(12));
        (0..least + self.chance.below(most - 1)).map(|_| self.seat()).collect()
    }

    pub(super) fn places_wanted(&mut self, times: u64) -> Vec<AreaCount> {
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

    /// A hold that was granted once, mostly one that lives; now and then with a wrong fence or none at all.
    pub(super) fn key(&mut self, event: &Listing) -> HoldKey {
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
}

pub(super) fn living(seats: &Seats) -> impl Iterator<Item = u32> {
    seats.chart().all_seats().filter(|(_, seat)| !seat.retired).map(|(index, _)| index)
}

pub(super) fn held_seats(event: &Listing) -> Vec<u32> {
    let Some(seats) = event.event() else { return Vec::new() };
    living(seats).filter(|seat| seats.seat_status(*seat) == Status::Held).collect()
}

pub(super) fn seats_of(event: &Listing, hold: HoldId, now: Millis) -> Vec<u32> {
    let Found::Event(EventFound::Hold(state)) = event.ask(&Query::Event(EventQuery::Hold(hold)), now) else {
        return Vec::new();
    };
    state.seats.iter().map(|line| line.seat).collect()
}
