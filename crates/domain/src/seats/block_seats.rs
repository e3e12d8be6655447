//! Block and unblock seats, and free places of general-admission areas. Rows and sections are spelled out
//! into seats at the edge. A block on a held or sold seat waits behind it: the seat comes back blocked.

use super::Decision;
use super::command::{BlockSeats, UnblockSeats};
use super::fact::{AreaCount, EventFact};
use super::place_hold::unknown_seats;
use super::state::Seats;
use crate::field::Field;
use crate::fields::check_reason;
use crate::id::SeatIndex;
use crate::limits::SEATS_MAX;
use crate::outcome::Outcome;
use crate::refusal::{Code, InTheWay, Refusal};

pub(super) fn block(seats: &Seats, command: &BlockSeats) -> Result<Decision, Refusal> {
    known(seats, &command.seats, &command.areas)?;
    let too_few =
        command.areas.iter().filter(|line| seats.areas[usize::from(line.area)].available() < line.count);
    Refusal::in_the_way(too_few.map(|line| InTheWay::Area(line.area, Code::AreaFull)).collect())?;
    let fresh = changed(seats, &command.seats, true);
    if fresh.is_empty() && command.areas.is_empty() {
        return Ok(Decision::Outcome(Outcome::Unchanged));
    }
    let (areas, reason) = (command.areas.clone(), command.reason.clone());
    Ok(Decision::Fact(EventFact::SeatsBlocked { seats: fresh, areas, reason }))
}

pub(super) fn unblock(seats: &Seats, command: &UnblockSeats) -> Result<Decision, Refusal> {
    known(seats, &command.seats, &command.areas)?;
    for (n, line) in command.areas.iter().enumerate() {
        if seats.areas[usize::from(line.area)].blocked < line.count {
            return Err(Refusal::invalid(Field::AreaCount.at(&[n]), "not more places than are blocked"));
        }
    }
    let blocked = changed(seats, &command.seats, false);
    if blocked.is_empty() && command.areas.is_empty() {
        return Ok(Decision::Outcome(Outcome::Unchanged));
    }
    Ok(Decision::Fact(EventFact::SeatsUnblocked { seats: blocked, areas: command.areas.clone() }))
}

pub(super) fn check_block(command: &BlockSeats) -> Result<(), Refusal> {
    check_reason(&command.reason)?;
    check(&command.seats, &command.areas)
}

pub(super) fn check(named: &[SeatIndex], areas: &[AreaCount]) -> Result<(), Refusal> {
    if named.is_empty() && areas.is_empty() {
        return Err(Refusal::invalid(Field::Seats, "names at least one seat, row, section or area"));
    }
    if named.len() > SEATS_MAX {
        return Err(Refusal::invalid(Field::Seats, "at most 100,000 seats"));
    }
    for (n, line) in areas.iter().enumerate() {
        if line.count == 0 || areas[..n].iter().any(|before| before.area == line.area) {
            return Err(Refusal::invalid(Field::Area.at(&[n]), "each area once, with at least one place"));
        }
    }
    Ok(())
}

fn known(seats: &Seats, named: &[SeatIndex], areas: &[AreaCount]) -> Result<(), Refusal> {
    if let Some(unknown) = unknown_seats(seats, named) {
        return Err(unknown);
    }
    if areas.iter().any(|line| seats.chart.area(line.area).is_none()) {
        return Err(Refusal::of(Code::AreaUnknown));
    }
    Ok(())
}

/// The seats whose block really changes, each once, by index.
fn changed(seats: &Seats, named: &[SeatIndex], blocked: bool) -> Vec<SeatIndex> {
    let mut fresh: Vec<SeatIndex> = named.to_vec();
    fresh.sort_unstable();
    fresh.dedup();
    fresh.retain(|seat| seats.seats[*seat as usize].blocked != blocked);
    fresh
}
