//! Drop single seats or places from a hold; the rest stays as it was, fence and deadline included.

use super::command::DropSeats;
use super::fact::EventFact;
use super::places;
use super::state::Seats;
use crate::field::Field;
use crate::refusal::{Code, InTheWay, Refusal};
use crate::time::Millis;

pub(super) fn check(command: &DropSeats) -> Result<(), Refusal> {
    if command.seats.is_empty() && command.areas.is_empty() {
        return Err(Refusal::invalid(Field::DroppedSeats, "names at least one seat or area"));
    }
    if let Some(n) = (1..command.seats.len()).find(|n| command.seats[..*n].contains(&command.seats[*n])) {
        return Err(Refusal::invalid(Field::DroppedSeat.at(&[n]), "the same seat twice"));
    }
    for (n, line) in command.areas.iter().enumerate() {
        if line.count == 0 || command.areas[..n].iter().any(|before| before.area == line.area) {
            return Err(Refusal::invalid(
                Field::DroppedArea.at(&[n]),
                "each area once, with at least one place",
            ));
        }
    }
    Ok(())
}

pub(super) fn decide(seats: &Seats, command: &DropSeats, now: Millis) -> Result<EventFact, Refusal> {
    super::release_hold::not_cancelled(seats)?;
    let index = super::release_hold::own_hold(seats, &command.key, now)?;
    let hold = &seats.holds[index];
    let foreign = command.seats.iter().filter(|seat| !hold.seats().iter().any(|line| line.seat == **seat));
    let foreign = foreign.map(|seat| InTheWay::Seat(*seat, Code::SeatNotInHold));
    let too_many =
        command.areas.iter().filter(|away| places::count_in(hold.area_lines(), away.area) < away.count);
    let too_many = too_many.map(|away| InTheWay::Area(away.area, Code::SeatNotInHold));
    Refusal::in_the_way(foreign.chain(too_many).collect())?;
    let dropped = command.seats.len() as u32 + places::asked_in(&command.areas);
    if dropped == hold.size() {
        return Err(Refusal::invalid(
            Field::DroppedSeats,
            "leaves at least one place; release the hold to give back all",
        ));
    }
    let mut after = seats.hold_after(index);
    after.seats.retain(|line| !command.seats.contains(&line.seat));
    for away in &command.areas {
        places::take(&mut after.areas, *away).expect("what is dropped is in the hold");
    }
    let (dropped, areas) = (command.seats.clone(), command.areas.clone());
    Ok(EventFact::SeatsDropped { hold: hold.id, seats: dropped, areas, after: Box::new(after) })
}
