//! Facts of events as fields.

use std::sync::Arc;

use onsale_domain::ListingId;
use onsale_domain::event::EventStatus;
use onsale_domain::seats::EventFact;
use onsale_domain::seats::fact::{ChartAdopted, NewHolder, ReleaseCause};

use super::details;
use crate::facts::{
    Fields, Malformed, area_counts, area_lines, cbor, flag, id, read_area_counts, read_area_lines, read_cbor,
    read_seat_lines, read_seats, seat_lines, seats,
};

pub(super) fn encode(fact: &EventFact, fields: &mut Fields) {
    match fact {
        EventFact::EventCreated(event) | EventFact::EventChanged(event) => details::encode(event, fields),
        EventFact::ChartAdopted(adopted) => {
            fields.push("venue", adopted.venue.map_or(String::new(), |venue| venue.to_string()));
            fields.push("version", adopted.version.to_string());
            fields.push("layout", cbor(&*adopted.layout));
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
        EventFact::HoldExtended { hold, until } => {
            fields.push("hold", id(hold.0));
            fields.push("until", until.to_string());
        }
        EventFact::HoldGrown { hold, buyer, seats, areas } => {
            fields.push("hold", id(hold.0));
            fields.push("buyer", buyer.as_str());
            fields.push("seats", seat_lines(seats));
            fields.push("areas", area_lines(areas));
        }
        EventFact::SeatsDropped { hold, seats: dropped, areas } => {
            fields.push("hold", id(hold.0));
            fields.push("seats", seats(dropped));
            fields.push("areas", area_counts(areas));
        }
        EventFact::HoldReleased { hold, why } => {
            fields.push("hold", id(hold.0));
            fields.push("why", cause(*why));
        }
        EventFact::HoldExpired { hold } => fields.push("hold", id(hold.0)),
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
        EventFact::QueueLeft { place }
        | EventFact::PlaceExpired { place }
        | EventFact::PlaceLost { place } => {
            fields.push("place", id(place.0));
        }
        EventFact::SeatOffered { place, price_minor, until } => {
            fields.push("place", id(place.0));
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
            layout: Arc::new(read_cbor("layout", fields.bytes("layout")?)?),
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
        "hold_extended" => {
            EventFact::HoldExtended { hold: fields.hold("hold")?, until: fields.number("until")? }
        }
        "hold_grown" => EventFact::HoldGrown {
            hold: fields.hold("hold")?,
            buyer: fields.buyer("buyer")?,
            seats: read_seat_lines(fields.text("seats")?)?,
            areas: read_area_lines(fields.text("areas")?)?,
        },
        "seats_dropped" => EventFact::SeatsDropped {
            hold: fields.hold("hold")?,
            seats: read_seats(fields.text("seats")?)?,
            areas: read_area_counts(fields.text("areas")?)?,
        },
        "hold_released" => EventFact::HoldReleased {
            hold: fields.hold("hold")?,
            why: match fields.text("why")? {
                "buyer" => ReleaseCause::Buyer,
                "event_cancelled" => ReleaseCause::EventCancelled,
                _ => return Err(Malformed::of("why")),
            },
        },
        "hold_expired" => EventFact::HoldExpired { hold: fields.hold("hold")? },
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
        "queue_left" => EventFact::QueueLeft { place: fields.hold("place")? },
        "place_expired" => EventFact::PlaceExpired { place: fields.hold("place")? },
        "place_lost" => EventFact::PlaceLost { place: fields.hold("place")? },
        "seat_offered" => EventFact::SeatOffered {
            place: fields.hold("place")?,
            price_minor: fields.number("price_minor")?,
            until: fields.number("until")?,
        },
        _ => return Err(Malformed::of("kind")),
    })
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
