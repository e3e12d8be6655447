//! Facts of events as fields.

use std::sync::Arc;

use onsale_domain::ListingId;
use onsale_domain::event::EventStatus;
use onsale_domain::seats::EventFact;
use onsale_domain::seats::fact::{ChartAdopted, HoldAfter, LapsedOffer, NewHolder, ReleaseCause};

use super::details;
use crate::facts::{
    Fields, Malformed, area_counts, area_lines, flag, id, packed, read_area_counts, read_area_lines,
    read_packed, read_seat_lines, read_seats, seat_lines, seats,
};
use crate::state::records::Parts;

pub(super) fn encode(fact: &EventFact, fields: &mut Fields) {
    match fact {
        EventFact::EventCreated(event) | EventFact::EventChanged(event) => details::encode(event, fields),
        EventFact::ChartAdopted(adopted) => {
            fields.push("venue", adopted.venue.map_or(String::new(), |venue| venue.to_string()));
            fields.push("version", adopted.version.to_string());
            fields.push("layout", packed(&*adopted.layout));
        }
        EventFact::StatusChanged { status, by_schedule } => {
            fields.push("status", status.as_str());
            fields.push("by_schedule", flag(*by_schedule));
        }
        EventFact::HoldPlaced { hold, buyer, seats, areas, until, pieces } => {
            fields.push("hold", id(hold.0));
            fields.push("buyer", buyer.as_str());
            fields.push("seats", seat_lines(seats));
            fields.push("until", until.to_string());
            // Most holds are explicit seats: what they have not is not written.
            if !areas.is_empty() {
                fields.push("areas", area_lines(areas));
            }
            if *pieces > 0 {
                fields.push("pieces", pieces.to_string());
            }
        }
        EventFact::HoldExtended { hold, until, after } => {
            fields.push("hold", id(hold.0));
            fields.push("until", until.to_string());
            fields.push("after", write_after(after));
        }
        EventFact::HoldGrown { hold, buyer, seats, areas, after } => {
            fields.push("hold", id(hold.0));
            fields.push("buyer", buyer.as_str());
            fields.push("seats", seat_lines(seats));
            fields.push("areas", area_lines(areas));
            fields.push("after", write_after(after));
        }
        EventFact::SeatsDropped { hold, seats: dropped, areas, after } => {
            fields.push("hold", id(hold.0));
            fields.push("seats", seats(dropped));
            fields.push("areas", area_counts(areas));
            fields.push("after", write_after(after));
        }
        EventFact::HoldReleased { hold, why } => {
            fields.push("hold", id(hold.0));
            fields.push("why", cause(*why));
        }
        EventFact::HoldExpired { hold, offer } => {
            fields.push("hold", id(hold.0));
            // Most holds were no offers: what they have not is not written.
            if let Some(offer) = offer {
                fields.push("buyer", offer.buyer.as_str());
                fields.push("seats", seats(&offer.seats));
            }
        }
        EventFact::HoldConfirmed { hold, order } => {
            fields.push("hold", id(hold.0));
            fields.push("order", id(order.0));
        }
        EventFact::HoldOverridden { hold, reason, to } => {
            fields.push("hold", id(hold.0));
            fields.push("reason", reason);
            if let Some(to) = to {
                fields.push("buyer", to.buyer.as_str());
                fields.push("until", to.until.to_string());
            }
        }
        EventFact::OrderRefunded { order, seats: refunded, areas, amount_minor, reason } => {
            fields.push("order", id(order.0));
            fields.push("seats", seats(refunded));
            fields.push("areas", area_counts(areas));
            fields.push("amount_minor", amount_minor.to_string());
            fields.push("reason", reason);
        }
        EventFact::SeatsBlocked { seats: blocked, areas, reason } => {
            fields.push("seats", seats(blocked));
            fields.push("areas", area_counts(areas));
            fields.push("reason", reason);
        }
        EventFact::SeatsUnblocked { seats: freed, areas } => {
            fields.push("seats", seats(freed));
            fields.push("areas", area_counts(areas));
        }
        EventFact::QueueJoined { place, seat, buyer, until, ahead } => {
            fields.push("place", id(place.0));
            fields.push("seat", seat.to_string());
            fields.push("buyer", buyer.as_str());
            fields.push("until", until.to_string());
            fields.push("ahead", ahead.to_string());
        }
        EventFact::PlaceRenewed { place, until, ahead } => {
            fields.push("place", id(place.0));
            fields.push("until", until.to_string());
            fields.push("ahead", ahead.to_string());
        }
        EventFact::QueueLeft { place, buyer, seat }
        | EventFact::PlaceExpired { place, buyer, seat }
        | EventFact::PlaceLost { place, buyer, seat } => {
            fields.push("place", id(place.0));
            fields.push("buyer", buyer.as_str());
            fields.push("seat", seat.to_string());
        }
        EventFact::SeatOffered { place, buyer, seat, price_minor, until } => {
            fields.push("place", id(place.0));
            fields.push("buyer", buyer.as_str());
            fields.push("seat", seat.to_string());
            fields.push("price_minor", price_minor.to_string());
            fields.push("until", until.to_string());
        }
    }
}

