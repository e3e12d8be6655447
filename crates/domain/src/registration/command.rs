//! What somebody asks of one registration.

use super::details::RegistrationDetails;
use crate::id::{BuyerId, EntryId, OrderId};
use crate::money::Minor;
use crate::time::Millis;

#[derive(Clone, Debug, PartialEq)]
pub enum RegistrationCommand {
    Create(Box<CreateRegistration>),
    Change(Box<ChangeRegistration>),
    ChangeCapacity {
        capacity: u32,
    },
    /// Nobody registers or is promoted any more.
    Close,
    /// Takes every place back and refunds what was paid.
    Cancel,
    Register(Register),
    Confirm(ConfirmEntry),
    CancelEntry(CancelEntry),
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

impl RegistrationCommand {
    /// Whether a yes to this may never be lost, whatever store forgets: every one of them.
    pub fn is_sealed(&self) -> bool {
        true
    }

    /// The buyer whose attempt this is, if it is one: what the list of refused attempts names.
    pub fn attempt_by(&self) -> Option<&BuyerId> {
        match self {
            RegistrationCommand::Register(command) => Some(&command.buyer),
            RegistrationCommand::Confirm(command) => Some(&command.buyer),
            RegistrationCommand::Create(_)
            | RegistrationCommand::Change(_)
            | RegistrationCommand::ChangeCapacity { .. }
            | RegistrationCommand::Close
            | RegistrationCommand::Cancel
            | RegistrationCommand::CancelEntry(_) => None,
        }
    }

    /// All names, in the order of the commands.
    pub const VERBS: [&str; 8] = [
        "create_registration",
        "change_registration",
        "change_capacity",
        "close_registration",
        "cancel_registration",
        "register",
        "confirm_entry",
        "cancel_entry",
    ];

    pub fn verb(&self) -> &'static str {
        RegistrationCommand::VERBS[match self {
            RegistrationCommand::Create(_) => 0,
            RegistrationCommand::Change(_) => 1,
            RegistrationCommand::ChangeCapacity { .. } => 2,
            RegistrationCommand::Close => 3,
            RegistrationCommand::Cancel => 4,
            RegistrationCommand::Register(_) => 5,
            RegistrationCommand::Confirm(_) => 6,
            RegistrationCommand::CancelEntry(_) => 7,
        }]
    }
}
