//! Place a hold: 1–20 seats and general-admission places, all or nothing, the price fixed now.

use std::borrow::Cow;

use super::command::{Pick, PlaceHold};
use super::fact::{AreaCount, AreaLine, EventFact, SeatLine};
use super::state::{Seats, Status};
use super::{Decision, best_available, places};
use crate::event::EventStatus;
use crate::field::Field;
use crate::id::{BuyerId, SeatIndex};
use crate::limits::{HOLD_MS_MAX, HOLD_MS_MIN, HOLD_PLACES_MAX};
use crate::outcome::Outcome;
use crate::refusal::{Code, InTheWay, Refusal};
use crate::time::Millis;

pub(super) fn decide(seats: &Seats, command: &PlaceHold, now: Millis) -> Result<Decision, Refusal> {
    if let Err(refusal) = on_sale(seats) {
        return already_theirs(seats, command).ok_or(refusal);
    }
    let hold_ms = command.hold_ms.unwrap_or(seats.details.rules.hold_ms);
    let (picked, pieces) = match &command.pick {
        Pick::Seats(picked) => {
            if let Some(unknown) = unknown_seats(seats, picked) {
                return Err(unknown);
            }
            (Cow::Borrowed(picked.as_slice()), 0)
        }
        Pick::Best(wish) => {
            let chosen = best_available::choose(&seats.house(), wish);
            let (picked, pieces) = chosen.ok_or(Refusal::of(Code::NotEnoughSeats))?;
            (Cow::Owned(picked), pieces)
        }
    };
    known_areas(seats, &command.areas, Field::AreaName)?;
    if let Some(mine) = exactly_mine(seats, command, &picked) {
        return Ok(Decision::Outcome(Outcome::AlreadyYours(Box::new(seats.hold_state(mine)))));
    }
    if seats.knows(command.hold, now) {
        return Err(Refusal::of(Code::IdTaken));
    }
    may_take(seats, &command.buyer, &picked, &command.areas)?;
    if pieces == 0 {
        leaves_no_single(seats, &picked)?;
    }
    let (lines, areas) = priced(seats, &picked, &command.areas);
    Ok(Decision::Fact(EventFact::HoldPlaced {
        hold: command.hold,
        buyer: command.buyer.clone(),
        seats: lines,
        areas,
        until: now + hold_ms,
        pieces,
    }))
}

/// The sale is over, but what the buyer holds may be finished: it is still told to be theirs.
fn already_theirs(seats: &Seats, command: &PlaceHold) -> Option<Decision> {
    let Pick::Seats(picked) = &command.pick else { return None };
    if seats.status == EventStatus::Cancelled || unknown_seats(seats, picked).is_some() {
        return None;
    }
    let mine = exactly_mine(seats, command, picked)?;
    Some(Decision::Outcome(Outcome::AlreadyYours(Box::new(seats.hold_state(mine)))))
}

pub(super) fn check(command: &PlaceHold) -> Result<(), Refusal> {
    let named = match &command.pick {
        Pick::Seats(picked) => {
            if let Some(n) = (1..picked.len()).find(|n| picked[..*n].contains(&picked[*n])) {
                return Err(Refusal::invalid(Field::Seat.at(&[n]), "the same seat twice"));
            }
            picked.len() as u32
        }
        Pick::Best(wish) if !(1..=HOLD_PLACES_MAX).contains(&wish.count) => {
            return Err(Refusal::invalid(Field::PickCount, "1 to 20 seats"));
        }
        Pick::Best(wish) => wish.count,
    };
    for (n, line) in command.areas.iter().enumerate() {
        if line.count == 0 || line.count > HOLD_PLACES_MAX {
            return Err(Refusal::invalid(Field::AreaCount.at(&[n]), "1 to 20 places"));
        }
        if command.areas[..n].iter().any(|before| before.area == line.area) {
            return Err(Refusal::invalid(Field::AreaName.at(&[n]), "the same area twice"));
        }
    }
    let asked = named.saturating_add(places::asked_in(&command.areas));
    if !(1..=HOLD_PLACES_MAX).contains(&asked) {
        return Err(Refusal::invalid(Field::Seats, "1 to 20 seats and places in one hold"));
    }
    if command.hold_ms.is_some_and(|ms| !(HOLD_MS_MIN..=HOLD_MS_MAX).contains(&ms)) {
        return Err(Refusal::invalid(Field::HoldMs, "30 to 900 seconds"));
    }
    Ok(())
}

/// The refusal of areas that do not exist names the first of them.
pub(super) fn known_areas(seats: &Seats, areas: &[AreaCount], field: Field) -> Result<(), Refusal> {
    let Some(n) = areas.iter().position(|line| seats.chart.area(line.area).is_none()) else { return Ok(()) };
    let detail = Refusal::invalid(field.at(&[n]), "no such area").detail;
    Err(Refusal { detail, ..Refusal::of(Code::AreaUnknown) })
}

