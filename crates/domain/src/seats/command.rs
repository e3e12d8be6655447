//! What somebody asks of one event's seats.

use std::sync::Arc;

use super::fact::AreaCount;
use crate::event::{EventDetails, EventStatus, Tier};
use crate::id::{BuyerId, HoldId, ListingId, OrderId, SeatIndex};
use crate::layout::Layout;
use crate::time::Millis;
use crate::verb::commands;

commands! {
    pub enum EventCommand {
        CreateEvent(Box<CreateEvent>) = creates "create_event",
        ChangeEvent(Box<ChangeEvent>) = sealed "change_event",
        AdoptChart(Box<AdoptChart>) = sealed "adopt_chart",
        ChangeStatus(EventStatus) = sealed "change_status",
        PlaceHold(PlaceHold) = unsealed "place_hold",
        ExtendHold(ExtendHold) = unsealed "extend_hold",
        GrowHold(GrowHold) = unsealed "grow_hold",
        DropSeats(DropSeats) = unsealed "drop_seats",
        ReleaseHold(HoldKey) = unsealed "release_hold",
        ConfirmHold(ConfirmHold) = sealed "confirm_hold",
        OverrideHold(OverrideHold) = sealed "override_hold",
        RefundOrder(RefundOrder) = sealed "refund_order",
        BlockSeats(BlockSeats) = sealed "block_seats",
        UnblockSeats(UnblockSeats) = sealed "unblock_seats",
        JoinQueue(JoinQueue) = unsealed "join_queue",
        LeaveQueue(LeaveQueue) = unsealed "leave_queue",
    }
}

/// What a command is about. What is due there expires before the command is decided, and an order may keep it from it.
#[derive(Debug)]
pub(super) enum About<'a> {
    /// A hold and what its buyer may still hold: the command leaves in it what is in it.
    Hold(&'a HoldKey),
    /// The same, but the command changes what is in it, or buys it; with the seats and places that come into it.
    HoldsGoods {
        key: &'a HoldKey,
        seats: &'a [SeatIndex],
        areas: &'a [AreaCount],
    },
    /// A hold, whoever has it.
    AnyHold(HoldId),
    Seats {
        seats: &'a [SeatIndex],
        areas: &'a [AreaCount],
        buyer: Option<&'a BuyerId>,
    },
    Chart(&'a Layout),
    Nothing,
}

impl EventCommand {
    pub(super) fn about(&self) -> About<'_> {
        match self {
            EventCommand::PlaceHold(PlaceHold { buyer, pick, areas, .. }) => {
                let seats = match pick {
                    Pick::Seats(picked) => picked,
                    Pick::Best(_) => &[][..],
                };
                About::Seats { seats, areas, buyer: Some(buyer) }
            }
            EventCommand::ExtendHold(command) => About::Hold(&command.key),
            EventCommand::ReleaseHold(key) => About::Hold(key),
            EventCommand::GrowHold(GrowHold { key, seats, areas }) => About::HoldsGoods { key, seats, areas },
            EventCommand::DropSeats(DropSeats { key, .. })
            | EventCommand::ConfirmHold(ConfirmHold { key, .. }) => {
                About::HoldsGoods { key, seats: &[], areas: &[] }
            }
            EventCommand::OverrideHold(command) => About::AnyHold(command.hold),
            EventCommand::BlockSeats(BlockSeats { seats, areas, .. }) => {
                About::Seats { seats, areas, buyer: None }
            }
            EventCommand::UnblockSeats(UnblockSeats { seats, .. }) => {
                About::Seats { seats, areas: &[], buyer: None }
            }
            EventCommand::JoinQueue(JoinQueue { seat, buyer, .. })
            | EventCommand::LeaveQueue(LeaveQueue { seat, buyer }) => {
                About::Seats { seats: std::slice::from_ref(seat), areas: &[], buyer: Some(buyer) }
            }
            EventCommand::AdoptChart(command) => About::Chart(&command.layout),
            EventCommand::CreateEvent(_)
            | EventCommand::ChangeEvent(_)
            | EventCommand::ChangeStatus(_)
            | EventCommand::RefundOrder(_) => About::Nothing,
        }
    }
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
    pub time_zone: Option<String>,
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
pub struct GrowHold {
    pub key: HoldKey,
    /// Those that the hold has already count as a yes.
    pub seats: Vec<SeatIndex>,
    /// Places have no names: these come on top of what the hold has.
    pub areas: Vec<AreaCount>,
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
    /// Whether somebody who may say so says that it is paid: without that only what costs nothing is sold.
    pub settled: bool,
}

/// Staff takes a hold away, or gives it to somebody; recorded with why.
#[derive(Clone, Debug, PartialEq)]
pub struct OverrideHold {
    pub hold: HoldId,
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
