//! An event's facts in the ledger's words, and the ledger's word against the event's own.

use onsale_domain::event::EventStatus;
use onsale_domain::seats::fact::AreaCount;
use onsale_domain::seats::{EventFact, Seats};

use super::books::{Books, VerifiedKind};
use super::money::Money;
use crate::cli::ledger::Line;

impl VerifiedKind for Seats {
    fn book(&self, books: &mut Books, fact: &EventFact, _at: i64) -> Result<(), String> {
        if let EventFact::ChartAdopted(_) = fact {
            return books.ledger.take(chart(self));
        }
        line(fact).map_or(Ok(()), |line| books.ledger.take(line))
    }

    fn move_money(money: &mut Money, fact: &EventFact) -> Result<(), String> {
        if let EventFact::HoldConfirmed { order, .. } = fact {
            return money.sold(*order);
        }
        let EventFact::OrderRefunded { order, seats, areas, amount_minor, .. } = fact else { return Ok(()) };
        let places = areas.iter().map(|line| u64::from(line.count)).sum::<u64>();
        money.returned(*order, seats.len() as u64 + places, *amount_minor)
    }

    fn agrees(&self, books: &Books) -> Result<(), String> {
        for seat in books.ledger.seats() {
            let (shown, booked) = (self.seat_status(*seat).as_str(), books.ledger.status(seat));
            if booked != Some(shown) {
                let name = self.chart().seat_id(*seat);
                return Err(format!(
                    "seat {name} is {shown}, but the facts say {}",
                    booked.unwrap_or("none")
                ));
            }
        }
        Ok(())
    }
}

/// The chart in the event's own numbers for seats and areas.
fn chart(seats: &Seats) -> Line<u32, u16> {
    let chart = seats.chart();
    let living = chart.all_seats().filter(|(_, seat)| !seat.retired).map(|(index, _)| index);
    let areas = chart.areas.iter().enumerate().filter(|(_, area)| !area.retired);
    let areas = areas.map(|(index, area)| (index as u16, u64::from(area.capacity)));
    Line::Chart { seats: living.collect(), areas: areas.collect() }
}

fn areas(lines: &[AreaCount]) -> Vec<(u16, u64)> {
    lines.iter().map(|line| (line.area, u64::from(line.count))).collect()
}

/// A fact in the ledger's words; `None` for what moves no place.
fn line(fact: &EventFact) -> Option<Line<u32, u16>> {
    Some(match fact {
        EventFact::HoldPlaced { hold, seats, areas, .. } => Line::Placed {
            hold: hold.0,
            seats: seats.iter().map(|line| line.seat).collect(),
            areas: areas.iter().map(|line| (line.area, u64::from(line.count))).collect(),
        },
        EventFact::HoldGrown { hold, seats, areas, .. } => Line::Grown {
            hold: hold.0,
            seats: seats.iter().map(|line| line.seat).collect(),
            areas: areas.iter().map(|line| (line.area, u64::from(line.count))).collect(),
        },
        EventFact::SeatsDropped { hold, seats, areas: lines, .. } => {
            Line::Dropped { hold: hold.0, seats: seats.clone(), areas: areas(lines) }
        }
        EventFact::HoldReleased { hold, .. }
        | EventFact::HoldExpired { hold, .. }
        | EventFact::HoldOverridden { hold, to: None, .. } => Line::Ended { hold: hold.0 },
        EventFact::HoldConfirmed { hold, order } => Line::Confirmed { hold: hold.0, order: order.0 },
        EventFact::OrderRefunded { order, seats, areas: lines, .. } => {
            Line::Refunded { order: order.0, seats: seats.clone(), areas: areas(lines) }
        }
        EventFact::SeatsBlocked { seats, areas: lines, .. } => {
            Line::Blocked { seats: seats.clone(), areas: areas(lines) }
        }
        EventFact::SeatsUnblocked { seats, areas: lines } => {
            Line::Unblocked { seats: seats.clone(), areas: areas(lines) }
        }
        EventFact::QueueJoined { place, seat, .. } => Line::Queued { place: place.0, seat: *seat },
        EventFact::QueueLeft { place, .. }
        | EventFact::PlaceExpired { place, .. }
        | EventFact::PlaceLost { place, .. } => Line::Unqueued { place: place.0 },
        EventFact::SeatOffered { place, .. } => Line::Offered { place: place.0 },
        EventFact::StatusChanged {
            status:
                EventStatus::Closed | EventStatus::Postponed | EventStatus::Completed | EventStatus::Cancelled,
            ..
        } => Line::QueuesDissolved,
        EventFact::StatusChanged { .. }
        | EventFact::EventCreated(_)
        | EventFact::EventChanged(_)
        | EventFact::ChartAdopted(_)
        | EventFact::HoldExtended { .. }
        | EventFact::HoldOverridden { to: Some(_), .. }
        | EventFact::PlaceRenewed { .. } => return None,
    })
}