/// Whether all of it is free, and within the buyer's limit.
pub(super) fn may_take(
    seats: &Seats,
    buyer: &BuyerId,
    picked: &[SeatIndex],
    areas: &[AreaCount],
) -> Result<(), Refusal> {
    Refusal::in_the_way(obstacles(seats, buyer, picked, areas))?;
    let asked = picked.len() as u32 + places::asked_in(areas);
    let (limit, taken) = (seats.details.rules.buyer_limit, seats.taken_by(buyer));
    if taken + asked > limit {
        return Err(Refusal::limit(Code::BuyerLimit, limit, taken));
    }
    Ok(())
}

/// Whether an event that refuses single seats would be left with one by these.
pub(super) fn leaves_no_single(seats: &Seats, picked: &[SeatIndex]) -> Result<(), Refusal> {
    if seats.details.rules.refuse_single_seats
        && let Some(single) = best_available::leaves_single(&seats.house(), picked)
    {
        return Err(Refusal::seat(single, Code::LeavesSingleSeat));
    }
    Ok(())
}

/// Seats and places with the prices of now.
pub(super) fn priced(
    seats: &Seats,
    picked: &[SeatIndex],
    areas: &[AreaCount],
) -> (Vec<SeatLine>, Vec<AreaLine>) {
    let price = |seat: &SeatIndex| SeatLine { seat: *seat, price_minor: seats.price_of_seat(*seat) };
    let area = |line: &AreaCount| AreaLine {
        area: line.area,
        count: line.count,
        price_minor: seats.chart.area(line.area).map_or(0, |area| seats.price_of_tier(area.tier)),
    };
    (picked.iter().map(price).collect(), areas.iter().map(area).collect())
}

/// New holds and queue places only while the event is on sale.
pub(super) fn on_sale(seats: &Seats) -> Result<(), Refusal> {
    match seats.status {
        EventStatus::OnSale => Ok(()),
        EventStatus::Draft | EventStatus::Scheduled | EventStatus::Postponed => {
            Err(Refusal::of(Code::SaleNotStarted))
        }
        EventStatus::Closed | EventStatus::Completed => Err(Refusal::of(Code::SaleClosed)),
        EventStatus::Cancelled => Err(Refusal::of(Code::EventCancelled)),
    }
}

/// The refusal naming every seat that does not exist.
pub(super) fn unknown_seats(seats: &Seats, picked: &[SeatIndex]) -> Option<Refusal> {
    let unknown = picked.iter().filter(|seat| seats.chart.seat(**seat).is_none());
    Refusal::in_the_way(unknown.map(|seat| InTheWay::Seat(*seat, Code::SeatUnknown)).collect()).err()
}

/// The buyer's hold of exactly these seats and places. Places alone have no names, so they never match.
fn exactly_mine(seats: &Seats, command: &PlaceHold, picked: &[SeatIndex]) -> Option<u32> {
    // Whether the seat is held at all is cheaper to ask than who the buyer is.
    let held = seats.holder(*picked.first()?)?;
    let buyer = seats.buyer_index(&command.buyer)?;
    let hold = &seats.holds[held];
    let same_seats = hold.seats().len() == picked.len()
        && picked.iter().all(|seat| hold.seats().iter().any(|line| line.seat == *seat));
    let lines = hold.area_lines();
    let same_areas = hold.size() == picked.len() as u32 + places::asked_in(&command.areas)
        && command.areas.iter().all(|asked| places::count_in(lines, asked.area) == asked.count);
    (hold.buyer == buyer && same_seats && same_areas).then_some(held)
}

/// Everything in the way, in the order asked.
fn obstacles(seats: &Seats, buyer: &BuyerId, picked: &[SeatIndex], areas: &[AreaCount]) -> Vec<InTheWay> {
    let of_seat = |seat: &SeatIndex| {
        let code = match seats.seat_status(*seat) {
            Status::Available => return None,
            Status::Sold => Code::SeatSold,
            Status::Blocked => Code::SeatBlocked,
            Status::Held => match seats.holder(*seat) {
                Some(hold) if Some(seats.holds[hold].buyer) == seats.buyer_index(buyer) => Code::AlreadyYours,
                Some(_) | None => Code::SeatHeld,
            },
        };
        Some(InTheWay::Seat(*seat, code))
    };
    let of_area = |line: &AreaCount| {
        let full = seats.areas[usize::from(line.area)].available() < line.count;
        full.then_some(InTheWay::Area(line.area, Code::AreaFull))
    };
    picked.iter().filter_map(of_seat).chain(areas.iter().filter_map(of_area)).collect()
}
