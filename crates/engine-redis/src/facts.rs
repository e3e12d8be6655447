//! Facts as flat fields, the same in a stream entry and in a script's reply: names and decimal numbers that a person
//! can read with `redis-cli`. Only a whole layout is one field of CBOR: it is as large as all else together, nobody
//! reads it by hand, and the journal's own bytes need no second format to keep.

pub mod auctions;
pub mod details;
mod fields;
mod lines;
pub mod orders;
pub mod registrations;
pub mod sales;
pub mod series;
mod step;

pub use fields::{Fields, Malformed};
pub use lines::{
    area_counts, area_lines, read_area_lines, read_seat_lines, read_seats, read_sku_lines, seat_lines, seats,
    sku_counts, sku_lines,
};
pub use step::{begins_step, decode_step, length};

use std::sync::Arc;

use onsale_domain::auction::AuctionFact;
use onsale_domain::event::EventStatus;
use onsale_domain::id::{read_base32, write_base32};
use onsale_domain::layout::Layout;
use onsale_domain::order::OrderFact;
use onsale_domain::registration::RegistrationFact;
use onsale_domain::seats::EventFact;
use onsale_domain::seats::fact::{ChartAdopted, NewHolder, ReleaseCause};
use onsale_domain::series::SeriesFact;
use onsale_domain::stock::SaleFact;
use onsale_domain::venue::VenueFact;
use onsale_domain::venue::fact::{LayoutPublished, VenueCreated};
use onsale_domain::{Fact, ListingId};

