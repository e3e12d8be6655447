//! What somebody asks of one registration.

use super::details::RegistrationDetails;
use crate::id::{BuyerId, EntryId, ListingId, OrderId};
use crate::money::Minor;
use crate::time::Millis;
use crate::verb::commands;

commands! {
    pub enum RegistrationCommand {
        Create(Box<CreateRegistration>) = creates "create_registration",
        Change(Box<ChangeRegistration>) = sealed "change_registration",
        ChangeCapacity {
            capacity: u32,
        } = sealed "change_capacity",
        /// Nobody registers or is promoted any more.
        Close = sealed "close_registration",
        /// Takes every place back and refunds what was paid.
        Cancel = sealed "cancel_registration",
        Register(Register) = sealed "register",
        Confirm(ConfirmEntry) = sealed "confirm_entry",
        CancelEntry(CancelEntry) = sealed "cancel_entry",
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct CreateRegistration {
    pub details: RegistrationDetails,
    pub capacity: u32,
}

/// Only what is given changes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChangeRegistration {
    pub name: Option<String>,
    pub description: Option<String>,
    pub opens_at: Option<Millis>,
    pub starts_at: Option<Millis>,
    pub cut_off_ms: Option<Millis>,
    pub price_minor: Option<Minor>,
    pub checkout_ms: Option<Millis>,
    /// Of these three nothing takes away what there is.
    pub ends_at: Option<Option<Millis>>,
    pub event: Option<Option<ListingId>>,
    pub venue: Option<Option<ListingId>>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Register {
    /// The new entry's id, should one be made.
    pub entry: EntryId,
    pub buyer: BuyerId,
}

/// A place that was offered is paid for.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfirmEntry {
    pub entry: EntryId,
    pub buyer: BuyerId,
    pub order: OrderId,
    /// Whether somebody who may say so says that it is paid.
    pub settled: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct CancelEntry {
    pub entry: EntryId,
    /// Nobody: staff cancels it, whoever has it.
    pub buyer: Option<BuyerId>,
}
