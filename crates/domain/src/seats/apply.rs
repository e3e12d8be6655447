//! Takes facts into the state. Facts were checked when they were decided: anything that does not fit is our bug.

use std::hash::BuildHasher;
use std::sync::Arc;

use super::fact::{AreaCount, AreaLine, EventFact, NewHolder, SeatLine};
use super::places;
use super::state::{AreaState, Buyer, Due, Grip, Hold, NONE, NewHold, Order, QueuePlace, SeatState, Seats};
use crate::chart::Chart;
use crate::ended::End;
use crate::event::EventStatus;
use crate::id::{BuyerId, HoldId, OrderId, SeatIndex};
use crate::layout::Layout;
use crate::limits::OFFER_MS;
use crate::time::Millis;

impl Seats {
    pub(crate) fn apply(&mut self, fact: &EventFact, fence: u64, at: Millis) {
        match fact {
            EventFact::EventCreated(_) => panic!("an event is created once"),
            EventFact::EventChanged(details) => self.details = Arc::new((**details).clone()),
            EventFact::ChartAdopted(adopted) => self.adopt(&adopted.layout),
            EventFact::StatusChanged { status, .. } => self.change_status(*status, at),
            EventFact::HoldPlaced { hold, buyer, seats, areas, until, .. } => {
                let granted = GrantedHold { id: *hold, buyer, seats, areas, until: *until, offered: false };
                self.grant(granted, fence, at);
            }
            EventFact::HoldExtended { hold, until, .. } => {
                let index = self.known_hold(*hold);
                self.holds[index].extensions += 1;
                self.reschedule(index, *until);
            }
            EventFact::HoldGrown { hold, seats, areas, .. } => self.grow(*hold, seats, areas, fence),
            EventFact::SeatsDropped { hold, seats, areas, .. } => self.drop_from_hold(*hold, seats, areas),
            EventFact::HoldReleased { hold, .. } => self.end_hold(*hold, End::Released, at),
            EventFact::HoldExpired { hold, .. } => self.end_hold(*hold, End::Expired, at),
            EventFact::HoldConfirmed { hold, order } => self.sell(*hold, *order, fence, at),
            EventFact::HoldOverridden { hold, to: None, .. } => self.end_hold(*hold, End::Overridden, at),
            EventFact::HoldOverridden { hold, to: Some(holder), .. } => {
                self.reassign(*hold, holder, fence, at)
            }
            EventFact::OrderRefunded { order, seats, areas, .. } => self.refund(*order, seats, areas),
            EventFact::SeatsBlocked { seats, areas, .. } => {
                for seat in seats {
                    self.change(*seat, |state| state.blocked = true);
                    self.dissolve(*seat, at);
                }
                areas.iter().for_each(|line| self.areas[usize::from(line.area)].blocked += line.count);
            }
            EventFact::SeatsUnblocked { seats, areas } => {
                seats.iter().for_each(|seat| self.change(*seat, |state| state.blocked = false));
                areas.iter().for_each(|line| self.areas[usize::from(line.area)].blocked -= line.count);
            }
            EventFact::QueueJoined { place, seat, buyer, until, .. } => {
                let buyer = self.intern(buyer);
                self.buyers[buyer].places += 1;
                let index =
                    self.places.insert(QueuePlace { id: *place, seat: *seat, buyer, fence, until: *until });
                self.place_by_id.insert(*place, index);
                self.queues.entry(*seat).or_default().push(index);
                self.due.insert(*until, fence, Due::Place(index));
            }
            EventFact::PlaceRenewed { place, until, .. } => {
                let index = self.place_by_id[place];
                let (old, fence) = (self.places[index].until, self.places[index].fence);
                self.due.remove(old, fence);
                self.due.insert(*until, fence, Due::Place(index));
                self.places[index].until = *until;
            }
            EventFact::QueueLeft { place, .. } => self.end_place(*place, End::Released, at),
            EventFact::PlaceExpired { place, .. } => self.end_place(*place, End::Expired, at),
            EventFact::PlaceLost { place, .. } => self.end_place(*place, End::OverLimit, at),
            EventFact::SeatOffered { place, price_minor, until, .. } => {
                let place = self.take_place(*place);
                let buyer = self.buyers[place.buyer].id();
                let seats = [SeatLine { seat: place.seat, price_minor: *price_minor }];
                let granted = GrantedHold {
                    id: place.id,
                    buyer: &buyer,
                    seats: &seats,
                    areas: &[],
                    until: *until,
                    offered: true,
                };
                self.grant(granted, fence, at);
                self.forget_buyer_if_idle(place.buyer);
            }
        }
    }

