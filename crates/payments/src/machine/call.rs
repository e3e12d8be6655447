//! The calls that the machine wants made, and what may be replied to them.

use onsale_domain::desk::{DeskCommand, DeskQuery};
use onsale_domain::order::{OrderCommand, OrdersQuery};
use onsale_domain::{Found, ListingId, ListingKind, Outcome};
use onsale_engine::EngineError;

use crate::provider::{Charge, GiveBack, LookUp, ProviderAnswer};

/// Numbers calls; never given twice by one machine.
pub type CallId = u64;

#[derive(Clone, Debug, PartialEq)]
pub enum Call {
    /// Ids of listings in their order; replied to with [`Reply::Listings`].
    Listings {
        kind: ListingKind,
        after: Option<ListingId>,
        limit: usize,
    },
    /// A question to the desk, to which one that was never opened knows nothing; [`Reply::Found`].
    AskDesk(DeskQuery),
    /// A question to a listing; [`Reply::Found`].
    AskListing(ListingId, OrdersQuery),
    /// A command to the desk; [`Reply::Decided`].
    Desk(DeskCommand),
    /// What came of a payment, for its listing; [`Reply::Decided`].
    Tell(ListingId, OrderCommand),
    /// Calls to the provider; [`Reply::Said`], also if it does not answer in time.
    Charge(Charge),
    Refund(GiveBack),
    LookUp(LookUp),
    CallOff(LookUp),
}

#[derive(Clone, Debug)]
pub enum Reply {
    Listings(Vec<ListingId>),
    Found(Result<Found, EngineError>),
    Decided(Result<Outcome, EngineError>),
    /// `None`: the provider knows nothing of it. An error says why nobody knows.
    Said(Result<Option<ProviderAnswer>, String>),
}

/// A driver that replies with something else than was asked for is our own mistake.
impl Reply {
    pub(super) fn listings(self) -> Vec<ListingId> {
        match self {
            Reply::Listings(listings) => listings,
            Reply::Found(_) | Reply::Decided(_) | Reply::Said(_) => unreachable!("listings were asked for"),
        }
    }

    pub(super) fn found(self) -> Result<Found, EngineError> {
        match self {
            Reply::Found(found) => found,
            Reply::Listings(_) | Reply::Decided(_) | Reply::Said(_) => unreachable!("a question was asked"),
        }
    }

    pub(super) fn decided(self) -> Result<Outcome, EngineError> {
        match self {
            Reply::Decided(outcome) => outcome,
            Reply::Listings(_) | Reply::Found(_) | Reply::Said(_) => unreachable!("a command was given"),
        }
    }

    pub(super) fn said(self) -> Result<Option<ProviderAnswer>, String> {
        match self {
            Reply::Said(said) => said,
            Reply::Listings(_) | Reply::Found(_) | Reply::Decided(_) => {
                unreachable!("the provider was asked")
            }
        }
    }
}
