//! What somebody asks of one listing. Everything a decision needs is in here or in the listing's state:
//! ids come in as data, secrets have been checked at the edge and never arrive.

use std::sync::Arc;

use crate::auction::AuctionCommand;
use crate::desk::DeskCommand;
use crate::event::{EventDetails, EventStatus, Tier};
use crate::fact::AreaCount;
use crate::id::{BuyerId, HoldId, ListingId, OrderId, SeatIndex};
use crate::layout::Layout;
use crate::names::{count, joined};
use crate::order::OrderCommand;
use crate::registration::RegistrationCommand;
use crate::series::SeriesCommand;
use crate::stock::SaleCommand;
use crate::time::Millis;

#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    CreateVenue(Box<CreateVenue>),
    PublishLayout(Arc<Layout>),
    CreateEvent(Box<CreateEvent>),
    ChangeEvent(Box<ChangeEvent>),
    AdoptChart(Box<AdoptChart>),
    ChangeStatus(EventStatus),
    PlaceHold(PlaceHold),
    ExtendHold(ExtendHold),
    DropSeats(DropSeats),
    ReleaseHold(HoldKey),
    ConfirmHold(ConfirmHold),
    OverrideHold(OverrideHold),
    RefundOrder(RefundOrder),
    BlockSeats(BlockSeats),
    UnblockSeats(UnblockSeats),
    JoinQueue(JoinQueue),
    LeaveQueue(LeaveQueue),
    /// For every kind of listing that has deadlines.
    ExpireDue {
        limit: u32,
    },
    Sale(SaleCommand),
    Series(SeriesCommand),
    Registration(RegistrationCommand),
    Auction(AuctionCommand),
    /// Of an order, for whatever listing has its goods.
    Order(OrderCommand),
    Desk(DeskCommand),
}