    /// Changes a seat and keeps the counts, the bits and the row's tally true.
    pub(super) fn change(&mut self, seat: SeatIndex, change: impl FnOnce(&mut SeatState)) {
        let state = &mut self.seats[seat as usize];
        let before = state.status();
        change(state);
        let after = state.status();
        if before == after {
            return;
        }
        let (byte, shift) = (seat as usize / 4, seat % 4 * 2);
        self.bits[byte] = self.bits[byte] & !(3 << shift) | (after as u8) << shift;
        let Some(info) = self.chart.seat(seat) else { return };
        let cell = &mut self.cells[self.chart.cell(info.section, info.tier.into())];
        cell[before as usize] -= 1;
        cell[after as usize] += 1;
        let row = &mut self.row_available[info.row as usize];
        *row = *row + u32::from(after as u8 == 0) - u32::from(before as u8 == 0);
    }

    fn adopt(&mut self, layout: &Layout) {
        self.take_chart(Arc::new(self.chart.adopt(layout)));
        self.recount();
    }

    /// Makes room for every seat and area of a chart; what is counted must be counted again.
    pub(super) fn take_chart(&mut self, chart: Arc<Chart>) {
        self.chart = chart;
        self.seats.resize(self.chart.seats_len(), SeatState::FREE);
        self.seats.shrink_to_fit();
        self.areas.resize(self.chart.areas.len(), AreaState::default());
        for (area, state) in self.chart.areas.iter().zip(&mut self.areas) {
            state.capacity = if area.retired { 0 } else { area.capacity };
        }
    }

    /// Makes counts, bits and row tallies anew; after a chart or a snapshot, never in a hurry.
    pub(super) fn recount(&mut self) {
        self.cells = vec![[0; 4]; self.chart.cells_len()];
        self.bits = vec![0; self.chart.seats_len().div_ceil(4)];
        self.row_available = vec![0; self.chart.rows.len()];
        for (index, info) in self.chart.all_seats() {
            let status = self.seats[index as usize].status();
            let shown = if info.retired { super::state::Status::Blocked } else { status };
            self.bits[index as usize / 4] |= (shown as u8) << (index % 4 * 2);
            if info.retired {
                continue;
            }
            self.cells[self.chart.cell(info.section, info.tier.into())][status as usize] += 1;
            self.row_available[info.row as usize] += u32::from(status as u8 == 0);
        }
    }

    fn change_status(&mut self, status: EventStatus, at: Millis) {
        self.status = status;
        if matches!(status, EventStatus::Draft | EventStatus::Scheduled | EventStatus::OnSale) {
            return;
        }
        let queued: Vec<SeatIndex> = self.queues.keys().copied().collect();
        queued.into_iter().for_each(|seat| self.dissolve(seat, at));
    }

    fn grant(&mut self, granted: GrantedHold<'_>, fence: u64, at: Millis) {
        let GrantedHold { id, buyer, seats, areas, until, offered } = granted;
        let buyer = self.intern(buyer);
        let length_ms = if offered { OFFER_MS } else { until - at };
        let hold = Hold::new(&NewHold {
            id,
            fence,
            placed_at: at,
            until,
            length_ms: length_ms as u32,
            buyer,
            next: self.buyers[buyer].first_hold,
            extensions: 0,
            offered,
            seats,
            areas,
        });
        let size = hold.size();
        let index = self.insert_hold(hold);
        self.buyers[buyer].held += size;
        self.buyers[buyer].first_hold = index;
        self.due.insert(until, fence, Due::Hold(index));
        self.take_for(index, seats, areas);
    }

    /// Free seats and places are this hold's from here on.
    fn take_for(&mut self, index: u32, seats: &[SeatLine], areas: &[AreaLine]) {
        for line in seats {
            self.change(line.seat, |state| {
                debug_assert_eq!(state.grip, Grip::Free);
                state.grip = Grip::Held;
                state.by = index;
            });
        }
        areas.iter().for_each(|line| self.areas[usize::from(line.area)].held += line.count);
    }

    fn grow(&mut self, id: HoldId, seats: &[SeatLine], areas: &[AreaLine], fence: u64) {
        let index = self.known_hold(id);
        let hold = &mut self.holds[index];
        let (buyer, before) = (hold.buyer, hold.size());
        let mut places = hold.area_lines().to_vec();
        places::add(&mut places, areas);
        let lines = [hold.seats(), seats].concat();
        hold.set_lines(&lines, &places);
        self.due.remove(hold.until, hold.fence);
        hold.fence = fence;
        self.due.insert(hold.until, fence, Due::Hold(index));
        self.buyers[buyer].held += hold.size() - before;
        self.take_for(index, seats, areas);
    }

