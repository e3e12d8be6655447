//! What a registration is, apart from who has a place: its hours, its price, its life.

use minicbor::{Decode, Encode};

use crate::field::Field;
use crate::fields::{check_description, check_name, check_time};
use crate::id::{ListingId, ListingKind};
use crate::limits::{CHECKOUT_MS_MAX, CHECKOUT_MS_MIN, CUT_OFF_MS_MAX, PLACES_MAX};
use crate::money::{Currency, MINOR_MAX, Minor};
use crate::refusal::Refusal;
use crate::time::Millis;

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct RegistrationDetails {
    #[n(0)]
    pub name: String,
    #[n(1)]
    pub description: String,
    #[n(2)]
    pub opens_at: Millis,
    /// When the thing itself begins.
    #[n(3)]
    pub starts_at: Millis,
    /// So long before the start nobody registers or is promoted any more.
    #[n(4)]
    pub cut_off_ms: Millis,
    #[n(5)]
    pub currency: Currency,
    /// 0: a place is confirmed at once.
    #[n(6)]
    pub price_minor: Minor,
    /// How long a paid place is kept for one who registers while there is room.
    #[n(7)]
    pub checkout_ms: Millis,
    /// When the thing itself is over.
    #[n(8)]
    pub ends_at: Option<Millis>,
    /// The event it belongs to, and where it takes place. Nothing is decided by them.
    #[n(9)]
    pub event: Option<ListingId>,
    #[n(10)]
    pub venue: Option<ListingId>,
}

/// `scheduled → open → closed → started`; `cancelled` from all but started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub enum RegistrationStatus {
    #[n(0)]
    Scheduled,
    #[n(1)]
    Open,
    #[n(2)]
    Closed,
    #[n(3)]
    Started,
    #[n(4)]
    Cancelled,
}

impl RegistrationStatus {
    pub fn as_str(self) -> &'static str {
        match self {
            RegistrationStatus::Scheduled => "scheduled",
            RegistrationStatus::Open => "open",
            RegistrationStatus::Closed => "closed",
            RegistrationStatus::Started => "started",
            RegistrationStatus::Cancelled => "cancelled",
        }
    }

    pub const ALL: [RegistrationStatus; 5] = [
        RegistrationStatus::Scheduled,
        RegistrationStatus::Open,
        RegistrationStatus::Closed,
        RegistrationStatus::Started,
        RegistrationStatus::Cancelled,
    ];
}

impl RegistrationDetails {
    /// From this instant on nobody registers and nobody is promoted.
    pub fn closes_at(&self) -> Millis {
        self.starts_at - self.cut_off_ms
    }

    /// Refuses details that break a bound, naming the field.
    pub fn check(&self) -> Result<(), Refusal> {
        let invalid = |field: Field, why: &str| Err(Refusal::invalid(field, why));
        check_name(Field::Name, &self.name)?;
        check_description(&self.description)?;
        for (field, time) in [(Field::OpensAt, self.opens_at), (Field::StartsAt, self.starts_at)] {
            check_time(field, time)?;
        }
        if let Some(ends_at) = self.ends_at {
            check_time(Field::EndsAt, ends_at)?;
            if ends_at <= self.starts_at {
                return invalid(Field::EndsAt, "later than starts_at");
            }
        }
        let is = |id: Option<ListingId>, kind| id.is_none_or(|id| id.kind == kind);
        if !is(self.event, ListingKind::Event) {
            return invalid(Field::RegistrationEvent, "the id of an event");
        }
        if !is(self.venue, ListingKind::Venue) {
            return invalid(Field::RegistrationVenue, "the id of a venue");
        }
        if !(0..=CUT_OFF_MS_MAX).contains(&self.cut_off_ms) {
            return invalid(Field::CutOffMs, "0 seconds to 90 days");
        }
        if self.closes_at() <= self.opens_at {
            return invalid(Field::StartsAt, "later than opens_at by more than the cut-off");
        }
        if !(0..=MINOR_MAX).contains(&self.price_minor) {
            return invalid(Field::PriceMinor, "0 to 1,000,000,000,000 minor units");
        }
        if !(CHECKOUT_MS_MIN..=CHECKOUT_MS_MAX).contains(&self.checkout_ms) {
            return invalid(Field::CheckoutMs, "30 to 3,600 seconds");
        }
        Ok(())
    }
}

pub fn check_capacity(capacity: u32) -> Result<(), Refusal> {
    match (1..=PLACES_MAX).contains(&capacity) {
        true => Ok(()),
        false => Err(Refusal::invalid(Field::Capacity, "1 to 100,000 places")),
    }
}