/// Reads what [`encode`] or a script wrote.
pub(super) fn decode(name: &str, fields: &Fields) -> Result<EventFact, Malformed> {
    Ok(match name {
        "event_created" => EventFact::EventCreated(Box::new(details::decode(fields)?)),
        "event_changed" => EventFact::EventChanged(Box::new(details::decode(fields)?)),
        "chart_adopted" => EventFact::ChartAdopted(Box::new(ChartAdopted {
            venue: read_venue(fields)?,
            version: fields.number("version")?,
            layout: Arc::new(read_packed("layout", fields.bytes("layout")?)?),
        })),
        "status_changed" => EventFact::StatusChanged {
            status: read_status(fields.text("status")?)?,
            by_schedule: fields.flag("by_schedule")?,
        },
        "hold_placed" => EventFact::HoldPlaced {
            hold: fields.hold("hold")?,
            buyer: fields.buyer("buyer")?,
            seats: read_seat_lines(fields.text("seats")?)?,
            areas: read_area_lines(fields.text_or_none("areas")?.unwrap_or_default())?,
            until: fields.number("until")?,
            pieces: fields.get("pieces").map_or(Ok(0), |_| fields.number("pieces"))?,
        },
        "hold_extended" => EventFact::HoldExtended {
            hold: fields.hold("hold")?,
            until: fields.number("until")?,
            after: read_after(fields)?,
        },
        "hold_grown" => EventFact::HoldGrown {
            hold: fields.hold("hold")?,
            buyer: fields.buyer("buyer")?,
            seats: read_seat_lines(fields.text("seats")?)?,
            areas: read_area_lines(fields.text("areas")?)?,
            after: read_after(fields)?,
        },
        "seats_dropped" => EventFact::SeatsDropped {
            hold: fields.hold("hold")?,
            seats: read_seats(fields.text("seats")?)?,
            areas: read_area_counts(fields.text("areas")?)?,
            after: read_after(fields)?,
        },
        "hold_released" => EventFact::HoldReleased {
            hold: fields.hold("hold")?,
            why: match fields.text("why")? {
                "buyer" => ReleaseCause::Buyer,
                "event_cancelled" => ReleaseCause::EventCancelled,
                _ => return Err(Malformed::of("why")),
            },
        },
        "hold_expired" => EventFact::HoldExpired {
            hold: fields.hold("hold")?,
            offer: match fields.get("buyer") {
                None => None,
                Some(_) => Some(LapsedOffer {
                    buyer: fields.buyer("buyer")?,
                    seats: read_seats(fields.text("seats")?)?,
                }),
            },
        },
        "hold_confirmed" => {
            EventFact::HoldConfirmed { hold: fields.hold("hold")?, order: fields.order("order")? }
        }
        "hold_overridden" => EventFact::HoldOverridden {
            hold: fields.hold("hold")?,
            reason: fields.text("reason")?.to_owned(),
            to: match fields.get("buyer") {
                None => None,
                Some(_) => Some(NewHolder { buyer: fields.buyer("buyer")?, until: fields.number("until")? }),
            },
        },
        "order_refunded" => EventFact::OrderRefunded {
            order: fields.order("order")?,
            seats: read_seats(fields.text("seats")?)?,
            areas: read_area_counts(fields.text("areas")?)?,
            amount_minor: fields.number("amount_minor")?,
            reason: fields.text("reason")?.to_owned(),
        },
        "seats_blocked" => EventFact::SeatsBlocked {
            seats: read_seats(fields.text("seats")?)?,
            areas: read_area_counts(fields.text("areas")?)?,
            reason: fields.text("reason")?.to_owned(),
        },
        "seats_unblocked" => EventFact::SeatsUnblocked {
            seats: read_seats(fields.text("seats")?)?,
            areas: read_area_counts(fields.text("areas")?)?,
        },
        "queue_joined" => EventFact::QueueJoined {
            place: fields.hold("place")?,
            seat: fields.number("seat")?,
            buyer: fields.buyer("buyer")?,
            until: fields.number("until")?,
            ahead: fields.number("ahead")?,
        },
        "place_renewed" => EventFact::PlaceRenewed {
            place: fields.hold("place")?,
            until: fields.number("until")?,
            ahead: fields.number("ahead")?,
        },
        "queue_left" => EventFact::QueueLeft {
            place: fields.hold("place")?,
            buyer: fields.buyer("buyer")?,
            seat: fields.number("seat")?,
        },
        "place_expired" => EventFact::PlaceExpired {
            place: fields.hold("place")?,
            buyer: fields.buyer("buyer")?,
            seat: fields.number("seat")?,
        },
        "place_lost" => EventFact::PlaceLost {
            place: fields.hold("place")?,
            buyer: fields.buyer("buyer")?,
            seat: fields.number("seat")?,
        },
        "seat_offered" => EventFact::SeatOffered {
            place: fields.hold("place")?,
            buyer: fields.buyer("buyer")?,
            seat: fields.number("seat")?,
            price_minor: fields.number("price_minor")?,
            until: fields.number("until")?,
        },
        _ => return Err(Malformed::of("kind")),
    })
}