    pub(super) fn insert_hold(&mut self, hold: Hold) -> u32 {
        let hash = self.hasher.hash_one(hold.id);
        let index = self.holds.insert(hold);
        let (hasher, holds) = (&self.hasher, &self.holds);
        self.hold_by_id.insert_unique(hash, index, |known| hasher.hash_one(holds[*known].id));
        index
    }

    fn known_hold(&self, id: HoldId) -> u32 {
        self.hold_index(id).expect("a fact names a hold that lives")
    }

    pub(super) fn reschedule(&mut self, index: u32, until: Millis) {
        let hold = &mut self.holds[index];
        self.due.remove(hold.until, hold.fence);
        hold.span_ms += (until - hold.until) as u32;
        hold.until = until;
        self.due.insert(until, hold.fence, Due::Hold(index));
    }

    fn drop_from_hold(&mut self, id: HoldId, seats: &[SeatIndex], areas: &[AreaCount]) {
        let index = self.known_hold(id);
        let hold = &mut self.holds[index];
        let (buyer, before) = (hold.buyer, hold.size());
        let kept = hold.seats().iter().filter(|line| !seats.contains(&line.seat)).copied();
        let kept: Vec<SeatLine> = kept.collect();
        let mut lines = hold.area_lines().to_vec();
        for away in areas {
            places::take(&mut lines, *away).expect("dropped places were held");
        }
        hold.set_lines(&kept, &lines);
        let dropped = before - hold.size();
        self.buyers[buyer].held -= dropped;
        seats.iter().for_each(|seat| self.change(*seat, free));
        areas.iter().for_each(|away| self.areas[usize::from(away.area)].held -= away.count);
    }

    /// Takes a hold out of every list; its seats still point at it.
    fn take_hold(&mut self, id: HoldId) -> (u32, Hold) {
        let hash = self.hasher.hash_one(id);
        let entry = self.hold_by_id.find_entry(hash, |known| self.holds[*known].id == id);
        let (index, _) = entry.expect("a fact names a hold that lives").remove();
        let hold = self.holds.remove(index);
        self.due.remove(hold.until, hold.fence);
        self.unlink(index, hold.next, hold.buyer);
        self.buyers[hold.buyer].held -= hold.size();
        for line in hold.area_lines() {
            self.areas[usize::from(line.area)].held -= line.count;
        }
        (index, hold)
    }

    fn unlink(&mut self, index: u32, next: u32, buyer: u32) {
        if self.buyers[buyer].first_hold == index {
            self.buyers[buyer].first_hold = next;
            return;
        }
        let mut at = self.buyers[buyer].first_hold;
        while at != NONE {
            if self.holds[at].next == index {
                self.holds[at].next = next;
                return;
            }
            at = self.holds[at].next;
        }
        panic!("a hold is in its buyer's list");
    }

    fn end_hold(&mut self, id: HoldId, end: End, at: Millis) {
        let (_, hold) = self.take_hold(id);
        hold.seats().iter().for_each(|line| self.change(line.seat, free));
        self.forget_buyer_if_idle(hold.buyer);
        self.ended.remember(id, end, at);
    }

    fn reassign(&mut self, id: HoldId, holder: &NewHolder, fence: u64, at: Millis) {
        let (_, hold) = self.take_hold(id);
        hold.seats().iter().for_each(|line| self.change(line.seat, free));
        let granted = GrantedHold {
            id,
            buyer: &holder.buyer,
            seats: hold.seats(),
            areas: hold.area_lines(),
            until: holder.until,
            offered: false,
        };
        self.grant(granted, fence, at);
        self.forget_buyer_if_idle(hold.buyer);
        // Nobody waits for what they hold.
        let holder = self.buyer_index(&holder.buyer);
        for line in hold.seats() {
            let queue = self.queues.get(&line.seat).map_or(&[][..], Vec::as_slice);
            let own = queue.iter().map(|index| &self.places[*index]);
            if let Some(id) = own.filter(|place| Some(place.buyer) == holder).map(|place| place.id).next() {
                self.end_place(id, End::Dissolved, at);
            }
        }
    }

