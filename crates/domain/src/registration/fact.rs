//! What happened to a registration. Numbers of variants and fields are the journal's format: they are only ever added.

use minicbor::{Decode, Encode};

use super::details::{RegistrationDetails, RegistrationStatus};
use crate::id::{BuyerId, EntryId, OrderId};
use crate::money::Minor;
use crate::time::Millis;
use crate::verb::fact_names;

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub enum RegistrationFact {
    #[n(0)]
    Created(#[n(0)] Box<RegistrationCreated>),
    #[n(1)]
    Changed(#[n(0)] Box<RegistrationDetails>),
    #[n(2)]
    StatusChanged {
        #[n(0)]
        status: RegistrationStatus,
        /// True if the calendar brought it about, not staff.
        #[n(1)]
        by_schedule: bool,
    },
    #[n(3)]
    CapacityChanged {
        #[n(0)]
        capacity: u32,
    },
    /// There was room, and nothing to pay: the place is confirmed.
    #[n(4)]
    Registered {
        #[n(0)]
        entry: EntryId,
        #[n(1)]
        buyer: BuyerId,
    },
    /// There was room: the place is kept until it is paid or its time is over.
    #[n(5)]
    Reserved {
        #[n(0)]
        entry: EntryId,
        #[n(1)]
        buyer: BuyerId,
        #[n(2)]
        price_minor: Minor,
        #[n(3)]
        until: Millis,
    },
    #[n(6)]
    Waitlisted {
        #[n(0)]
        entry: EntryId,
        #[n(1)]
        buyer: BuyerId,
        /// How many were in front.
        #[n(2)]
        ahead: u32,
    },
    /// The first in line got a place that costs nothing.
    #[n(7)]
    Promoted {
        #[n(0)]
        entry: EntryId,
        #[n(1)]
        buyer: BuyerId,
    },
    /// The first in line is offered a place that is to be paid.
    #[n(8)]
    Offered {
        #[n(0)]
        entry: EntryId,
        #[n(1)]
        buyer: BuyerId,
        #[n(2)]
        price_minor: Minor,
        #[n(3)]
        until: Millis,
    },
    /// Nobody paid in time: the entry is over, and the place is free.
    #[n(9)]
    OfferLapsed {
        #[n(0)]
        entry: EntryId,
        #[n(1)]
        buyer: BuyerId,
    },
    #[n(10)]
    Confirmed {
        #[n(0)]
        entry: EntryId,
        #[n(1)]
        order: OrderId,
    },
    #[n(11)]
    EntryCancelled {
        #[n(0)]
        entry: EntryId,
        #[n(1)]
        buyer: BuyerId,
        #[n(2)]
        why: EntryCancelCause,
        /// What is to be paid back.
        #[n(3)]
        amount_minor: Minor,
    },
}

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct RegistrationCreated {
    #[n(0)]
    pub details: RegistrationDetails,
    #[n(1)]
    pub capacity: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub enum EntryCancelCause {
    #[n(0)]
    Buyer,
    #[n(1)]
    Staff,
    #[n(2)]
    RegistrationCancelled,
}

fact_names! {
    RegistrationFact {
        Created = "registration_created",
        Changed = "registration_changed",
        StatusChanged = "registration_status_changed",
        CapacityChanged = "capacity_changed",
        Registered = "registered",
        Reserved = "registration_reserved",
        Waitlisted = "waitlisted",
        Promoted = "promoted",
        Offered = "registration_offered",
        OfferLapsed = "registration_offer_lapsed",
        Confirmed = "registration_confirmed",
        EntryCancelled = "entry_cancelled",
    }
}
