//! Shapes that several routes share. Money is minor units.

use onsale_domain::id::write_inside;
use onsale_domain::outcome::HoldState;
use onsale_domain::seats::fact::{AreaLine, SeatLine};
use onsale_domain::{BuyerId, HoldId, ListingId, Millis};
use onsale_engine::Position;
use serde::{Deserialize, Serialize, Serializer};
use utoipa::ToSchema;

use super::json::{ByHand, Object};
use super::names::Names;
use super::time::Time;
use super::words::{EndedStatus, HoldStatus};
use crate::token::Tokens;

/// How many places of a general-admission area.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AreaPlaces {
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
    pub id: String,
    pub event: String,
    pub status: HoldStatus,
    /// The `Hold-Token` to change, release and confirm it. Shown to its buyer only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// Grows with every grant; an older one changes nothing.
    pub fence: u64,
    #[schema(example = "ann")]
    pub buyer: &'a str,
    pub seats: Vec<SeatPriced<'a>>,
    pub areas: Vec<AreaPriced<'a>>,
    pub total_minor: i64,
    #[schema(example = "EUR")]
    pub currency: &'a str,
    pub placed_at: Time,
    /// The hold is over at this instant.
    pub expires_at: Time,
    /// How long that is after the answer was first given.
    pub expires_in_seconds: u64,
    pub extensions: u8,
    /// True if it came from a queue.
    pub offered: bool,
    /// True if these seats were held by the same buyer before this request.
    pub already_yours: bool,
    /// How many separate runs best available had to take; 0 for an explicit pick.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pieces: Option<u8>,
    /// The order that has taken it, where the hold itself is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<String>,
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
    /// `tokens` only if the caller may act on the hold; `now` is the instant of the answer.
    pub fn new(parts: HoldParts<'a>, now: Millis, names: &'a Names, tokens: Option<&Tokens>) -> HoldBody<'a> {
        let event = &names.view.listing;
        let id = hold_text(event, parts.hold);
        HoldBody {
            token: tokens.map(|tokens| tokens.make(event, parts.hold, parts.fence, parts.buyer)),
            id,
            event: listing_text(event),
            status: HoldStatus::Held,
            fence: parts.fence,
            buyer: parts.buyer.as_str(),
            seats: seats_priced(parts.seats, names),
            areas: areas_priced(parts.areas, names),
            total_minor: total(parts.seats, parts.areas),
            currency: names.currency(),
            placed_at: Time(parts.placed_at),
            expires_at: Time(parts.until),
            expires_in_seconds: Time(parts.until).seconds_after(now),
            extensions: parts.extensions,
            offered: parts.offered,
            already_yours: false,
            pieces: None,
            order: None,
        }
    }
}

/// A hold, a place in a queue, a checkout or an entry that is over. It is answered for an hour; changing it is refused.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Ended)]
pub struct EndedBody {
    pub id: String,
    /// The event, the sale or the registration.
    pub listing: String,
    pub status: EndedStatus,
    /// The order that has bought it, or had taken it, as long as that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<String>,
}

impl EndedBody {
    pub fn new(id: String, listing: &ListingId, status: impl Into<EndedStatus>) -> EndedBody {
        EndedBody { id, listing: listing.to_string(), status: status.into(), order: None }
    }
}

impl ByHand for HoldBody<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        let mut body = Object::begin(out);
        body.text("id", &self.id);
        body.text("event", &self.event);
        body.text("status", self.status.as_str());
        if let Some(token) = &self.token {
            body.text("token", token);
        }
        body.number("fence", self.fence);
        body.text("buyer", self.buyer);
        body.list("seats", &self.seats, |line, priced| {
            line.text("seat", priced.seat);
            line.number("price_minor", priced.price_minor);
        });
        body.list("areas", &self.areas, |line, priced| {
            line.text("area", priced.area);
            line.number("count", priced.count);
            line.number("price_minor", priced.price_minor);
        });
        body.number("total_minor", self.total_minor);
        body.text("currency", self.currency);
        body.time("placed_at", self.placed_at);
        body.time("expires_at", self.expires_at);
        body.number("expires_in_seconds", self.expires_in_seconds);
        body.number("extensions", self.extensions);
        body.flag("offered", self.offered);
        body.flag("already_yours", self.already_yours);
        if let Some(pieces) = self.pieces {
            body.number("pieces", pieces);
        }
        if let Some(order) = &self.order {
            body.text("order", order);
        }
        body.end();
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

/// A listing's id, without the machinery of formatting.
pub fn listing_text(listing: &ListingId) -> String {
    listing.text()
}

/// A position in its text form, `<epoch>-<offset>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At(pub Position);

impl std::fmt::Display for At {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}", self.0.epoch, self.0.offset)
    }
}

impl At {
    pub fn text(self) -> String {
        let (mut epoch, mut offset) = (itoa::Buffer::new(), itoa::Buffer::new());
        [epoch.format(self.0.epoch), "-", offset.format(self.0.offset)].concat()
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

#[cfg(test)]
mod tests {
    use onsale_domain::{ListingKind, Tenant};

    use super::*;

    #[test]
    fn what_is_written_by_hand_is_what_serde_writes() {
        let odd = "\u{1}\u{1f} \"quoted\" back\\slash \u{7f} é 席 \n\t/";
        for (token, pieces, buyer) in [(None, None, "ann"), (Some(odd.to_owned()), Some(3), odd)] {
            let body = HoldBody {
                id: "hld_1".to_owned(),
                event: "evt_1".to_owned(),
                status: HoldStatus::Held,
                token,
                fence: u64::MAX,
                buyer,
                seats: vec![
                    SeatPriced { seat: odd, price_minor: i64::MIN },
                    SeatPriced { seat: "A-1", price_minor: 0 },
                ],
                areas: vec![AreaPriced { area: odd, count: u32::MAX, price_minor: -1 }],
                total_minor: i64::MAX,
                currency: "EUR",
                placed_at: Time(1),
                expires_at: Time(i64::MAX),
                expires_in_seconds: u64::MAX,
                extensions: 255,
                offered: true,
                already_yours: false,
                pieces,
                order: pieces.map(|_| "ord_1".to_owned()),
            };
            let mut written = Vec::new();
            body.write(&mut written);
            assert_eq!(String::from_utf8(written).ok(), serde_json::to_string(&body).ok());
        }
    }

    #[test]
    fn ids_and_positions_are_written_as_they_are_displayed() {
        for number in [0, 7, (1 << 60) - 1] {
            let listing = ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Event, number };
            assert_eq!(listing_text(&listing), listing.to_string());
            let at = At(Position { epoch: 1, offset: number });
            assert_eq!(at.text(), at.to_string());
        }
    }
}
