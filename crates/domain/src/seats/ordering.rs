//! What an order needs of an event's seats: the hold it takes, more time for it, its sale, and seats taken back.

use super::Run;
use super::state::{Grip, Order, Seats, Status};
use crate::command::{Command, HoldKey};
use crate::fact::{AreaLine, Fact, SeatLine};
use crate::id::{BuyerId, HoldId, OrderId};
use crate::listing::Listing;
use crate::order::fact::Goods;
use crate::refusal::Refusal;
use crate::time::{Millis, is_over};

impl Seats {
    /// What this key's hold has in it, as an order takes it.
    pub(crate) fn goods_of(&self, key: &HoldKey, now: Millis) -> Result<Goods, Refusal> {
        super::release_hold::not_cancelled(self)?;
        let hold = &self.holds[super::release_hold::own_hold(self, key, now)?];
        Ok(Goods::Hold {
            hold: hold.id,
            seats: hold.seats().to_vec(),
            areas: hold.area_lines().to_vec(),
            placed_at: hold.placed_at(),
        })
    }

    pub(crate) fn not_cancelled(&self) -> Result<(), Refusal> {
        super::release_hold::not_cancelled(self)
    }

    pub(crate) fn hold_until(&self, hold: HoldId) -> Option<Millis> {
        self.hold_index(hold).map(|index| self.holds[index].until)
    }

    /// Whether this key opens a hold that is not over.
    pub(crate) fn opens(&self, key: &HoldKey, now: Millis) -> bool {
        let hold = self.hold_index(key.hold).map(|index| &self.holds[index]);
        hold.is_some_and(|hold| hold.fence == key.fence && !is_over(hold.until, now))
    }

    pub(crate) fn knows_order(&self, order: OrderId) -> bool {
        self.order_by_id.contains_key(&order)
    }

    pub(crate) fn pin(&mut self, hold: HoldId, until: Millis) {
        let index = self.hold_index(hold).expect("an order's hold lives");
        self.reschedule(index, until);
    }

    /// Late money takes back all or nothing: what is available, and waited for by nobody.
    pub(crate) fn are_free(&self, seats: &[SeatLine], areas: &[AreaLine]) -> bool {
        let seat_is_free = |line: &SeatLine| {
            self.chart.seat(line.seat).is_some()
                && self.seat_status(line.seat) == Status::Available
                && !self.queues.contains_key(&line.seat)
        };
        let has_places = |line: &AreaLine| self.areas[usize::from(line.area)].available() >= line.count;
        seats.iter().all(seat_is_free) && areas.iter().all(has_places)
    }

    pub(crate) fn take_back(
        &mut self,
        id: OrderId,
        buyer: &BuyerId,
        (seats, areas): (&[SeatLine], &[AreaLine]),
        fence: u64,
    ) {
        let buyer = self.intern(buyer);
        let places = areas.iter().map(|line| line.count).sum::<u32>();
        self.buyers[buyer].sold += seats.len() as u32 + places;
        areas.iter().for_each(|line| self.areas[usize::from(line.area)].sold += line.count);
        let (seats, areas) = (seats.to_vec(), areas.to_vec());
        let index = self.insert_order(Order { id, fence, buyer, seats: seats.clone(), areas });
        for line in seats {
            self.change(line.seat, |state| {
                debug_assert_eq!(state.grip, Grip::Free);
                state.grip = Grip::Sold;
                state.by = index;
            });
        }
    }
}

/// Expires what a command of the seats would touch, and follows the event's calendar.
pub(crate) fn expire_as_for(listing: &mut Listing, command: &Command, now: Millis, facts: &mut Vec<Fact>) {
    let mut run = Run { listing, now, facts };
    run.follow_schedule();
    run.expire_touched(command);
}

/// Held becomes sold, for an order that is paid.
pub(crate) fn confirm(
    listing: &mut Listing,
    hold: HoldId,
    order: OrderId,
    now: Millis,
    facts: &mut Vec<Fact>,
) {
    Run { listing, now, facts }.take(Fact::HoldConfirmed { hold, order });
}
