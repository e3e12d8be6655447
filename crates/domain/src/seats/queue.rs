//! Join, renew and leave the queue of a seat that somebody else holds.

use super::Decision;
use super::command::{JoinQueue, LeaveQueue};
use super::fact::EventFact;
use super::place_hold::{on_sale, unknown_seats};
use super::state::{Due, QueuePlace, Seats, Status};
use crate::id::{BuyerId, SeatIndex};
use crate::limits::{PLACE_MS, PLACE_RENEW_BELOW_MS, QUEUE_PER_SEAT_MAX, QUEUE_PLACES_PER_BUYER_MAX};
use crate::outcome::{Outcome, PlaceState};
use crate::refusal::{Code, Refusal};
use crate::time::{Millis, is_over};

pub(super) fn join(seats: &Seats, command: &JoinQueue, now: Millis) -> Result<Decision, Refusal> {
    // Nobody waits outside the sale: whatever ends it dissolves the queues, so no heartbeat is turned away.
    on_sale(seats)?;
    if let Some(unknown) = unknown_seats(seats, &[command.seat]) {
        return Err(unknown);
    }
    if let Some(place) = place_of(seats, command.seat, &command.buyer, now) {
        if place.until - now > PLACE_RENEW_BELOW_MS {
            return Ok(Decision::Outcome(Outcome::StillQueued(Box::new(place))));
        }
        let renewed =
            EventFact::PlaceRenewed { place: place.place, until: now + PLACE_MS, ahead: place.ahead };
        return Ok(Decision::Fact(renewed));
    }
    let buyer = seats.buyer_index(&command.buyer);
    match seats.seat_status(command.seat) {
        Status::Available => return Err(Refusal::seat(command.seat, Code::SeatAvailable)),
        Status::Sold => return Err(Refusal::seat(command.seat, Code::SeatSold)),
        Status::Blocked => return Err(Refusal::seat(command.seat, Code::SeatBlocked)),
        Status::Held => {}
    }
    let holder = seats.holder(command.seat).map(|hold| seats.holds[hold].buyer);
    if buyer.is_some() && holder == buyer {
        return Err(Refusal::seat(command.seat, Code::AlreadyYours));
    }
    let waiting = seats.queues.get(&command.seat).map_or(0, Vec::len);
    if waiting >= QUEUE_PER_SEAT_MAX {
        return Err(Refusal::limit(Code::QueueFull, QUEUE_PER_SEAT_MAX as u32, waiting as u32));
    }
    let mut places = buyer.map_or(0, |index| u32::from(seats.buyers[index].places));
    if places >= QUEUE_PLACES_PER_BUYER_MAX {
        places -= dead_places(seats, buyer, now);
    }
    if places >= QUEUE_PLACES_PER_BUYER_MAX {
        return Err(Refusal::limit(Code::QueueLimit, QUEUE_PLACES_PER_BUYER_MAX, places));
    }
    if seats.knows(command.place, now) {
        return Err(Refusal::of(Code::IdTaken));
    }
    Ok(Decision::Fact(EventFact::QueueJoined {
        place: command.place,
        seat: command.seat,
        buyer: command.buyer.clone(),
        until: now + PLACE_MS,
        ahead: waiting as u32,
    }))
}

pub(super) fn leave(seats: &Seats, command: &LeaveQueue) -> Result<EventFact, Refusal> {
    if let Some(unknown) = unknown_seats(seats, &[command.seat]) {
        return Err(unknown);
    }
    // Places that were due have been expired by their own facts before we are asked.
    let place =
        place_of(seats, command.seat, &command.buyer, Millis::MIN).ok_or(Refusal::of(Code::PlaceUnknown))?;
    Ok(EventFact::QueueLeft { place: place.place, buyer: command.buyer.clone(), seat: command.seat })
}

/// Places of a buyer that are over, though nobody has said so yet.
fn dead_places(seats: &Seats, buyer: Option<u32>, now: Millis) -> u32 {
    let due = seats.due.over(now).filter(|due| match due {
        Due::Place(index) => Some(seats.places[*index].buyer) == buyer,
        Due::Hold(_) => false,
    });
    due.count() as u32
}

/// The buyer's living place in a seat's queue; its position counts the living in front.
pub(super) fn place_of(seats: &Seats, seat: SeatIndex, buyer: &BuyerId, now: Millis) -> Option<PlaceState> {
    let buyer = seats.buyer_index(buyer)?;
    living_place(seats, seat, now, |place| place.buyer == buyer)
}

/// The first living place in a seat's queue that is meant, with how many living ones are in front.
pub(super) fn living_place(
    seats: &Seats,
    seat: SeatIndex,
    now: Millis,
    is_meant: impl Fn(&QueuePlace) -> bool,
) -> Option<PlaceState> {
    let mut ahead = 0;
    for index in seats.queues.get(&seat)? {
        let place = &seats.places[*index];
        if is_over(place.until, now) {
            continue;
        }
        if is_meant(place) {
            return Some(PlaceState { place: place.id, seat, until: place.until, ahead });
        }
        ahead += 1;
    }
    None
}
