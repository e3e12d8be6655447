//! Every code an answer may carry, with its status, its title and what to do next. Served as pages under
//! `/problems/<code>`; codes are never reused.

pub mod access;

use onsale_domain::Code;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub code: &'static str,
    pub status: u16,
    pub title: &'static str,
    pub next: &'static str,
}

const fn entry(code: &'static str, status: u16, title: &'static str, next: &'static str) -> Entry {
    Entry { code, status, title, next }
}

pub const MALFORMED: Entry =
    entry("malformed", 400, "The request cannot be read", "Send valid JSON and a valid path.");
pub const UNAUTHENTICATED: Entry =
    entry("unauthenticated", 401, "Not signed in", "Send `Authorization: Bearer <api key>`.");
pub const MISSING_SCOPE: Entry = entry(
    "missing_scope",
    403,
    "Not allowed",
    "Use a key or an account with the scope that this answer names; who has which is in docs/roles.md.",
);
pub const OTHER_BUYER: Entry = entry(
    "other_buyer",
    403,
    "This belongs to another buyer",
    "Ask as that buyer. Only a secret or restricted key may name a buyer in `Onsale-Buyer`.",
);
pub const PERSON_NEEDED: Entry = entry(
    "person_needed",
    403,
    "Only a person who is signed in does this",
    "Sign in with POST /v1/sessions, or begin as a guest with POST /v1/guests, and send that session's token.",
);
pub const CROSS_SITE: Entry = entry(
    "cross_site",
    403,
    "Asked by a page of another site",
    "A cookie opens only what pages of this site ask. Ask from one, or send the token in `Authorization: Bearer <token>`.",
);
pub const CREDENTIALS_WRONG: Entry = entry(
    "credentials_wrong",
    401,
    "The e-mail address or the password is wrong",
    "Type both again, or set a new password with POST /v1/password-resets.",
);
pub const TOO_MANY_ATTEMPTS: Entry = entry(
    "too_many_attempts",
    429,
    "Too many wrong passwords",
    "Wait as long as `Retry-After` says, or set a new password with POST /v1/password-resets.",
);
pub const SIGN_IN_BUSY: Entry = entry(
    "sign_in_busy",
    503,
    "Too many passwords are being checked",
    "Nothing was done. Wait as long as `Retry-After` says, then send the same again.",
);
pub const ACCOUNT_DISABLED: Entry =
    entry("account_disabled", 403, "The account is disabled", "Ask the organiser to enable it.");
pub const TOKEN_INVALID: Entry = entry(
    "token_invalid",
    422,
    "The token of the letter opens nothing",
    "It is mistyped, was used already or has expired: ask for another letter.",
);
pub const EMAIL_TAKEN: Entry =
    entry("email_taken", 409, "The e-mail address has an account", "Sign in to that account.");
pub const NOT_AN_ACCOUNT: Entry = entry(
    "not_an_account",
    409,
    "This person has no account in use",
    "A guest registers first with POST /v1/accounts; an account that is disabled is enabled first.",
);
pub const USER_UNKNOWN: Entry = entry("user_unknown", 404, "No such person", "Check the id.");
pub const SESSION_UNKNOWN: Entry =
    entry("session_unknown", 404, "No such session", "GET /v1/sessions has all that are open.");
pub const TOKEN_ROTATED: Entry =
    entry("token_rotated", 409, "The token was replaced a moment ago", "Send the newer one.");
pub const FAVOURITES_FULL: Entry =
    entry("favourites_full", 409, "Too many favourites", "Remove some first; `limit` is the most.");
pub const ACCESS_OFF: Entry = entry(
    "access_off",
    503,
    "This server has no accounts",
    "Its operator starts it with `access.database` set to `sqlite` or to the address of a PostgreSQL database.",
);
pub const KEY_IN_QUERY: Entry = entry(
    "key_in_query",
    400,
    "A key or token stands in the address",
    "Addresses are written to logs: revoke it, and send another in `Authorization: Bearer <key>`.",
);
pub const WEBHOOK_SIGNATURE: Entry = entry(
    "webhook_signature",
    400,
    "The webhook's signature does not hold",
    "Compare the webhook secret in the configuration with the provider's, and the clocks of both.",
);
pub const ROUTE_UNKNOWN: Entry =
    entry("route_unknown", 404, "No such route", "See /docs for every route of this server.");
