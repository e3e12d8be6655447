//! Add seats and places to a hold that lives, all or nothing, under the limits and refusals of a new one. The deadline
//! stays; the fence rises, so that whoever knows the hold as it was changes nothing any more.

use super::Decision;
use super::command::GrowHold;
use super::fact::EventFact;
use super::place_hold::{known_areas, leaves_no_single, may_take, on_sale, priced, unknown_seats};
use super::places;
use super::release_hold::{not_cancelled, own_hold};
use super::state::Seats;
use crate::field::Field;
use crate::id::SeatIndex;
use crate::limits::{HOLD_PLACES_MAX, HOLD_PLACES_MAX_WHY};
use crate::outcome::Outcome;
use crate::refusal::Refusal;
use crate::time::Millis;

pub(super) fn check(command: &GrowHold) -> Result<(), Refusal> {
    if command.seats.is_empty() && command.areas.is_empty() {
        return Err(Refusal::invalid(Field::AddedSeats, "names at least one seat or area"));
    }
    if let Some(n) = (1..command.seats.len()).find(|n| command.seats[..*n].contains(&command.seats[*n])) {
        return Err(Refusal::invalid(Field::AddedSeat.at(&[n]), "the same seat twice"));
    }
    for (n, line) in command.areas.iter().enumerate() {
        let before = &command.areas[..n];
        if !(1..=HOLD_PLACES_MAX).contains(&line.count) || before.iter().any(|one| one.area == line.area) {
            return Err(Refusal::invalid(Field::AddedArea.at(&[n]), "each area once, with 1 to 20 places"));
        }
    }
    Ok(())
}

pub(super) fn decide(seats: &Seats, command: &GrowHold, now: Millis) -> Result<Decision, Refusal> {
    not_cancelled(seats)?;
    let index = own_hold(seats, &command.key, now)?;
    let hold = &seats.holds[index];
    let has = |seat: &SeatIndex| hold.seats().iter().any(|line| line.seat == *seat);
    let more: Vec<SeatIndex> = command.seats.iter().copied().filter(|seat| !has(seat)).collect();
    if more.is_empty() && command.areas.is_empty() {
        return Ok(Decision::Outcome(Outcome::AlreadyYours(Box::new(seats.hold_state(index)))));
    }
    on_sale(seats)?;
    if let Some(unknown) = unknown_seats(seats, &more) {
        return Err(unknown);
    }
    known_areas(seats, &command.areas, Field::AddedArea)?;
    let size = hold.size().saturating_add(more.len() as u32 + places::asked_in(&command.areas));
    if size > HOLD_PLACES_MAX {
        return Err(Refusal::invalid(Field::AddedSeats, HOLD_PLACES_MAX_WHY));
    }
    let buyer = seats.buyers[hold.buyer].id();
    may_take(seats, &buyer, &more, &command.areas)?;
    // What the hold has counts as taken: beside it and what is added no seat is left alone.
    leaves_no_single(seats, &more)?;
    let (lines, areas) = priced(seats, &more, &command.areas);
    let mut after = seats.hold_after(index);
    after.seats.extend_from_slice(&lines);
    places::add(&mut after.areas, &areas);
    let after = Box::new(after);
    Ok(Decision::Fact(EventFact::HoldGrown { hold: hold.id, buyer, seats: lines, areas, after }))
}
