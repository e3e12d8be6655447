//! What must be true of an event's seats after every fact, counted again from scratch. Slow on purpose:
//! tests, the simulation and `onsale verify` ask, the writers never do.

use std::collections::{BTreeMap, BTreeSet};

use super::state::{Due, Grip, NONE, Seats, Status};
use crate::limits::{QUEUE_PER_SEAT_MAX, QUEUE_PLACES_PER_BUYER_MAX};

/// The first thing that is not as it must be, in words.
pub fn check(seats: &Seats) -> Result<(), String> {
    check_counts(seats)?;
    check_seats_and_holds(seats)?;
    check_orders(seats)?;
    check_areas(seats)?;
    check_queues(seats)?;
    check_due(seats)?;
    check_buyers(seats)
}

macro_rules! ensure {
    ($condition:expr, $($why:tt)*) => {
        if !$condition {
            return Err(format!($($why)*));
        }
    };
}

fn check_counts(seats: &Seats) -> Result<(), String> {
    let chart = &seats.chart;
    ensure!(
        seats.seats.len() == chart.seats_len(),
        "{} seats, chart {}",
        seats.seats.len(),
        chart.seats_len()
    );
    ensure!(seats.areas.len() == chart.areas.len(), "areas and chart differ");
    let mut cells = vec![[0u32; 4]; chart.cells_len()];
    let mut rows = vec![0u32; chart.rows.len()];
    for (index, info) in chart.all_seats() {
        let status = seats.seats[index as usize].status();
        let shown = Status::in_bits(&seats.bits, index);
        if info.retired {
            ensure!(shown == Status::Blocked, "retired seat {index} shows {shown:?}");
            ensure!(seats.seats[index as usize].grip == Grip::Free, "retired seat {index} is taken");
            continue;
        }
        ensure!(shown == status, "seat {index} is {status:?}, its bits say {shown:?}");
        cells[chart.cell(info.section, info.tier.into())][status as usize] += 1;
        rows[info.row as usize] += u32::from(status == Status::Available);
        let place = chart.rows[info.row as usize].seats.get(usize::from(info.place));
        ensure!(place == Some(&index), "seat {index} is not where its row says");
    }
    ensure!(cells == seats.cells, "counts {:?}, recounted {cells:?}", seats.cells);
    ensure!(rows == seats.row_available, "row tallies {:?}, recounted {rows:?}", seats.row_available);
    let total: u32 = seats.cells.iter().flatten().sum();
    let living = chart.all_seats().filter(|(_, info)| !info.retired).count();
    ensure!(total as usize == living, "available + held + sold + blocked = {total} of {living}");
    Ok(())
}

/// Each held seat's hold lists it, and each hold's seats are held by it.
fn check_seats_and_holds(seats: &Seats) -> Result<(), String> {
    let mut held = 0;
    for hold in seats.holds.values() {
        ensure!(hold.size() > 0, "hold {:?} is empty", hold.id);
        ensure!(hold.until > hold.placed_at(), "hold {:?} ends before it begins", hold.id);
        let index = seats.hold_index(hold.id);
        ensure!(index.is_some_and(|index| seats.holds[index].fence == hold.fence), "{:?} not found", hold.id);
        ensure!(!seats.place_by_id.contains_key(&hold.id), "{:?} is a hold and a place", hold.id);
        for line in hold.seats() {
            let state = seats.seats[line.seat as usize];
            ensure!(
                state.grip == Grip::Held && Some(state.by) == index,
                "hold {:?} lists seat {}, which is {:?} by {}",
                hold.id,
                line.seat,
                state.grip,
                state.by
            );
            held += 1;
        }
    }
    let marked = seats.seats.iter().filter(|state| state.grip == Grip::Held).count();
    ensure!(marked == held, "{marked} seats are held, holds list {held}");
    ensure!(seats.hold_by_id.len() == seats.holds.len(), "holds and their index differ");
    let free = seats.seats.iter().find(|state| state.grip == Grip::Free && state.by != NONE);
    ensure!(free.is_none(), "a free seat still points at somebody");
    Ok(())
}

/// Each sold seat belongs to one order; open orders are those with something left.
fn check_orders(seats: &Seats) -> Result<(), String> {
    let mut sold = 0;
    let mut open = 0;
    for order in seats.orders.values() {
        let index = seats.order_by_id.get(&order.id).copied();
        ensure!(
            index.is_some_and(|index| seats.orders[index].fence == order.fence),
            "{:?} not found",
            order.id
        );
        for line in &order.seats {
            let state = seats.seats[line.seat as usize];
            ensure!(
                state.grip == Grip::Sold && Some(state.by) == index,
                "order {:?} lists seat {}, which is {:?}",
                order.id,
                line.seat,
                state.grip
            );
            sold += 1;
        }
        let is_open = !(order.seats.is_empty() && order.areas.is_empty());
        ensure!(
            seats.open_orders.get(&order.fence).copied() == index.filter(|_| is_open),
            "order {:?} is listed wrongly among the open ones",
            order.id
        );
        open += usize::from(is_open);
    }
    let marked = seats.seats.iter().filter(|state| state.grip == Grip::Sold).count();
    ensure!(marked == sold, "{marked} seats are sold, orders list {sold}");
    ensure!(open == seats.open_orders.len(), "{open} orders are open, {} listed", seats.open_orders.len());
    ensure!(seats.order_by_id.len() == seats.orders.len(), "orders and their index differ");
    Ok(())
}

