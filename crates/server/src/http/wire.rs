//! Shapes that several routes share. Times are milliseconds since 1970 in UTC, money is minor units.

use onsale_domain::fact::{AreaLine, SeatLine};
use onsale_domain::id::write_inside;
use onsale_domain::outcome::HoldState;
use onsale_domain::{BuyerId, HoldId, ListingId, Millis};
use onsale_engine::Position;
use serde::{Deserialize, Serialize, Serializer};
use utoipa::ToSchema;

use super::names::Names;
use crate::token::Tokens;

/// Places of a general-admission area, as asked for.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AreaAsked {
    #[schema(example = "floor")]
    pub area: String,
    #[schema(example = 2)]
    pub count: u32,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct SeatPriced<'a> {
    #[schema(example = "A-1-1")]
    pub seat: &'a str,
    #[schema(example = 4500)]
    pub price_minor: i64,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct AreaPriced<'a> {
    #[schema(example = "floor")]
    pub area: &'a str,
    pub count: u32,
    /// Of one place.
    pub price_minor: i64,
}

/// A hold as its buyer sees it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Hold)]
pub struct HoldBody<'a> {
    #[schema(example = "hld_default_01kz0000000000000000000000_01kz0000000000000000000001")]
    pub id: String,
    #[schema(example = "evt_default_01kz0000000000000000000000")]
    pub event: String,
    /// The `Hold-Token` for extend, release and confirm. Only its buyer is told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// Grows with every grant; an older one changes nothing.
    pub fence: u64,
    #[schema(example = "ext:default:ann")]
    pub buyer: &'a str,
    pub seats: Vec<SeatPriced<'a>>,
    pub areas: Vec<AreaPriced<'a>>,
    pub total_minor: i64,
    #[schema(example = "EUR")]
    pub currency: &'a str,
    pub placed_at: Millis,
    /// The hold is over at this instant.
    pub until: Millis,
    pub extensions: u8,
    /// True if it came from a queue.
    pub offered: bool,
    /// True if these seats were held by the same buyer before he asked again.
    pub already_yours: bool,
    /// How many separate runs best available had to take; 0 for an explicit pick.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pieces: Option<u8>,
}

/// What a hold's body is made of, wherever it comes from.
#[derive(Debug)]
pub struct HoldParts<'a> {
    pub hold: HoldId,
    pub buyer: &'a BuyerId,
    pub fence: u64,
    pub placed_at: Millis,
    pub until: Millis,
    pub extensions: u8,
    pub offered: bool,
    pub seats: &'a [SeatLine],
    pub areas: &'a [AreaLine],
}

impl<'a> From<&'a HoldState> for HoldParts<'a> {
    fn from(state: &'a HoldState) -> HoldParts<'a> {
        HoldParts {
            hold: state.hold,
            buyer: &state.buyer,
            fence: state.fence,
            placed_at: state.placed_at,
            until: state.until,
            extensions: state.extensions,
            offered: state.offered,
            seats: &state.seats,
            areas: &state.areas,
        }
    }
}

impl<'a> HoldBody<'a> {
    /// `tokens` only if the caller may act on the hold.
    pub fn new(parts: HoldParts<'a>, names: &'a Names, tokens: Option<&Tokens>) -> HoldBody<'a> {
        let event = &names.view.listing;
        HoldBody {
            id: hold_text(event, parts.hold),
            event: event.to_string(),
            token: tokens.map(|tokens| tokens.make(event, parts.hold, parts.fence, parts.buyer)),
            fence: parts.fence,
            buyer: parts.buyer.as_str(),
            seats: seats_priced(parts.seats, names),
            areas: areas_priced(parts.areas, names),
            total_minor: total(parts.seats, parts.areas),
            currency: names.currency(),
            placed_at: parts.placed_at,
            until: parts.until,
            extensions: parts.extensions,
            offered: parts.offered,
            already_yours: false,
            pieces: None,
        }
    }
}

pub fn seats_priced<'a>(lines: &[SeatLine], names: &'a Names) -> Vec<SeatPriced<'a>> {
    let priced =
        |line: &SeatLine| SeatPriced { seat: names.seat_text(line.seat), price_minor: line.price_minor };
    lines.iter().map(priced).collect()
}

pub fn areas_priced<'a>(lines: &[AreaLine], names: &'a Names) -> Vec<AreaPriced<'a>> {
    let priced = |line: &AreaLine| AreaPriced {
        area: names.area_text(line.area),
        count: line.count,
        price_minor: line.price_minor,
    };
    lines.iter().map(priced).collect()
}

pub fn total(seats: &[SeatLine], areas: &[AreaLine]) -> i64 {
    let of_seats: i64 = seats.iter().map(|line| line.price_minor).sum();
    of_seats + areas.iter().map(|line| line.price_minor * i64::from(line.count)).sum::<i64>()
}

pub fn hold_text(event: &ListingId, hold: HoldId) -> String {
    write_inside("hld", event, hold.0)
}

/// A position in its text form, `<epoch>-<offset>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At(pub Position);

impl std::fmt::Display for At {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}", self.0.epoch, self.0.offset)
    }
}

impl Serialize for At {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl At {
    /// Reads `<epoch>-<offset>`, or a plain offset in `epoch`.
    pub fn parse(text: &str, epoch: u64) -> Option<Position> {
        match text.split_once('-') {
            Some((epoch, offset)) => {
                Some(Position { epoch: epoch.parse().ok()?, offset: offset.parse().ok()? })
            }
            None => Some(Position { epoch, offset: text.parse().ok()? }),
        }
    }
}

/// Seconds as a caller gives them, in milliseconds; what does not fit is left to the rules to refuse.
pub fn seconds(seconds: i64) -> Millis {
    seconds.saturating_mul(1_000)
}