/// A hold as a change has left it, in one line.
fn write_after(after: &HoldAfter) -> String {
    format!(
        "{}|{}|{}|{}|{}|{}|{}",
        after.placed_at,
        after.until,
        after.extensions,
        u8::from(after.offered),
        seat_lines(&after.seats),
        area_lines(&after.areas),
        after.buyer.as_str()
    )
}

fn read_after(fields: &Fields) -> Result<Box<HoldAfter>, Malformed> {
    let mut parts = Parts::new("after", fields.bytes("after")?, 7)?;
    let (placed_at, until, extensions) = (parts.number()?, parts.number()?, parts.number()?);
    let offered = parts.text()? == "1";
    let (seats, areas) = (read_seat_lines(parts.text()?)?, read_area_lines(parts.text()?)?);
    let buyer = parts.buyer()?;
    Ok(Box::new(HoldAfter { buyer, placed_at, until, extensions, offered, seats, areas }))
}

pub(super) fn read_status(name: &str) -> Result<EventStatus, Malformed> {
    let known = EventStatus::ALL.into_iter().find(|status| status.as_str() == name);
    known.ok_or(Malformed::of("status"))
}

pub(super) fn read_venue(fields: &Fields) -> Result<Option<ListingId>, Malformed> {
    match fields.text("venue")? {
        "" => Ok(None),
        text => ListingId::parse(text).map(Some).ok_or(Malformed::of("venue")),
    }
}

fn cause(why: ReleaseCause) -> &'static str {
    match why {
        ReleaseCause::Buyer => "buyer",
        ReleaseCause::EventCancelled => "event_cancelled",
    }
}