fn check_areas(seats: &Seats) -> Result<(), String> {
    let mut held = vec![0u32; seats.areas.len()];
    let mut sold = vec![0u32; seats.areas.len()];
    for line in seats.holds.values().flat_map(|hold| hold.area_lines()) {
        ensure!(line.count > 0, "a hold has a line of no places");
        held[usize::from(line.area)] += line.count;
    }
    for line in seats.orders.values().flat_map(|order| &order.areas) {
        ensure!(line.count > 0, "an order has a line of no places");
        sold[usize::from(line.area)] += line.count;
    }
    for (index, state) in seats.areas.iter().enumerate() {
        ensure!(state.held == held[index], "area {index}: held {}, recounted {}", state.held, held[index]);
        ensure!(state.sold == sold[index], "area {index}: sold {}, recounted {}", state.sold, sold[index]);
        let taken = state.held + state.sold + state.blocked;
        ensure!(taken <= state.capacity, "area {index}: {taken} taken of {}", state.capacity);
        let capacity = seats.chart.area(index as u16).map_or(0, |area| area.capacity);
        ensure!(state.capacity == capacity, "area {index}: capacity {}, chart {capacity}", state.capacity);
    }
    Ok(())
}

/// Queues stand only before seats that somebody else holds; first come, first served, each buyer once.
fn check_queues(seats: &Seats) -> Result<(), String> {
    let mut places = 0;
    for (seat, queue) in &seats.queues {
        ensure!(
            !queue.is_empty() && queue.len() <= QUEUE_PER_SEAT_MAX,
            "queue of {} for {seat}",
            queue.len()
        );
        let status = seats.seat_status(*seat);
        ensure!(status == Status::Held, "a queue for seat {seat}, which is {status:?}");
        let holder = seats.holder(*seat).map(|hold| seats.holds[hold].buyer);
        let mut waiting = BTreeSet::new();
        let mut last = 0;
        for index in queue {
            let place = &seats.places[*index];
            ensure!(place.seat == *seat, "a place for seat {} in the queue of {seat}", place.seat);
            ensure!(place.fence > last, "the queue of seat {seat} is out of order");
            ensure!(waiting.insert(place.buyer), "a buyer waits twice for seat {seat}");
            ensure!(Some(place.buyer) != holder, "the holder of seat {seat} waits for it");
            ensure!(seats.place_by_id.get(&place.id) == Some(index), "place {:?} is not found", place.id);
            last = place.fence;
            places += 1;
        }
    }
    ensure!(places == seats.places.len(), "{places} places in queues of {}", seats.places.len());
    ensure!(places == seats.place_by_id.len(), "places and their index differ");
    Ok(())
}

/// Each hold and each place is due exactly once, at its own time.
fn check_due(seats: &Seats) -> Result<(), String> {
    for (until, fence, due) in seats.due.iter() {
        let own = match due {
            Due::Hold(index) => (seats.holds[index].until, seats.holds[index].fence),
            Due::Place(index) => (seats.places[index].until, seats.places[index].fence),
        };
        ensure!(own == (until, fence), "{due:?} is due at {until}, but ends at {}", own.0);
    }
    let living = seats.holds.len() + seats.places.len();
    ensure!(seats.due.len() == living, "{} deadlines for {living} holds and places", seats.due.len());
    Ok(())
}

#[derive(Default, PartialEq, Debug)]
struct Tally {
    held: u32,
    sold: u32,
    places: u32,
    ordered: bool,
    holds: usize,
}

fn check_buyers(seats: &Seats) -> Result<(), String> {
    let mut tallies: BTreeMap<u32, Tally> = BTreeMap::new();
    for hold in seats.holds.values() {
        let tally = tallies.entry(hold.buyer).or_default();
        tally.held += hold.size();
        tally.holds += 1;
    }
    for order in seats.orders.values() {
        let tally = tallies.entry(order.buyer).or_default();
        let areas: u32 = order.areas.iter().map(|line| line.count).sum();
        tally.sold += order.seats.len() as u32 + areas;
        tally.ordered = true;
    }
    for place in seats.places.values() {
        tallies.entry(place.buyer).or_default().places += 1;
    }
    for (index, tally) in &tallies {
        let buyer = &seats.buyers[*index];
        ensure!(seats.buyer_index(&buyer.id()) == Some(*index), "buyer {:?} is not found", buyer.name);
        let kept = Tally {
            held: buyer.held,
            sold: buyer.sold,
            places: u32::from(buyer.places),
            ordered: buyer.ordered,
            holds: seats.holds_of(*index).count(),
        };
        ensure!(kept == *tally, "buyer {:?} has {kept:?}, recounted {tally:?}", buyer.name);
        let own = seats.holds_of(*index).all(|hold| seats.holds[hold].buyer == *index);
        ensure!(own, "buyer {:?} lists a hold of another", buyer.name);
    }
    let known = seats.buyers.len();
    ensure!(known == tallies.len(), "{known} buyers are known, {} have anything", tallies.len());
    ensure!(seats.buyer_by_id.len() == known, "buyers and their index differ");
    Ok(())
}

impl Seats {
    /// Buyers with more living places than the limit at `now`: only staff, by an override or a lower limit,
    /// can bring that about.
    pub fn above_limit(&self, now: i64) -> Vec<(String, u32)> {
        let taken = self.buyers.values().map(|buyer| (buyer, self.living_taken(buyer, now)));
        let above = taken.filter(|(_, taken)| *taken > self.details.rules.buyer_limit);
        above.map(|(buyer, taken)| (buyer.name.to_string(), taken)).collect()
    }

    /// A buyer's dead places may outnumber the bound until a sweep; the living never do.
    pub fn above_queue_limit(&self, now: i64) -> bool {
        let mut living: BTreeMap<u32, u32> = BTreeMap::new();
        for place in self.places.values().filter(|place| place.until > now) {
            *living.entry(place.buyer).or_default() += 1;
        }
        living.values().any(|places| *places > QUEUE_PLACES_PER_BUYER_MAX)
    }
}