#[derive(Clone, Debug, PartialEq)]
pub struct CreateVenue {
    pub name: String,
    pub place: String,
    pub layout: Arc<Layout>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct CreateEvent {
    pub details: EventDetails,
    /// `draft`, `scheduled` or `on_sale`.
    pub status: EventStatus,
    pub chart: AdoptChart,
}

#[derive(Clone, Debug, PartialEq)]
pub struct AdoptChart {
    pub venue: Option<ListingId>,
    pub version: u32,
    pub layout: Arc<Layout>,
}

/// Only what is given changes. For a time that may be absent, `Some(None)` takes it away.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChangeEvent {
    pub name: Option<String>,
    pub description: Option<String>,
    pub starts_at: Option<Millis>,
    pub ends_at: Option<Millis>,
    pub sale_opens_at: Option<Option<Millis>>,
    pub sale_closes_at: Option<Option<Millis>>,
    pub tiers: Option<Vec<Tier>>,
    pub hold_ms: Option<Millis>,
    pub extension_ms: Option<Option<Millis>>,
    pub extensions_max: Option<u8>,
    pub buyer_limit: Option<u32>,
    pub refuse_single_seats: Option<bool>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PlaceHold {
    pub hold: HoldId,
    pub buyer: BuyerId,
    pub pick: Pick,
    pub areas: Vec<AreaCount>,
    /// The hold's length; the event's own if absent.
    pub hold_ms: Option<Millis>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Pick {
    Seats(Vec<SeatIndex>),
    /// Chosen inside the decision, so that what is chosen is free.
    Best(BestAvailable),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BestAvailable {
    pub count: u32,
    pub section: Option<u16>,
    pub tier: Option<u16>,
    /// Accessible seats and their companions, and only these.
    pub accessible: bool,
}

/// Names a hold and proves, by its fence, that the caller knows its latest grant.
#[derive(Clone, Debug, PartialEq)]
pub struct HoldKey {
    pub hold: HoldId,
    pub fence: u64,
    pub buyer: BuyerId,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ExtendHold {
    pub key: HoldKey,
    /// What to add; the event's rule if absent.
    pub extension_ms: Option<Millis>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct DropSeats {
    pub key: HoldKey,
    pub seats: Vec<SeatIndex>,
    pub areas: Vec<AreaCount>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ConfirmHold {
    pub key: HoldKey,
    pub order: OrderId,
}

/// Staff takes a hold away, or gives it to somebody; recorded with who and why.
#[derive(Clone, Debug, PartialEq)]
pub struct OverrideHold {
    pub hold: HoldId,
    pub staff: String,
    pub reason: String,
    /// The new holder and how long; nobody: the seats come free.
    pub to: Option<(BuyerId, Option<Millis>)>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct RefundOrder {
    pub order: OrderId,
    /// Nothing named: all that is left of the order.
    pub seats: Vec<SeatIndex>,
    pub areas: Vec<AreaCount>,
    pub reason: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct BlockSeats {
    pub seats: Vec<SeatIndex>,
    /// Free places to take off sale.
    pub areas: Vec<AreaCount>,
    pub reason: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct UnblockSeats {
    pub seats: Vec<SeatIndex>,
    pub areas: Vec<AreaCount>,
}

/// Joins the queue of a seat; in the queue already, it is the heartbeat that renews the place.
#[derive(Clone, Debug, PartialEq)]
pub struct JoinQueue {
    /// The new place's id, should one be made; later the id of the offer's hold.
    pub place: HoldId,
    pub seat: SeatIndex,
    pub buyer: BuyerId,
}

#[derive(Clone, Debug, PartialEq)]
pub struct LeaveQueue {
    pub seat: SeatIndex,
    pub buyer: BuyerId,
}

impl Command {
    /// Whether a yes to this may never be lost, whatever store forgets.
    pub fn is_sealed(&self) -> bool {
        match self {
            Command::CreateVenue(_)
            | Command::PublishLayout(_)
            | Command::CreateEvent(_)
            | Command::ChangeEvent(_)
            | Command::AdoptChart(_)
            | Command::ChangeStatus(_)
            | Command::ConfirmHold(_)
            | Command::OverrideHold(_)
            | Command::RefundOrder(_)
            | Command::BlockSeats(_)
            | Command::UnblockSeats(_) => true,
            Command::PlaceHold(_)
            | Command::ExtendHold(_)
            | Command::DropSeats(_)
            | Command::ReleaseHold(_)
            | Command::JoinQueue(_)
            | Command::LeaveQueue(_)
            | Command::ExpireDue { .. } => false,
            Command::Sale(command) => command.is_sealed(),
            Command::Series(command) => command.is_sealed(),
            Command::Registration(command) => command.is_sealed(),
            Command::Auction(command) => command.is_sealed(),
            Command::Order(_) | Command::Desk(_) => true,
        }
    }

    /// Whether this may be the first command of a listing.
    pub fn creates(&self) -> bool {
        matches!(
            self,
            Command::CreateVenue(_)
                | Command::CreateEvent(_)
                | Command::Sale(SaleCommand::Create(_))
                | Command::Series(SeriesCommand::Create(_))
                | Command::Registration(RegistrationCommand::Create(_))
                | Command::Auction(AuctionCommand::CreateAuction(_))
                | Command::Desk(DeskCommand::Open)
        )
    }

    /// The buyer whose attempt this is, where refused attempts are kept: see [`crate::attempts`].
    pub fn attempt_by(&self) -> Option<&BuyerId> {
        match self {
            Command::Sale(command) => command.attempt_by(),
            Command::Registration(command) => command.attempt_by(),
            Command::Auction(command) => command.attempt_by(),
            Command::PlaceHold(command) => Some(&command.buyer),
            Command::CreateVenue(_)
            | Command::PublishLayout(_)
            | Command::CreateEvent(_)
            | Command::ChangeEvent(_)
            | Command::AdoptChart(_)
            | Command::ChangeStatus(_)
            | Command::ExtendHold(_)
            | Command::DropSeats(_)
            | Command::ReleaseHold(_)
            | Command::ConfirmHold(_)
            | Command::OverrideHold(_)
            | Command::RefundOrder(_)
            | Command::BlockSeats(_)
            | Command::UnblockSeats(_)
            | Command::JoinQueue(_)
            | Command::LeaveQueue(_)
            | Command::ExpireDue { .. }
            | Command::Series(_)
            | Command::Order(_)
            | Command::Desk(_) => None,
        }
    }
}

/// One list for the match and for everybody who needs all names: a command without a name does not compile.
macro_rules! verbs {
    ($($command:pat => $name:literal,)*) => {
        impl Command {
            /// Names of the commands that no kind of listing has nested, in their order.
            pub const FLAT_VERBS: &[&str] = &[$($name,)*];

            /// The verb's name, the same in metrics, logs and idempotency scopes.
            pub fn verb(&self) -> &'static str {
                match self {
                    $($command => $name,)*
                    Command::Sale(command) => command.verb(),
                    Command::Series(command) => command.verb(),
                    Command::Registration(command) => command.verb(),
                    Command::Auction(command) => command.verb(),
                    Command::Order(command) => command.verb(),
                    Command::Desk(command) => command.verb(),
                }
            }
        }
    };
}

verbs! {
    Command::CreateVenue(_) => "create_venue",
    Command::PublishLayout(_) => "publish_layout",
    Command::CreateEvent(_) => "create_event",
    Command::ChangeEvent(_) => "change_event",
    Command::AdoptChart(_) => "adopt_chart",
    Command::ChangeStatus(_) => "change_status",
    Command::PlaceHold(_) => "place_hold",
    Command::ExtendHold(_) => "extend_hold",
    Command::DropSeats(_) => "drop_seats",
    Command::ReleaseHold(_) => "release_hold",
    Command::ConfirmHold(_) => "confirm_hold",
    Command::OverrideHold(_) => "override_hold",
    Command::RefundOrder(_) => "refund_order",
    Command::BlockSeats(_) => "block_seats",
    Command::UnblockSeats(_) => "unblock_seats",
    Command::JoinQueue(_) => "join_queue",
    Command::LeaveQueue(_) => "leave_queue",
    Command::ExpireDue { .. } => "expire_due",
}

const ALL_VERBS: [&[&str]; 7] = [
    Command::FLAT_VERBS,
    &SaleCommand::VERBS,
    &SeriesCommand::VERBS,
    &RegistrationCommand::VERBS,
    AuctionCommand::VERBS,
    &OrderCommand::VERBS,
    &DeskCommand::VERBS,
];

impl Command {
    /// All names, in the order of the commands.
    pub const VERBS: &[&str] = &joined::<{ count(&ALL_VERBS) }>(&ALL_VERBS);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_commands_share_a_name() {
        let mut names = Command::VERBS.to_vec();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Command::VERBS.len());
        assert!(Command::VERBS.contains(&Command::ExpireDue { limit: 1 }.verb()));
        assert!(Command::VERBS.contains(&Command::Sale(SaleCommand::Close).verb()));
        assert!(Command::VERBS.contains(&Command::Series(SeriesCommand::End).verb()));
        assert!(Command::VERBS.contains(&Command::Registration(RegistrationCommand::Close).verb()));
        assert!(Command::VERBS.contains(&Command::Auction(AuctionCommand::CloseDue).verb()));
    }
}
