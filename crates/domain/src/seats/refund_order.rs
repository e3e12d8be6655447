//! Refund an order, wholly or in part: the only way a sold seat comes back.

use super::command::RefundOrder;
use super::fact::EventFact;
use super::places;
use super::state::Seats;
use crate::field::Field;
use crate::fields::check_reason;
use crate::refusal::{Code, InTheWay, Refusal};

pub(super) fn check(command: &RefundOrder) -> Result<(), Refusal> {
    if let Some(n) = (1..command.seats.len()).find(|n| command.seats[..*n].contains(&command.seats[*n])) {
        return Err(Refusal::invalid(Field::Seat.at(&[n]), "the same seat twice"));
    }
    for (n, away) in command.areas.iter().enumerate() {
        if away.count == 0 || command.areas[..n].iter().any(|before| before.area == away.area) {
            return Err(Refusal::invalid(Field::Area.at(&[n]), "each area once, with at least one place"));
        }
    }
    check_reason(&command.reason)
}

pub(super) fn decide(seats: &Seats, command: &RefundOrder) -> Result<EventFact, Refusal> {
    let index = *seats.order_by_id.get(&command.order).ok_or(Refusal::of(Code::OrderUnknown))?;
    let order = &seats.orders[index];
    if order.seats.is_empty() && order.areas.is_empty() {
        return Err(Refusal::of(Code::NotRefundable));
    }
    if command.seats.is_empty() && command.areas.is_empty() {
        return Ok(all_of(seats, index, &command.reason));
    }
    let mut amount_minor = 0;
    let mut foreign = Vec::new();
    for seat in &command.seats {
        match order.seats.iter().find(|line| line.seat == *seat) {
            Some(line) => amount_minor += line.price_minor,
            None => foreign.push(InTheWay::Seat(*seat, Code::NotRefundable)),
        }
    }
    let mut areas = order.areas.clone();
    for away in &command.areas {
        match places::take(&mut areas, *away) {
            Some(price_minor) => amount_minor += price_minor,
            None => foreign.push(InTheWay::Area(away.area, Code::NotRefundable)),
        }
    }
    Refusal::in_the_way(foreign)?;
    Ok(EventFact::OrderRefunded {
        order: command.order,
        seats: command.seats.clone(),
        areas: command.areas.clone(),
        amount_minor,
        reason: command.reason.clone(),
    })
}

/// The refund of all that is left of an order.
pub(super) fn all_of(seats: &Seats, index: u32, reason: &str) -> EventFact {
    let order = &seats.orders[index];
    let of_seats: i64 = order.seats.iter().map(|line| line.price_minor).sum();
    let of_areas: i64 = order.areas.iter().map(|line| line.price_minor * i64::from(line.count)).sum();
    EventFact::OrderRefunded {
        order: order.id,
        seats: order.seats.iter().map(|line| line.seat).collect(),
        areas: places::by_area(&order.areas),
        amount_minor: of_seats + of_areas,
        reason: reason.to_owned(),
    }
}
