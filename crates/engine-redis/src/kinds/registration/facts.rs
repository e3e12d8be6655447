//! Facts of registrations as fields. A registration's details are fields of its meta hash, too.

use onsale_domain::money::Currency;
use onsale_domain::registration::RegistrationFact;
use onsale_domain::registration::details::{RegistrationDetails, RegistrationStatus};
use onsale_domain::registration::fact::{EntryCancelCause, RegistrationCreated};
use onsale_domain::{EntryId, ListingId};

use crate::facts::{Fields, Malformed, flag, id, read_id};

pub(super) fn encode(fact: &RegistrationFact, fields: &mut Fields) {
    match fact {
        RegistrationFact::Created(created) => {
            encode_details(&created.details, fields);
            fields.push("capacity", created.capacity.to_string());
        }
        RegistrationFact::Changed(details) => encode_details(details, fields),
        RegistrationFact::StatusChanged { status, by_schedule } => {
            fields.push("status", status.as_str());
            fields.push("by_schedule", flag(*by_schedule));
        }
        RegistrationFact::CapacityChanged { capacity } => fields.push("capacity", capacity.to_string()),
        RegistrationFact::Registered { entry, buyer } => {
            fields.push("entry", id(entry.0));
            fields.push("buyer", buyer.as_str());
        }
        RegistrationFact::Reserved { entry, buyer, price_minor, until } => {
            fields.push("entry", id(entry.0));
            fields.push("buyer", buyer.as_str());
            fields.push("price_minor", price_minor.to_string());
            fields.push("until", until.to_string());
        }
        RegistrationFact::Waitlisted { entry, buyer, ahead } => {
            fields.push("entry", id(entry.0));
            fields.push("buyer", buyer.as_str());
            fields.push("ahead", ahead.to_string());
        }
        RegistrationFact::Promoted { entry, buyer } | RegistrationFact::OfferLapsed { entry, buyer } => {
            fields.push("entry", id(entry.0));
            fields.push("buyer", buyer.as_str());
        }
        RegistrationFact::Offered { entry, buyer, price_minor, until } => {
            fields.push("entry", id(entry.0));
            fields.push("buyer", buyer.as_str());
            fields.push("price_minor", price_minor.to_string());
            fields.push("until", until.to_string());
        }
        RegistrationFact::Confirmed { entry, order } => {
            fields.push("entry", id(entry.0));
            fields.push("order", id(order.0));
        }
        RegistrationFact::EntryCancelled { entry, buyer, why, amount_minor } => {
            fields.push("entry", id(entry.0));
            fields.push("buyer", buyer.as_str());
            fields.push("why", cause(*why));
            fields.push("amount_minor", amount_minor.to_string());
        }
    }
}

/// Reads what [`encode`] or a script wrote.
pub(super) fn decode(kind: &str, fields: &Fields) -> Result<RegistrationFact, Malformed> {
    let entry = || read_id(fields.text("entry")?).map(EntryId).ok_or_else(|| Malformed::of("entry"));
    Ok(match kind {
        "registration_created" => RegistrationFact::Created(Box::new(RegistrationCreated {
            details: decode_details(fields)?,
            capacity: fields.number("capacity")?,
        })),
        "registration_changed" => RegistrationFact::Changed(Box::new(decode_details(fields)?)),
        "registration_status_changed" => RegistrationFact::StatusChanged {
            status: read_status(fields.text("status")?)?,
            by_schedule: fields.flag("by_schedule")?,
        },
        "capacity_changed" => RegistrationFact::CapacityChanged { capacity: fields.number("capacity")? },
        "registered" => RegistrationFact::Registered { entry: entry()?, buyer: fields.buyer("buyer")? },
        "registration_reserved" => RegistrationFact::Reserved {
            entry: entry()?,
            buyer: fields.buyer("buyer")?,
            price_minor: fields.number("price_minor")?,
            until: fields.number("until")?,
        },
        "waitlisted" => RegistrationFact::Waitlisted {
            entry: entry()?,
            buyer: fields.buyer("buyer")?,
            ahead: fields.number("ahead")?,
        },
        "promoted" => RegistrationFact::Promoted { entry: entry()?, buyer: fields.buyer("buyer")? },
        "registration_offered" => RegistrationFact::Offered {
            entry: entry()?,
            buyer: fields.buyer("buyer")?,
            price_minor: fields.number("price_minor")?,
            until: fields.number("until")?,
        },
        "registration_offer_lapsed" => {
            RegistrationFact::OfferLapsed { entry: entry()?, buyer: fields.buyer("buyer")? }
        }
        "registration_confirmed" => {
            RegistrationFact::Confirmed { entry: entry()?, order: fields.order("order")? }
        }
        "entry_cancelled" => RegistrationFact::EntryCancelled {
            entry: entry()?,
            buyer: fields.buyer("buyer")?,
            why: match fields.text("why")? {
                "buyer" => EntryCancelCause::Buyer,
                "staff" => EntryCancelCause::Staff,
                "registration_cancelled" => EntryCancelCause::RegistrationCancelled,
                _ => return Err(Malformed::of("why")),
            },
            amount_minor: fields.number("amount_minor")?,
        },
        _ => return Err(Malformed::of("kind")),
    })
}

pub(super) fn encode_details(details: &RegistrationDetails, fields: &mut Fields) {
    fields.push("name", &details.name);
    fields.push("description", &details.description);
    fields.push("opens_at", details.opens_at.to_string());
    fields.push("starts_at", details.starts_at.to_string());
    fields.push("cut_off_ms", details.cut_off_ms.to_string());
    fields.push("currency", details.currency.as_str());
    fields.push("price_minor", details.price_minor.to_string());
    fields.push("checkout_ms", details.checkout_ms.to_string());
    fields.push("ends_at", details.ends_at.map_or(String::new(), |at| at.to_string()));
    fields.push("event", details.event.map_or(String::new(), |event| event.text()));
    fields.push("venue", details.venue.map_or(String::new(), |venue| venue.text()));
}

pub(super) fn decode_details(fields: &Fields) -> Result<RegistrationDetails, Malformed> {
    Ok(RegistrationDetails {
        name: fields.text("name")?.to_owned(),
        description: fields.text("description")?.to_owned(),
        opens_at: fields.number("opens_at")?,
        starts_at: fields.number("starts_at")?,
        cut_off_ms: fields.number("cut_off_ms")?,
        currency: Currency::parse(fields.text("currency")?).ok_or_else(|| Malformed::of("currency"))?,
        price_minor: fields.number("price_minor")?,
        checkout_ms: fields.number("checkout_ms")?,
        ends_at: fields.number_or_none("ends_at")?,
        event: read_listing(fields, "event")?,
        venue: read_listing(fields, "venue")?,
    })
}

fn read_listing(fields: &Fields, name: &str) -> Result<Option<ListingId>, Malformed> {
    match fields.text(name)? {
        "" => Ok(None),
        text => ListingId::parse(text).map(Some).ok_or_else(|| Malformed::of(name)),
    }
}

pub(super) fn read_status(name: &str) -> Result<RegistrationStatus, Malformed> {
    let known = RegistrationStatus::ALL.into_iter().find(|status| status.as_str() == name);
    known.ok_or_else(|| Malformed::of("status"))
}

fn cause(why: EntryCancelCause) -> &'static str {
    match why {
        EntryCancelCause::Buyer => "buyer",
        EntryCancelCause::Staff => "staff",
        EntryCancelCause::RegistrationCancelled => "registration_cancelled",
    }
}
