//! A "no" with a stable public code. It is an answer, not an error: counted, never logged.
//! The order of the codes is their precedence where several apply to one command.

use crate::field::FieldPath;
use crate::id::{AreaIndex, OrderId, SeatIndex, SkuIndex};
use crate::money::Minor;

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $number:literal, $text:literal;)*) => {
        /// The public code of a refusal. Numbers and names are never reused.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Code { $($(#[$doc])* $name = $number,)* }

        impl Code {
            pub const ALL: &[Code] = &[$(Code::$name,)*];

            pub fn as_str(self) -> &'static str {
                match self { $(Code::$name => $text,)* }
            }
        }
    };
}

codes! {
    /// The listing does not exist.
    ListingUnknown = 1, "listing_unknown";
    /// A listing with this id exists already.
    ListingExists = 2, "listing_exists";
    /// A value breaks a rule; the refusal names the field.
    Invalid = 3, "invalid";
    /// This verb is not for this kind of listing.
    WrongKind = 4, "wrong_kind";
    EventCancelled = 5, "event_cancelled";
    SaleNotStarted = 6, "sale_not_started";
    SaleClosed = 7, "sale_closed";
    /// The event's status does not allow this change.
    StatusConflict = 8, "status_conflict";
    SeatUnknown = 9, "seat_unknown";
    AreaUnknown = 10, "area_unknown";
    HoldUnknown = 11, "hold_unknown";
    OrderUnknown = 12, "order_unknown";
    /// Not in this queue.
    PlaceUnknown = 13, "place_unknown";
    Expired = 14, "expired";
    Released = 15, "released";
    Overridden = 16, "overridden";
    Lost = 17, "lost";
    HoldConfirmed = 18, "hold_confirmed";
    StaleFence = 19, "stale_fence";
    SeatSold = 20, "seat_sold";
    SeatBlocked = 21, "seat_blocked";
    SeatHeld = 22, "seat_held";
    /// Some of the seats, but not exactly these, are held by the same buyer.
    AlreadyYours = 23, "already_yours";
    /// A general-admission area has too few free places.
    AreaFull = 24, "area_full";
    BuyerLimit = 25, "buyer_limit";
    /// The event forbids leaving a single seat between others.
    LeavesSingleSeat = 26, "leaves_single_seat";
    /// Best available found too few seats.
    NotEnoughSeats = 27, "not_enough_seats";
    ExtensionsUsed = 28, "extensions_used";
    ExtensionCap = 29, "extension_cap";
    SeatNotInHold = 30, "seat_not_in_hold";
    SeatAvailable = 31, "seat_available";
    QueueFull = 32, "queue_full";
    QueueLimit = 33, "queue_limit";
    /// The seat does not belong to the order, or was refunded before.
    NotRefundable = 34, "not_refundable";
    /// A new layout may not remove a seat that is held or sold.
    SeatInUse = 35, "seat_in_use";
    /// The hold is being paid; it can be neither extended nor released.
    HoldPaying = 36, "hold_paying";
    /// The id was used before by another hold, order or queue place.
    IdTaken = 37, "id_taken";
    /// The idempotency key was used before with another body.
    KeyReused = 38, "key_reused";
    SaleCancelled = 40, "sale_cancelled";
    SkuUnknown = 41, "sku_unknown";
    CheckoutUnknown = 42, "checkout_unknown";
    /// The code or the registration belongs to another buyer.
    NotYours = 43, "not_yours";
    /// The code was used: what it reserved is bought.
    CheckoutPurchased = 44, "checkout_purchased";
    /// An order has taken the code; only the order's end gives it back.
    CheckoutOrdered = 45, "checkout_ordered";
    /// Something is to be paid, and nobody says that it was.
    PaymentRequired = 46, "payment_required";
    /// Every unit is sold.
    SoldOut = 47, "sold_out";
    /// Every unit is sold or reserved, and reservations may return.
    SoldOutForNow = 48, "sold_out_for_now";
    /// There are some, but fewer than asked for.
    NotEnoughStock = 49, "not_enough_stock";
    SeriesEnded = 50, "series_ended";
    SeriesPaused = 51, "series_paused";
    /// The slot is not after the last one that was opened or skipped.
    SlotPast = 52, "slot_past";
    /// The slot begins later than a sale is made ready.
    SlotEarly = 53, "slot_early";
    RegistrationCancelled = 54, "registration_cancelled";
    RegistrationNotOpen = 55, "registration_not_open";
    /// The cut-off is over, or staff closed it.
    RegistrationClosed = 56, "registration_closed";
    EntryUnknown = 57, "entry_unknown";
    /// The place was not offered: its buyer waits in line.
    NotOffered = 58, "not_offered";
    WaitingListFull = 59, "waiting_list_full";
    /// A paid place is confirmed; it can be cancelled, but not once more paid.
    EntryConfirmed = 60, "entry_confirmed";

    /// It has sold or promised something, and is not deleted.
    ListingInUse = 65, "listing_in_use";

    // Auctions; in the order in which a bid is refused.
    AuctionNotStarted = 70, "not_started";
    AuctionCancelled = 71, "auction_cancelled";
    AuctionOver = 72, "over";
    /// The seller bids in an auction of their own.
    SellerBids = 73, "seller";
    BidderBanned = 74, "banned";
    /// The bid is in another currency than the auction.
    OtherCurrency = 75, "currency";
    /// The amount is no multiple of the auction's tick.
    OffTick = 76, "off_tick";
    /// Buying at once is not, or no longer, on offer.
    BuyNowGone = 77, "buy_now_gone";
    LeaderNotRaising = 78, "leader_not_raising";
    BidTooLow = 79, "bid_too_low";
    /// The auction has taken as many bids as it may.
    BidsFull = 80, "bids_full";
    BidUnknown = 81, "bid_unknown";
    /// Only staff may retract in this auction.
    RetractionNotAllowed = 82, "retraction_not_allowed";
    /// A bidder may retract only their latest bid.
    BidNotLatest = 83, "bid_not_latest";
    /// The bid is too old, or the end too near, for its bidder to retract it.
    RetractionLate = 84, "retraction_late";
    WatchersFull = 85, "watchers_full";
    BansFull = 86, "bans_full";
    /// This buyer neither won nor was given a second chance.
    AwardUnknown = 87, "award_unknown";
    /// A winning bid binds; only a second chance may be declined.
    AwardBinding = 88, "award_binding";
    AwardSettled = 89, "award_settled";

    // Orders and payments.
    /// Another order has taken the hold: it is paid or cancelled first.
    AlreadyOrdered = 90, "already_ordered";
    /// A payment of this order is under way.
    OrderPaying = 91, "order_paying";
    OrderConfirmed = 92, "order_confirmed";
    OrderCancelled = 93, "order_cancelled";
    PaymentUnknown = 94, "payment_unknown";
    /// The order was tried to be paid too often.
    PaymentAttempts = 95, "payment_attempts";
}

