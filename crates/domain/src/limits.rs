//! Every bound of the rules in one place, each with its reason.

use crate::time::Millis;

/// Declares bounds, and lists them by name for engines that decide elsewhere: what they need is put in from here.
macro_rules! bounds {
    ($($(#[$doc:meta])* pub const $NAME:ident: $Type:ty = $value:expr;)*) => {
        $($(#[$doc])* pub const $NAME: $Type = $value;)*

        /// Every bound of this file by its name.
        pub const ALL: &[(&str, i64)] = &[$((stringify!($NAME), $NAME as i64),)*];
    };
}
pub(crate) use bounds;

bounds! {
    /// Seats and general-admission places in one hold: a group's worth; more is a block sale for staff.
    pub const HOLD_PLACES_MAX: u32 = 20;
    /// Default length of a hold: long enough to pay with a saved card.
    pub const HOLD_MS_DEFAULT: Millis = 120_000;
    pub const HOLD_MS_MIN: Millis = 30_000;
    pub const HOLD_MS_MAX: Millis = 900_000;
    /// An extension never carries a hold past `placed + max(this, 2 × its length)`.
    pub const HOLD_CAP_MS_MIN: Millis = 300_000;
    pub const EXTENSIONS_DEFAULT: u8 = 1;
    pub const EXTENSIONS_MAX: u8 = 10;
    /// Places per buyer and event, held and sold together.
    pub const BUYER_LIMIT_DEFAULT: u32 = 8;
    pub const BUYER_LIMIT_MAX: u32 = 50;
    /// The queue for one seat; behind a hundred others nobody is ever served.
    pub const QUEUE_PER_SEAT_MAX: usize = 100;
    pub const QUEUE_PLACES_PER_BUYER_MAX: u32 = 20;
    /// A queue place lives this long without a heartbeat.
    pub const PLACE_MS: Millis = 300_000;
    /// With more than this left a heartbeat writes nothing: half of the life, so that a client may beat freely.
    pub const PLACE_RENEW_BELOW_MS: Millis = 150_000;
    /// How long the first in line has to take what came free.
    pub const OFFER_MS: Millis = 60_000;
    /// `ExpireDue` handles at most this many deadlines in one step, so that a mass expiry never stalls buyers.
    pub const EXPIRE_DUE_MAX: u32 = 64;
    /// How long an ended hold answers 410 with its reason; afterwards it is unknown.
    pub const ENDED_MS: Millis = 3_600_000;
    /// At most so many ended holds are remembered per listing (about 8 MB); under a flood the oldest go first.
    pub const ENDED_MAX: usize = 100_000;

    pub const SEATS_MAX: usize = 100_000;
    /// Indexes ever given out in one event, retired ones included: ten whole charts.
    pub const SEATS_EVER_MAX: usize = 10 * SEATS_MAX;
    pub const AREAS_EVER_MAX: usize = 10 * AREAS_MAX;
    /// A seat's place in its row is a 16-bit number.
    pub const ROW_SEATS_MAX: usize = u16::MAX as usize;
    pub const ROWS_MAX: usize = SEATS_MAX;
    pub const SECTIONS_MAX: usize = 1_000;
    pub const AREAS_MAX: usize = 200;
    pub const AREA_CAPACITY_MAX: u32 = 100_000;
    pub const TIERS_MAX: usize = 64;
    pub const SEAT_ID_CHARS_MAX: usize = 64;
    pub const NAME_CHARS_MAX: usize = 200;
    pub const DESCRIPTION_CHARS_MAX: usize = 10_000;
    pub const REASON_CHARS_MAX: usize = 200;
    /// A merchant's own name of a listing: as long as an idempotency key.
    pub const EXTERNAL_ID_CHARS_MAX: usize = 255;
    /// What is only told back, as compact JSON: a note, not a document.
    pub const METADATA_BYTES_MAX: usize = 2_048;
    /// Category, city and organiser of a card.
    pub const CARD_CHARS_MAX: usize = 200;
    pub const CARD_TAGS_MAX: usize = 10;
    pub const CARD_TAG_CHARS_MAX: usize = 50;
    /// An address that every browser takes.
    pub const CARD_URL_CHARS_MAX: usize = 2_048;
    /// Coordinates are millionths of a degree.
    pub const LATITUDE_MICRO_MAX: i64 = 90_000_000;
    pub const LONGITUDE_MICRO_MAX: i64 = 180_000_000;
    /// The longest name in the time zone database has half of this.
    pub const TIME_ZONE_CHARS_MAX: usize = 64;
    /// A buyer's id: an account or a merchant's own id with its tenant in front.
    pub const BUYER_CHARS_MAX: usize = 128;
    /// The year 2200: a deadline beyond it is a mistake of units, not a wish.
    pub const TIME_MAX: Millis = 7_258_118_400_000;

    /// SKUs of one sale: a flash sale is a shop window, not a warehouse.
    pub const SKUS_MAX: usize = 100;
    pub const SKU_ID_CHARS_MAX: usize = 64;
    /// Units of one SKU; with a hundred SKUs their sum is still below 2^32.
    pub const STOCK_MAX: u32 = 10_000_000;
    /// Lines of one checkout, before they are summed.
    pub const LINES_MAX: usize = 20;
    /// Units per buyer and sale, reserved and bought together. At most a hundred, because a buyer's reservations
    /// are walked through one by one.
    pub const UNITS_PER_BUYER_DEFAULT: u32 = 10;
    pub const UNITS_PER_BUYER_MAX: u32 = 100;
    /// How long a checkout code lives: time to type in an address and a card.
    pub const CHECKOUT_MS_DEFAULT: Millis = 600_000;
    pub const CHECKOUT_MS_MIN: Millis = 30_000;
    pub const CHECKOUT_MS_MAX: Millis = 3_600_000;
    /// An order pins its code at most so long after the checkout, whatever number of attempts to pay.
    pub const ORDERED_MS_MAX: Millis = 900_000;
    /// After a declined payment there is at least so long to try again, within that bound.
    pub const DECLINED_MS: Millis = 60_000;
    /// Refused attempts kept per listing for its owner to look at.
    pub const ATTEMPTS_KEPT: usize = 1_000;

    /// A slot's sale is created so long before it starts.
    pub const SLOT_EARLY_MS: Millis = 60_000;
    /// Slots that one command records as skipped.
    pub const SLOTS_SKIPPED_MAX: usize = 64;
    /// Slots that a series remembers; older ones are in the log.
    pub const SLOTS_KEPT: usize = 100;
    /// Of a picture: an address that browsers, caches and logs still take, and a drawing of which a hundred fit into one
    /// command.
    pub const PICTURE_URL_BYTES_MAX: usize = 2_048;
    pub const PICTURE_SVG_BYTES_MAX: usize = 4_096;
    /// Items of a generated sale.
    pub const ITEMS_MAX: usize = 20;
    /// A sale lasts from a minute to a month.
    pub const SLOT_LENGTH_MS_MIN: Millis = 60_000;
    pub const SLOT_LENGTH_MS_MAX: Millis = 31 * 86_400_000;

    /// Places of one registration.
    pub const PLACES_MAX: u32 = 100_000;
    /// Behind ten thousand others nobody is ever served.
    pub const WAITING_MAX: usize = 10_000;
    pub const CUT_OFF_MS_DEFAULT: Millis = 86_400_000;
    pub const CUT_OFF_MS_MAX: Millis = 90 * 86_400_000;
    /// How long a paid place is kept for the one it was offered to from the waiting list.
    pub const PLACE_OFFER_MS: Millis = 86_400_000;

    /// Attempts to pay one order: more is a robot trying cards.
    pub const PAYMENTS_PER_ORDER_MAX: usize = 20;
    /// Names that payment providers give to their things.
    pub const REFERENCE_CHARS_MAX: usize = 255;
    /// Slips that the desk takes in one step.
    pub const SLIPS_MAX: usize = 64;
    /// Webhook events that a payment shows; of more, the latest.
    pub const EVENTS_PER_PAYMENT_MAX: usize = 50;
    /// How long the desk knows a finished payment and every event: providers repeat themselves for days.
    pub const DESK_KEPT_MS: Millis = 7 * 86_400_000;

    /// How long the answer to a sealed verb is remembered under its key: a day of retries by a queue that was down.
    pub const SEALED_KEY_MS: Millis = 24 * 3_600_000;
    /// The same for a verb whose yes may be lost: nobody retries a hold that long.
    pub const KEY_MS: Millis = 3_600_000;
}

/// What refusals say of a bound, the same wherever it is decided.
pub const HOLD_PLACES_MAX_WHY: &str = "at most 20 seats and places in one hold";
pub const STOCK_MAX_WHY: &str = "at most 10,000,000 units of one SKU";
pub const TOTAL_MAX_WHY: &str = "the total is more than 1,000,000,000,000 minor units";
pub const ORDER_MAX_WHY: &str = "an order's total is at most 10^12 minor units";
