//! Facts of a registration as JSON.

use onsale_domain::id::{EntryId, write_inside};
use onsale_domain::registration::RegistrationFact;
use onsale_domain::{ListingId, OrderId};
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::time::Time;
use crate::http::words::{EntryCancelCause, RegistrationStatus};

#[derive(Debug, Serialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RegistrationFactBody<'a> {
    RegistrationCreated {
        name: &'a str,
        opens_at: Time,
        starts_at: Time,
        #[serde(skip_serializing_if = "Option::is_none")]
        ends_at: Option<Time>,
        #[serde(skip_serializing_if = "Option::is_none")]
        event: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        venue: Option<String>,
        currency: &'a str,
        price_minor: i64,
        capacity: u32,
    },
    RegistrationChanged {
        name: &'a str,
        opens_at: Time,
        starts_at: Time,
        #[serde(skip_serializing_if = "Option::is_none")]
        ends_at: Option<Time>,
        #[serde(skip_serializing_if = "Option::is_none")]
        event: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        venue: Option<String>,
        price_minor: i64,
    },
    RegistrationStatusChanged {
        status: RegistrationStatus,
        by_schedule: bool,
    },
    CapacityChanged {
        capacity: u32,
    },
    Registered {
        entry: String,
        buyer: &'a str,
        fence: u64,
    },
    RegistrationReserved {
        entry: String,
        buyer: &'a str,
        fence: u64,
        price_minor: i64,
        expires_at: Time,
    },
    Waitlisted {
        entry: String,
        buyer: &'a str,
        fence: u64,
        place_in_line: u32,
    },
    Promoted {
        entry: String,
        buyer: &'a str,
    },
    RegistrationOffered {
        entry: String,
        buyer: &'a str,
        price_minor: i64,
        expires_at: Time,
    },
    RegistrationOfferLapsed {
        entry: String,
        buyer: &'a str,
    },
    RegistrationConfirmed {
        entry: String,
        order: String,
    },
    EntryCancelled {
        entry: String,
        buyer: &'a str,
        why: EntryCancelCause,
        amount_minor: i64,
    },
}

pub(super) fn body<'a>(
    listing: &ListingId,
    fact: &'a RegistrationFact,
    fence: u64,
) -> RegistrationFactBody<'a> {
    use RegistrationFactBody as Body;
    let entry = |entry: &EntryId| write_inside("ent", listing, entry.0);
    let order = |order: &OrderId| write_inside("ord", listing, order.0);
    match fact {
        RegistrationFact::Created(created) => {
            let details = &created.details;
            Body::RegistrationCreated {
                name: &details.name,
                opens_at: Time(details.opens_at),
                starts_at: Time(details.starts_at),
                ends_at: details.ends_at.map(Time),
                event: details.event.map(|event| event.to_string()),
                venue: details.venue.map(|venue| venue.to_string()),
                currency: details.currency.as_str(),
                price_minor: details.price_minor,
                capacity: created.capacity,
            }
        }
        RegistrationFact::Changed(details) => Body::RegistrationChanged {
            name: &details.name,
            opens_at: Time(details.opens_at),
            starts_at: Time(details.starts_at),
            ends_at: details.ends_at.map(Time),
            event: details.event.map(|event| event.to_string()),
            venue: details.venue.map(|venue| venue.to_string()),
            price_minor: details.price_minor,
        },
        RegistrationFact::StatusChanged { status, by_schedule } => {
            Body::RegistrationStatusChanged { status: (*status).into(), by_schedule: *by_schedule }
        }
        RegistrationFact::CapacityChanged { capacity } => Body::CapacityChanged { capacity: *capacity },
        RegistrationFact::Registered { entry: id, buyer } => {
            Body::Registered { entry: entry(id), buyer: buyer.as_str(), fence }
        }
        RegistrationFact::Reserved { entry: id, buyer, price_minor, until } => Body::RegistrationReserved {
            entry: entry(id),
            buyer: buyer.as_str(),
            fence,
            price_minor: *price_minor,
            expires_at: Time(*until),
        },
        RegistrationFact::Waitlisted { entry: id, buyer, ahead } => {
            Body::Waitlisted { entry: entry(id), buyer: buyer.as_str(), fence, place_in_line: ahead + 1 }
        }
        RegistrationFact::Promoted { entry: id, buyer } => {
            Body::Promoted { entry: entry(id), buyer: buyer.as_str() }
        }
        RegistrationFact::OfferLapsed { entry: id, buyer } => {
            Body::RegistrationOfferLapsed { entry: entry(id), buyer: buyer.as_str() }
        }
        RegistrationFact::Offered { entry: id, buyer, price_minor, until } => Body::RegistrationOffered {
            entry: entry(id),
            buyer: buyer.as_str(),
            price_minor: *price_minor,
            expires_at: Time(*until),
        },
        RegistrationFact::Confirmed { entry: id, order: paid } => {
            Body::RegistrationConfirmed { entry: entry(id), order: order(paid) }
        }
        RegistrationFact::EntryCancelled { entry: id, buyer, why, amount_minor } => Body::EntryCancelled {
            entry: entry(id),
            buyer: buyer.as_str(),
            why: (*why).into(),
            amount_minor: *amount_minor,
        },
    }
}