/// Which place stands in the way, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InTheWay {
    Seat(SeatIndex, Code),
    Area(AreaIndex, Code),
    Sku(SkuIndex, Code),
}

impl InTheWay {
    pub fn code(self) -> Code {
        match self {
            InTheWay::Seat(_, code) | InTheWay::Area(_, code) | InTheWay::Sku(_, code) => code,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub code: Code,
    /// Every seat, area and SKU in the way, in the order asked.
    pub in_the_way: Vec<InTheWay>,
    pub detail: Detail,
}

/// What else a caller needs to act on the refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Detail {
    None,
    Field {
        field: FieldPath,
        why: String,
    },
    Limit {
        limit: u32,
        taken: u32,
    },
    Order(OrderId),
    /// The least that a bid must offer.
    MinNext(Minor),
}

impl Refusal {
    pub fn of(code: Code) -> Refusal {
        Refusal { code, in_the_way: Vec::new(), detail: Detail::None }
    }

    pub fn invalid(field: impl Into<FieldPath>, why: impl Into<String>) -> Refusal {
        Refusal {
            detail: Detail::Field { field: field.into(), why: why.into() },
            ..Refusal::of(Code::Invalid)
        }
    }

    pub fn limit(code: Code, limit: u32, taken: u32) -> Refusal {
        Refusal { detail: Detail::Limit { limit, taken }, ..Refusal::of(code) }
    }

    pub fn seat(seat: SeatIndex, code: Code) -> Refusal {
        Refusal { in_the_way: vec![InTheWay::Seat(seat, code)], ..Refusal::of(code) }
    }

    /// The refusal for all that stands in the way; its code is the one that takes precedence.
    pub fn in_the_way(all: Vec<InTheWay>) -> Result<(), Refusal> {
        match all.iter().map(|one| one.code()).min() {
            None => Ok(()),
            Some(code) => Err(Refusal { code, in_the_way: all, detail: Detail::None }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_are_unique_and_ordered_by_precedence() {
        for pair in Code::ALL.windows(2) {
            assert!((pair[0] as u8) < (pair[1] as u8));
        }
        let mut names: Vec<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Code::ALL.len());
    }

    #[test]
    fn sold_wins_over_blocked_over_held_over_yours_over_limit() {
        let order = [Code::SeatSold, Code::SeatBlocked, Code::SeatHeld, Code::AlreadyYours, Code::BuyerLimit];
        assert!(order.is_sorted());
    }
}