    fn sell(&mut self, id: HoldId, order: OrderId, fence: u64, at: Millis) {
        let (_, hold) = self.take_hold(id);
        self.buyers[hold.buyer].sold += hold.size();
        let (seats, areas) = (hold.seats().to_vec(), hold.area_lines().to_vec());
        areas.iter().for_each(|line| self.areas[usize::from(line.area)].sold += line.count);
        let index = self.insert_order(Order {
            id: order,
            fence,
            buyer: hold.buyer,
            hold: id,
            at,
            total_minor: hold.total_minor(),
            seats,
            areas,
        });
        for line in hold.seats() {
            self.change(line.seat, |state| {
                state.grip = Grip::Sold;
                state.by = index;
            });
            self.dissolve(line.seat, at);
        }
        self.ended.remember(id, End::Confirmed, at);
    }

    pub(super) fn insert_order(&mut self, order: Order) -> u32 {
        let (id, fence, open) = (order.id, order.fence, !(order.seats.is_empty() && order.areas.is_empty()));
        self.buyers[order.buyer].ordered = true;
        let index = self.orders.insert(order);
        self.order_by_id.insert(id, index);
        if open {
            self.open_orders.insert(fence, index);
        }
        index
    }

    fn refund(&mut self, id: OrderId, seats: &[SeatIndex], areas: &[AreaCount]) {
        let index = self.order_by_id[&id];
        let order = &mut self.orders[index];
        let buyer = order.buyer;
        order.seats.retain(|line| !seats.contains(&line.seat));
        for away in areas {
            places::take(&mut order.areas, *away).expect("refunded places were sold");
        }
        if order.seats.is_empty() && order.areas.is_empty() {
            self.open_orders.remove(&order.fence);
        }
        seats.iter().for_each(|seat| self.change(*seat, free));
        areas.iter().for_each(|away| self.areas[usize::from(away.area)].sold -= away.count);
        self.buyers[buyer].sold -= seats.len() as u32 + areas.iter().map(|away| away.count).sum::<u32>();
    }

    /// The buyer's small number here, made on first sight.
    pub(super) fn intern(&mut self, id: &BuyerId) -> u32 {
        if let Some(index) = self.buyer_index(id) {
            return index;
        }
        let buyer =
            Buyer { name: id.as_str().into(), held: 0, sold: 0, first_hold: NONE, places: 0, ordered: false };
        let index = self.buyers.insert(buyer);
        let (hasher, buyers) = (&self.hasher, &self.buyers);
        self.buyer_by_id.insert_unique(hasher.hash_one(id.as_str()), index, |known| {
            hasher.hash_one(&*buyers[*known].name)
        });
        index
    }

    /// A buyer with nothing left is forgotten; one with orders stays, because they count against the limit.
    fn forget_buyer_if_idle(&mut self, index: u32) {
        let buyer = &self.buyers[index];
        if buyer.held + buyer.sold + u32::from(buyer.places) > 0 || buyer.ordered {
            return;
        }
        let hash = self.hasher.hash_one(&*buyer.name);
        if let Ok(entry) = self.buyer_by_id.find_entry(hash, |known| *known == index) {
            entry.remove();
        }
        self.buyers.remove(index);
    }

    /// Takes a place out of its queue and every list.
    fn take_place(&mut self, id: HoldId) -> QueuePlace {
        let index = self.place_by_id.remove(&id).expect("a fact names a place that lives");
        let place = self.places.remove(index);
        self.due.remove(place.until, place.fence);
        self.buyers[place.buyer].places -= 1;
        if let Some(queue) = self.queues.get_mut(&place.seat) {
            queue.retain(|known| *known != index);
            if queue.is_empty() {
                self.queues.remove(&place.seat);
            }
        }
        place
    }

    fn end_place(&mut self, id: HoldId, end: End, at: Millis) {
        let place = self.take_place(id);
        self.forget_buyer_if_idle(place.buyer);
        self.ended.remember(id, end, at);
    }

    /// Ends every place in a seat's queue.
    fn dissolve(&mut self, seat: SeatIndex, at: Millis) {
        while let Some(first) = self.queues.get(&seat).and_then(|queue| queue.first()).copied() {
            let id = self.places[first].id;
            self.end_place(id, End::Dissolved, at);
        }
    }
}

struct GrantedHold<'a> {
    id: HoldId,
    buyer: &'a BuyerId,
    seats: &'a [SeatLine],
    areas: &'a [AreaLine],
    until: Millis,
    offered: bool,
}

fn free(state: &mut SeatState) {
    state.grip = Grip::Free;
    state.by = NONE;
}