pub const METHOD_NOT_ALLOWED: Entry =
    entry("method_not_allowed", 405, "Wrong method for this route", "See the header Allow, or /docs.");
pub const WRONG_TOKEN: Entry = entry(
    "wrong_token",
    412,
    "The token, code or key does not open this",
    "Send the newest `Hold-Token`, the `Checkout-Code` or the `Order-Key` that came with the hold, checkout or order.",
);
pub const TOO_LARGE: Entry =
    entry("too_large", 413, "The body is too large", "Send less; `onsale config` shows the limits.");
pub const MEDIA_TYPE: Entry = entry(
    "media_type",
    415,
    "The body is not JSON",
    "Send `Content-Type: application/json`; with curl, use --json instead of -d.",
);
pub const HEADERS_TOO_LARGE: Entry =
    entry("headers_too_large", 431, "The headers are too large", "Send fewer or shorter headers.");
pub const INTERNAL: Entry =
    entry("internal", 500, "The server made a mistake", "Report it with the request id; a retry may work.");
pub const READ_FAILED: Entry =
    entry("read_failed", 500, "Reading the log failed", "Look at the server's log; the disk may be damaged.");
pub const BUSY: Entry =
    entry("busy", 503, "Too much at once", "Wait as long as `Retry-After` says, then send the same again.");
pub const DISK_FULL: Entry =
    entry("disk_full", 503, "The disk is full", "Free some space; writing goes on by itself.");
pub const STOPPING: Entry =
    entry("stopping", 503, "The server is stopping", "Try again in a moment, with the same Idempotency-Key.");
pub const POISONED: Entry = entry(
    "poisoned",
    503,
    "A write to the disk failed",
    "The server must be restarted; it continues from what is safely stored.",
);
pub const STORE_UNAVAILABLE: Entry = entry(
    "store_unavailable",
    503,
    "The store cannot be reached",
    "Nothing was decided. Try again in a moment; operators run `onsale doctor`.",
);
pub const RECOVERING: Entry = entry(
    "recovering",
    503,
    "The store may have forgotten something",
    "It is being recovered, which takes seconds: send the same again with the same Idempotency-Key.",
);
pub const ACCESS_UNAVAILABLE: Entry = entry(
    "access_unavailable",
    503,
    "Who you are cannot be checked",
    "The database of keys and accounts does not answer. Try again in a moment; nothing was done.",
);
pub const STORE_DAMAGED: Entry = entry(
    "store_damaged",
    500,
    "The store holds what it should not",
    "Look at the server's log and run `onsale doctor`; a retry does not help.",
);
pub const UNSUPPORTED: Entry =
    entry("unsupported", 501, "The store cannot do this", "Another engine can; a retry does not help.");
pub const TIMED_OUT: Entry = entry(
    "timed_out",
    503,
    "No answer in time",
    "What became of the command is unknown: send it again with the same Idempotency-Key.",
);
pub const STREAMS_FULL: Entry =
    entry("streams_full", 503, "Too many open streams", "Try again later, or poll `…/facts?after=`.");
pub const RELOAD: Entry = entry(
    "reload",
    410,
    "This position is no longer in the log",
    "Load the listing again and go on from its position, or read facts after the position in this answer: from there none is missed.",
);

pub const KEY_CONFIGURED: Entry = entry(
    "key_configured",
    403,
    "The configured key vouches for nobody",
    "A buyer token ends with the key that made it: make a secret key with POST /v1/keys, and use that.",
);

