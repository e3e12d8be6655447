//! Facts of a registration.

use onsale_domain::id::{EntryId, write_inside};
use onsale_domain::registration::RegistrationFact;
use onsale_domain::registration::fact::EntryCancelCause;
use onsale_domain::{ListingId, OrderId};
use serde_json::{Value, json};

use crate::http::time::Time;

pub(super) fn fields(listing: &ListingId, fact: &RegistrationFact, fence: u64) -> Value {
    let entry = |entry: &EntryId| write_inside("ent", listing, entry.0);
    let order = |order: &OrderId| write_inside("ord", listing, order.0);
    match fact {
        RegistrationFact::Created(created) => {
            let details = &created.details;
            json!({"name": details.name, "opens_at": Time(details.opens_at), "starts_at": Time(details.starts_at),
                   "currency": details.currency.as_str(), "price_minor": details.price_minor,
                   "capacity": created.capacity})
        }
        RegistrationFact::Changed(details) => {
            json!({"name": details.name, "opens_at": Time(details.opens_at), "starts_at": Time(details.starts_at),
                   "price_minor": details.price_minor})
        }
        RegistrationFact::StatusChanged { status, by_schedule } => {
            json!({"status": status.as_str(), "by_schedule": by_schedule})
        }
        RegistrationFact::CapacityChanged { capacity } => json!({"capacity": capacity}),
        RegistrationFact::Registered { entry: id, buyer } => {
            json!({"entry": entry(id), "buyer": buyer.as_str(), "fence": fence})
        }
        RegistrationFact::Reserved { entry: id, buyer, price_minor, until } => json!({
            "entry": entry(id), "buyer": buyer.as_str(), "fence": fence, "price_minor": price_minor,
            "expires_at": Time(*until),
        }),
        RegistrationFact::Waitlisted { entry: id, buyer, ahead } => {
            json!({"entry": entry(id), "buyer": buyer.as_str(), "fence": fence, "ahead": ahead})
        }
        RegistrationFact::Promoted { entry: id } | RegistrationFact::OfferLapsed { entry: id } => {
            json!({"entry": entry(id)})
        }
        RegistrationFact::Offered { entry: id, price_minor, until } => {
            json!({"entry": entry(id), "price_minor": price_minor, "expires_at": Time(*until)})
        }
        RegistrationFact::Confirmed { entry: id, order: paid } => {
            json!({"entry": entry(id), "order": order(paid)})
        }
        RegistrationFact::EntryCancelled { entry: id, why, amount_minor } => {
            let why = match why {
                EntryCancelCause::Buyer => "buyer",
                EntryCancelCause::Staff => "staff",
                EntryCancelCause::RegistrationCancelled => "registration_cancelled",
            };
            json!({"entry": entry(id), "why": why, "amount_minor": amount_minor})
        }
    }
}