/// A fact's fields in the order in which they stand in the stream; `kind` is the first.
pub fn encode(fact: &Fact) -> Fields {
    let mut fields = Fields::of_kind(fact.kind());
    match fact {
        Fact::Venue(VenueFact::VenueCreated(created)) => {
            fields.push("name", &created.name);
            fields.push("place", &created.place);
        }
        Fact::Venue(VenueFact::LayoutPublished(published)) => {
            fields.push("version", published.version.to_string());
            fields.push("layout", layout(&published.layout));
        }
        Fact::Event(EventFact::EventCreated(event)) | Fact::Event(EventFact::EventChanged(event)) => {
            details::encode(event, &mut fields)
        }
        Fact::Event(EventFact::ChartAdopted(adopted)) => {
            fields.push("venue", adopted.venue.map_or(String::new(), |venue| venue.to_string()));
            fields.push("version", adopted.version.to_string());
            fields.push("layout", layout(&adopted.layout));
        }
        Fact::Event(EventFact::StatusChanged { status, by_schedule }) => {
            fields.push("status", status.as_str());
            fields.push("by_schedule", flag(*by_schedule));
        }
        Fact::Event(EventFact::HoldPlaced { hold, buyer, seats, areas, until, pieces }) => {
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
        Fact::Event(EventFact::HoldExtended { hold, until }) => {
            fields.push("hold", id(hold.0));
            fields.push("until", until.to_string());
        }
        Fact::Event(EventFact::SeatsDropped { hold, seats: dropped, areas }) => {
            fields.push("hold", id(hold.0));
            fields.push("seats", seats(dropped));
            fields.push("areas", area_counts(areas));
        }
        Fact::Event(EventFact::HoldReleased { hold, why }) => {
            fields.push("hold", id(hold.0));
            fields.push("why", cause(*why));
        }
        Fact::Event(EventFact::HoldExpired { hold }) => fields.push("hold", id(hold.0)),
        Fact::Event(EventFact::HoldConfirmed { hold, order }) => {
            fields.push("hold", id(hold.0));
            fields.push("order", id(order.0));
        }
        Fact::Event(EventFact::HoldOverridden { hold, staff, reason, to }) => {
            fields.push("hold", id(hold.0));
            fields.push("staff", staff);
            fields.push("reason", reason);
            if let Some(to) = to {
                fields.push("buyer", to.buyer.as_str());
                fields.push("until", to.until.to_string());
            }
        }
        Fact::Event(EventFact::OrderRefunded { order, seats: refunded, areas, amount_minor, reason }) => {
            fields.push("order", id(order.0));
            fields.push("seats", seats(refunded));
            fields.push("areas", area_counts(areas));
            fields.push("amount_minor", amount_minor.to_string());
            fields.push("reason", reason);
        }
        Fact::Event(EventFact::SeatsBlocked { seats: blocked, areas, reason }) => {
            fields.push("seats", seats(blocked));
            fields.push("areas", area_counts(areas));
            fields.push("reason", reason);
        }
        Fact::Event(EventFact::SeatsUnblocked { seats: freed, areas }) => {
            fields.push("seats", seats(freed));
            fields.push("areas", area_counts(areas));
        }
        Fact::Event(EventFact::QueueJoined { place, seat, buyer, until, ahead }) => {
            fields.push("place", id(place.0));
            fields.push("seat", seat.to_string());
            fields.push("buyer", buyer.as_str());
            fields.push("until", until.to_string());
            fields.push("ahead", ahead.to_string());
        }
        Fact::Event(EventFact::PlaceRenewed { place, until, ahead }) => {
            fields.push("place", id(place.0));
            fields.push("until", until.to_string());
            fields.push("ahead", ahead.to_string());
        }
        Fact::Event(EventFact::QueueLeft { place })
        | Fact::Event(EventFact::PlaceExpired { place })
        | Fact::Event(EventFact::PlaceLost { place }) => {
            fields.push("place", id(place.0));
        }
        Fact::Event(EventFact::SeatOffered { place, price_minor, until }) => {
            fields.push("place", id(place.0));
            fields.push("price_minor", price_minor.to_string());
            fields.push("until", until.to_string());
        }
        Fact::Sale(fact) => sales::encode(fact, &mut fields),
        Fact::Series(fact) => series::encode(fact, &mut fields),
        Fact::Registration(fact) => registrations::encode(fact, &mut fields),
        Fact::Auction(fact) => auctions::encode(fact, &mut fields),
        // No script writes these yet: the journal's own bytes carry them.
        Fact::Order(fact) => orders::encode(fact, &mut fields),
        Fact::Desk(_) => fields.push("cbor", series::cbor(fact)),
    }
    fields
}

/// Reads what [`encode`] or a script wrote. Fields it does not know are passed over.
pub fn decode(fields: &Fields) -> Result<Fact, Malformed> {
    let kind = fields.text("kind")?;
    Ok(match kind {
        "venue_created" => Fact::Venue(VenueFact::VenueCreated(Box::new(VenueCreated {
            name: fields.text("name")?.to_owned(),
            place: fields.text("place")?.to_owned(),
        }))),
        "layout_published" => Fact::Venue(VenueFact::LayoutPublished(Box::new(LayoutPublished {
            version: fields.number("version")?,
            layout: read_layout(fields)?,
        }))),
        "event_created" => Fact::Event(EventFact::EventCreated(Box::new(details::decode(fields)?))),
        "event_changed" => Fact::Event(EventFact::EventChanged(Box::new(details::decode(fields)?))),
        "chart_adopted" => Fact::Event(EventFact::ChartAdopted(Box::new(ChartAdopted {
            venue: read_venue(fields)?,
            version: fields.number("version")?,
            layout: read_layout(fields)?,
        }))),
        "status_changed" => Fact::Event(EventFact::StatusChanged {
            status: read_status(fields.text("status")?)?,
            by_schedule: fields.flag("by_schedule")?,
        }),
        "hold_placed" => Fact::Event(EventFact::HoldPlaced {
            hold: fields.hold("hold")?,
            buyer: fields.buyer("buyer")?,
            seats: read_seat_lines(fields.text("seats")?)?,
            areas: read_area_lines(fields.text_or_none("areas")?.unwrap_or_default())?,
            until: fields.number("until")?,
            pieces: fields.get("pieces").map_or(Ok(0), |_| fields.number("pieces"))?,
        }),
        "hold_extended" => Fact::Event(EventFact::HoldExtended {
            hold: fields.hold("hold")?,
            until: fields.number("until")?,
        }),
        "seats_dropped" => Fact::Event(EventFact::SeatsDropped {
            hold: fields.hold("hold")?,
            seats: read_seats(fields.text("seats")?)?,
            areas: lines::read_area_counts(fields.text("areas")?)?,
        }),
        "hold_released" => Fact::Event(EventFact::HoldReleased {
            hold: fields.hold("hold")?,
            why: match fields.text("why")? {
                "buyer" => ReleaseCause::Buyer,
                "event_cancelled" => ReleaseCause::EventCancelled,
                _ => return Err(Malformed::of("why")),
            },
        }),
        "hold_expired" => Fact::Event(EventFact::HoldExpired { hold: fields.hold("hold")? }),
        "hold_confirmed" => Fact::Event(EventFact::HoldConfirmed {
            hold: fields.hold("hold")?,
            order: fields.order("order")?,
        }),
        "hold_overridden" => Fact::Event(EventFact::HoldOverridden {
            hold: fields.hold("hold")?,
            staff: fields.text("staff")?.to_owned(),
            reason: fields.text("reason")?.to_owned(),
            to: match fields.get("buyer") {
                None => None,
                Some(_) => Some(NewHolder { buyer: fields.buyer("buyer")?, until: fields.number("until")? }),
            },
        }),
        "order_refunded" => Fact::Event(EventFact::OrderRefunded {
            order: fields.order("order")?,
            seats: read_seats(fields.text("seats")?)?,
            areas: lines::read_area_counts(fields.text("areas")?)?,
            amount_minor: fields.number("amount_minor")?,
            reason: fields.text("reason")?.to_owned(),
        }),
        "seats_blocked" => Fact::Event(EventFact::SeatsBlocked {
            seats: read_seats(fields.text("seats")?)?,
            areas: lines::read_area_counts(fields.text("areas")?)?,
            reason: fields.text("reason")?.to_owned(),
        }),
        "seats_unblocked" => Fact::Event(EventFact::SeatsUnblocked {
            seats: read_seats(fields.text("seats")?)?,
            areas: lines::read_area_counts(fields.text("areas")?)?,
        }),
        "queue_joined" => Fact::Event(EventFact::QueueJoined {
            place: fields.hold("place")?,
            seat: fields.number("seat")?,
            buyer: fields.buyer("buyer")?,
            until: fields.number("until")?,
            ahead: fields.number("ahead")?,
        }),
        "place_renewed" => Fact::Event(EventFact::PlaceRenewed {
            place: fields.hold("place")?,
            until: fields.number("until")?,
            ahead: fields.number("ahead")?,
        }),
        "queue_left" => Fact::Event(EventFact::QueueLeft { place: fields.hold("place")? }),
        "place_expired" => Fact::Event(EventFact::PlaceExpired { place: fields.hold("place")? }),
        "place_lost" => Fact::Event(EventFact::PlaceLost { place: fields.hold("place")? }),
        "seat_offered" => Fact::Event(EventFact::SeatOffered {
            place: fields.hold("place")?,
            price_minor: fields.number("price_minor")?,
            until: fields.number("until")?,
        }),
        sale if SaleFact::KINDS.contains(&sale) => Fact::Sale(sales::decode(sale, fields)?),
        of_series if SeriesFact::KINDS.contains(&of_series) => {
            Fact::Series(series::decode(of_series, fields)?)
        }
        entry if RegistrationFact::KINDS.contains(&entry) => {
            Fact::Registration(registrations::decode(entry, fields)?)
        }
        of_auction if AuctionFact::KINDS.contains(&of_auction) => {
            Fact::Auction(auctions::decode(of_auction, fields)?)
        }
        order if OrderFact::KINDS.contains(&order) => Fact::Order(orders::decode(order, fields)?),
        nested if Fact::kinds().any(|kind| kind == nested) => {
            let fact: Fact = series::read_cbor("cbor", fields.bytes("cbor")?)?;
            if fact.kind() != nested {
                return Err(Malformed::of("cbor"));
            }
            fact
        }
        _ => return Err(Malformed::of("kind")),
    })
}

/// An id as it stands in keys, arguments and facts: 26 characters of base 32.
pub fn id(number: u128) -> String {
    String::from_utf8_lossy(&write_base32(number)).into_owned()
}

pub fn read_id(text: &str) -> Option<u128> {
    read_base32(text)
}

pub fn read_status(name: &str) -> Result<EventStatus, Malformed> {
    let known = EventStatus::ALL.into_iter().find(|status| status.as_str() == name);
    known.ok_or(Malformed::of("status"))
}

/// A layout as one field.
pub fn layout(layout: &Layout) -> Vec<u8> {
    match minicbor::to_vec(layout) {
        Ok(bytes) => bytes,
        Err(error) => panic!("writing into memory cannot fail: {error}"),
    }
}

fn read_layout(fields: &Fields) -> Result<Arc<Layout>, Malformed> {
    let bytes = fields.bytes("layout")?;
    minicbor::decode(bytes).map(Arc::new).map_err(|_| Malformed::of("layout"))
}

fn read_venue(fields: &Fields) -> Result<Option<ListingId>, Malformed> {
    match fields.text("venue")? {
        "" => Ok(None),
        text => ListingId::parse(text).map(Some).ok_or(Malformed::of("venue")),
    }
}

fn flag(set: bool) -> &'static str {
    if set { "1" } else { "0" }
}

fn cause(why: ReleaseCause) -> &'static str {
    match why {
        ReleaseCause::Buyer => "buyer",
        ReleaseCause::EventCancelled => "event_cancelled",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    use onsale_tables::facts as fixtures;

    #[test]
    fn every_kind_of_fact_reads_back_as_it_was_written() {
        let mut kinds = BTreeSet::new();
        for fact in fixtures::all() {
            kinds.insert(fact.kind());
            assert_eq!(decode(&encode(&fact)).as_ref(), Ok(&fact));
        }
        assert_eq!(kinds.len(), Fact::kinds().count());
    }

    #[test]
    fn a_fact_with_a_field_missing_or_wrong_is_not_read() {
        for fact in fixtures::all() {
            let good = encode(&fact);
            for n in 0..good.len() {
                let mut bad = good.clone();
                let (name, _) = bad.remove(n);
                // Without these it is another, well-formed fact: the seats come free, there are no places.
                let other = fact.kind() == "hold_overridden" && name == "buyer"
                    || fact.kind() == "hold_placed" && matches!(name.as_str(), "areas" | "pieces");
                assert_eq!(decode(&bad).is_err(), !other, "{} without {name}", fact.kind());
            }
        }
    }
}