/// Codes that the edge itself gives.
pub const EDGE: [Entry; 41] = [
    MALFORMED,
    UNAUTHENTICATED,
    MISSING_SCOPE,
    OTHER_BUYER,
    PERSON_NEEDED,
    CROSS_SITE,
    CREDENTIALS_WRONG,
    TOO_MANY_ATTEMPTS,
    SIGN_IN_BUSY,
    ACCOUNT_DISABLED,
    TOKEN_INVALID,
    EMAIL_TAKEN,
    NOT_AN_ACCOUNT,
    USER_UNKNOWN,
    SESSION_UNKNOWN,
    TOKEN_ROTATED,
    FAVOURITES_FULL,
    ACCESS_OFF,
    KEY_IN_QUERY,
    WEBHOOK_SIGNATURE,
    ROUTE_UNKNOWN,
    METHOD_NOT_ALLOWED,
    WRONG_TOKEN,
    TOO_LARGE,
    MEDIA_TYPE,
    HEADERS_TOO_LARGE,
    INTERNAL,
    READ_FAILED,
    BUSY,
    DISK_FULL,
    STOPPING,
    POISONED,
    STORE_UNAVAILABLE,
    RECOVERING,
    ACCESS_UNAVAILABLE,
    STORE_DAMAGED,
    UNSUPPORTED,
    TIMED_OUT,
    STREAMS_FULL,
    RELOAD,
    KEY_CONFIGURED,
];

/// Everything that has a page, the edge's codes first.
pub fn all() -> impl Iterator<Item = Entry> {
    EDGE.into_iter().chain(Code::ALL.iter().map(|code| of(*code))).chain(access::all())
}

/// The schema of `code`: every code that has a page.
#[derive(Debug)]
pub struct ProblemCode;

impl PartialSchema for ProblemCode {
    fn schema() -> RefOr<Schema> {
        let codes = all().map(|entry| entry.code);
        let about = "Made for programs and never reused. Each is explained at `/problems/<code>`.";
        ObjectBuilder::new()
            .schema_type(Type::String)
            .enum_values(Some(codes))
            .description(Some(about))
            .into()
    }
}

impl ToSchema for ProblemCode {}

/// How a refusal is answered over HTTP. No wildcard: a new code must be given its place here.
pub fn of(code: Code) -> Entry {
    let (status, title, next) = match code {
        Code::ListingUnknown => (404, "No such listing", "Check the id; it may belong to another server."),
        Code::ListingExists => (
            409,
            "This listing exists already",
            "GET `listing`, or use another Idempotency-Key or `external_id`.",
        ),
        Code::Invalid => (422, "A value breaks a rule", "Correct the field that `field` names."),
        Code::WrongKind => {
            (409, "Not for this kind of listing", "Use the id of a listing of the right kind.")
        }
        Code::EventCancelled => {
            (409, "The event is cancelled", "Nothing can be bought; orders are refunded.")
        }
        Code::SaleNotStarted => (409, "The sale has not started", "Wait for `sale_opens_at`."),
        Code::SaleClosed => {
            (409, "The sale is closed", "New holds are no longer given; living ones may finish.")
        }
        Code::StatusConflict => (409, "Its status does not allow this", "GET the listing to see its status."),
        Code::SeatUnknown => (404, "No such seat", "`seats` names them; the chart has all ids."),
        Code::AreaUnknown => (404, "No such area", "The chart has the ids of all areas."),
        Code::HoldUnknown => {
            (404, "No such hold", "It was never placed here, or ended more than an hour ago.")
        }
        Code::OrderUnknown => (404, "No such order", "Check the id."),
        Code::PlaceUnknown => (404, "Not in this queue", "POST to the queue to join it."),
        Code::Expired => (410, "Its time is over", "Begin anew: what was kept is free for others."),
        Code::Released => (410, "It was given back", "Begin anew: what was kept is free for others."),
        Code::Overridden => (410, "Staff took the hold away", "Contact the organiser."),
        Code::Lost => (410, "It was lost in a failure", "Begin anew: nothing is kept for it."),
        Code::HoldConfirmed => (409, "The hold is confirmed already", "GET the order that `order` names."),
        Code::StaleFence => (412, "The token is outdated", "GET the hold as its buyer for the newest token."),
        Code::SeatSold => (409, "A seat is sold", "Choose others; `seats` names those in the way."),
        Code::SeatBlocked => (409, "A seat is not on sale", "Choose others; `seats` names those in the way."),
        Code::SeatHeld => (409, "A seat is held by another", "Choose others, or join the seat's queue."),
        Code::AlreadyYours => {
            (409, "You hold some of these already", "Ask for exactly the same, or for others only.")
        }
        Code::AreaFull => (409, "An area has too few places", "Ask for fewer, or another area."),
        Code::BuyerLimit => {
            (409, "Over the per-buyer limit", "Ask for fewer: `limit` is the most, `taken` what you have.")
        }
        Code::LeavesSingleSeat => (
            409,
            "This would leave a single seat alone",
            "Move by one seat; `seats` names the one that would be left.",
        ),
        Code::NotEnoughSeats => {
            (409, "Too few seats are free", "Ask for fewer, or without a section or tier.")
        }
        Code::ExtensionsUsed => (409, "The hold was extended before", "Confirm it in time."),
        Code::ExtensionCap => (409, "The hold cannot last longer", "Confirm it in time."),
        Code::SeatNotInHold => (409, "A seat is not in this hold", "GET the hold to see what it contains."),
        Code::SeatAvailable => (409, "The seat is free", "Hold it; there is nothing to queue for."),
        Code::QueueFull => (409, "The queue is full", "Try another seat."),
        Code::QueueLimit => (409, "Too many queue places", "Leave another queue first."),
        Code::NotRefundable => {
            (409, "Not part of the order, or refunded before", "GET the order to see what is left.")
        }
        Code::SeatInUse => {
            (409, "A held or sold seat is missing from the new layout", "Keep `seats` in the new layout.")
        }
        Code::HoldPaying => (409, "The hold is being paid", "Wait for the payment's result."),
        Code::IdTaken => (409, "The id was used before", "Ask again: another id is drawn."),
        Code::KeyReused => (422, "The Idempotency-Key was used with another request", "Use a new key."),
        Code::SaleCancelled => (409, "The sale is cancelled", "Nothing can be bought; orders are refunded."),
        Code::SkuUnknown => (404, "No such SKU", "GET the sale to see its SKUs."),
        Code::CheckoutUnknown => {
            (404, "No such checkout", "It was never made here, or ended more than an hour ago.")
        }
        Code::NotYours => (403, "This belongs to another buyer", "Use your own code or registration."),
        Code::CheckoutPurchased => (409, "The code was used", "GET the order that `order` names."),
        Code::CheckoutOrdered => (409, "The code belongs to an order", "Pay or cancel the order."),
        Code::PaymentRequired => {
            (409, "Something is to be paid", "Place an order and pay it, or say `paid_elsewhere`.")
        }
        Code::SoldOut => (409, "Sold out", "Every unit is sold; `lines` names the SKUs."),
        Code::SoldOutForNow => (409, "Sold out for now", "Try again: reservations may return."),
        Code::NotEnoughStock => (409, "Fewer are left", "Ask for fewer; GET the sale to see how many."),
        Code::SeriesEnded => (409, "The series has ended", "Create another."),
        Code::SeriesPaused => (409, "The series is paused", "Wait until it is resumed."),
        Code::SlotPast => {
            (409, "The slot is past", "A slot comes after the last one; GET the series to see it.")
        }
        Code::SlotEarly => (409, "The slot is not due yet", "A slot is opened a minute before it begins."),
        Code::RegistrationCancelled => {
            (409, "The registration is cancelled", "Nobody has a place; what was paid is refunded.")
        }
        Code::RegistrationNotOpen => (409, "The registration is not open yet", "Wait for `opens_at`."),
        Code::RegistrationClosed => (409, "The registration is closed", "Its cut-off is over."),
        Code::EntryUnknown => {
            (404, "No such registration", "It was never made here, or ended more than an hour ago.")
        }
        Code::NotOffered => (409, "The place was not offered", "Wait in line."),
        Code::WaitingListFull => (409, "The waiting list is full", "Try again later."),
        Code::EntryConfirmed => (409, "The place is paid already", "GET the registration."),
        Code::ListingInUse => (
            409,
            "This listing was used",
            "Only what never sold or promised anything is deleted; end or cancel it.",
        ),
        Code::AuctionNotStarted => (409, "The auction has not started", "Wait for `starts_at`."),
        Code::AuctionCancelled => {
            (409, "The auction is cancelled", "Bids in it do not count; look at other auctions.")
        }
        Code::AuctionOver => (409, "The auction is over", "GET the auction to see how it ended."),
        Code::SellerBids => (403, "A seller may not bid in their own auction", "Bid on something else."),
        Code::BidderBanned => (403, "This bidder is banned from the auction", "Contact the organiser."),
        Code::OtherCurrency => {
            (409, "The auction is in another currency", "GET the auction for its currency.")
        }
        Code::OffTick => (409, "The amount is between two ticks", "Bid a multiple of the auction's tick."),
        Code::BuyNowGone => (409, "Buying at once is not on offer", "Place a bid."),
        Code::LeaderNotRaising => (
            409,
            "You are leading already, with at least this maximum",
            "Bid more than your own maximum, or wait.",
        ),
        Code::BidTooLow => (409, "The bid is too low", "`min_next_minor` is the least."),
        Code::BidsFull => (409, "The auction takes no more bids", "Wait for its end."),
        Code::BidUnknown => {
            (404, "No such bid", "The history has the numbers of all bids; it must be your own.")
        }
        Code::RetractionNotAllowed => (403, "Only staff may retract here", "Contact the organiser."),
        Code::BidNotLatest => (409, "Not your latest bid", "Retract the latest one first."),
        Code::RetractionLate => {
            (409, "Too late to retract", "Within an hour of the bid and twelve hours before the end only.")
        }
        Code::WatchersFull => (409, "Too many watch this auction", "Follow its stream instead."),
        Code::BansFull => (409, "Too many bidders are banned from this auction", "Lift a ban first."),
        Code::AwardUnknown => (404, "This buyer has nothing to pay here", "GET the auction to see who has."),
        Code::AwardBinding => (409, "A winning bid binds", "Pay it; only a second chance may be declined."),
        Code::AwardSettled => (409, "It is paid already", "GET its order."),
        Code::AlreadyOrdered => {
            (409, "An order has taken this already", "Pay or cancel the order that `order` names.")
        }
        Code::OrderPaying => {
            (409, "A payment of this order is under way", "GET the order; wait for the payment's end.")
        }
        Code::OrderConfirmed => (409, "The order is paid already", "GET the order."),
        Code::OrderCancelled => (409, "The order is cancelled", "Place another one."),
        Code::PaymentUnknown => {
            (404, "No such payment", "It was never made here, or ended more than a week ago.")
        }
        Code::PaymentAttempts => (409, "Too many attempts to pay this order", "Place another order."),
    };
    entry(code.as_str(), status, title, next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_status_a_title_and_advice_and_is_unique() {
        let mut codes: Vec<_> = all().map(|entry| entry.code).collect();
        for entry in all() {
            assert!((400..600).contains(&entry.status), "{}", entry.code);
            assert!(!entry.title.is_empty() && !entry.next.is_empty());
        }
        codes.sort_unstable();
        let before = codes.len();
        codes.dedup();
        assert_eq!(codes.len(), before);
    }

    #[test]
    fn the_table_of_the_rules_holds() {
        use Code::{
            Expired, HoldUnknown, Invalid, KeyReused, ListingUnknown, Lost, Overridden, Released, SeatHeld,
            SeatUnknown, StaleFence,
        };
        let table = [
            (404, vec![ListingUnknown, SeatUnknown, HoldUnknown]),
            (410, vec![Expired, Released, Overridden, Lost]),
            (412, vec![StaleFence]),
            (422, vec![Invalid, KeyReused]),
            (409, vec![SeatHeld, Code::SeatSold, Code::BuyerLimit, Code::HoldPaying]),
        ];
        for (status, codes) in table {
            for code in codes {
                assert_eq!(of(code).status, status, "{code:?}");
            }
        }
    }
}
