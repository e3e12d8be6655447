//! Facts of an event as JSON: labels for numbers.

use onsale_domain::seats::EventFact;
use onsale_domain::seats::fact::{AreaCount, AreaLine, NewHolder, SeatLine};
use serde::Serialize;
use utoipa::ToSchema;

use super::Teller;
use super::venue::size;
use crate::http::events::{DetailsBody, StatusBody};
use crate::http::time::Time;
use crate::http::wire::{AreaPlaces, AreaPriced, SeatPriced};
use crate::http::words::ReleaseCause;

#[derive(Debug, Serialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum EventFactBody<'a> {
    EventCreated(DetailsBody),
    EventChanged(DetailsBody),
    ChartAdopted {
        venue: Option<String>,
        layout_version: u32,
        seats: usize,
        areas: usize,
    },
    StatusChanged {
        status: StatusBody,
        /// True if the sale's times or the event's end brought it about.
        by_schedule: bool,
    },
    HoldPlaced {
        hold: String,
        buyer: &'a str,
        fence: u64,
        expires_at: Time,
        seats: Vec<SeatPriced<'a>>,
        areas: Vec<AreaPriced<'a>>,
        /// How many separate runs best available had to take; 0 for an explicit pick.
        pieces: u8,
    },
    HoldExtended {
        hold: String,
        expires_at: Time,
    },
    HoldGrown {
        hold: String,
        buyer: &'a str,
        fence: u64,
        seats: Vec<SeatPriced<'a>>,
        areas: Vec<AreaPriced<'a>>,
    },
    SeatsDropped {
        hold: String,
        seats: Vec<&'a str>,
        areas: Vec<AreaPlaces>,
    },
    HoldReleased {
        hold: String,
        why: ReleaseCause,
    },
    HoldExpired {
        hold: String,
        /// Only of an offer: whose it was.
        #[serde(skip_serializing_if = "Option::is_none")]
        buyer: Option<&'a str>,
        /// Only of an offer: what was offered.
        #[serde(skip_serializing_if = "Option::is_none")]
        seats: Option<Vec<&'a str>>,
    },
    HoldConfirmed {
        hold: String,
        order: String,
    },
    HoldOverridden {
        hold: String,
        reason: &'a str,
        /// Who holds the seats now; nobody: they are free.
        to: Option<OverriddenTo<'a>>,
        fence: u64,
    },
    OrderRefunded {
        order: String,
        seats: Vec<&'a str>,
        areas: Vec<AreaPlaces>,
        amount_minor: i64,
        reason: &'a str,
    },
    SeatsBlocked {
        seats: Vec<&'a str>,
        areas: Vec<AreaPlaces>,
        reason: &'a str,
    },
    SeatsUnblocked {
        seats: Vec<&'a str>,
        areas: Vec<AreaPlaces>,
    },
    QueueJoined {
        place: String,
        seat: &'a str,
        buyer: &'a str,
        expires_at: Time,
        place_in_line: u32,
    },
    PlaceRenewed {
        place: String,
        expires_at: Time,
        place_in_line: u32,
    },
    QueueLeft {
        place: String,
        buyer: &'a str,
        seat: &'a str,
    },
    PlaceExpired {
        place: String,
        buyer: &'a str,
        seat: &'a str,
    },
    /// The seat came free, but its buyer was at the limit: the next in line was served.
    PlaceLost {
        place: String,
        buyer: &'a str,
        seat: &'a str,
    },
    /// The place in line has become a hold of the same id.
    SeatOffered {
        hold: String,
        buyer: &'a str,
        seat: &'a str,
        price_minor: i64,
        expires_at: Time,
        fence: u64,
    },
}

#[derive(Debug, Serialize, ToSchema)]
pub struct OverriddenTo<'a> {
    buyer: &'a str,
    expires_at: Time,
}

impl<'a> From<&'a NewHolder> for OverriddenTo<'a> {
    fn from(to: &'a NewHolder) -> OverriddenTo<'a> {
        OverriddenTo { buyer: to.buyer.as_str(), expires_at: Time(to.until) }
    }
}

impl Teller<'_> {
    pub(super) fn event<'a>(&'a self, fact: &'a EventFact, fence: u64) -> EventFactBody<'a> {
        use EventFactBody as Body;
        match fact {
            EventFact::EventCreated(details) => Body::EventCreated(DetailsBody::from(&**details)),
            EventFact::EventChanged(details) => Body::EventChanged(DetailsBody::from(&**details)),
            EventFact::ChartAdopted(adopted) => {
                let (seats, areas) = size(&adopted.layout);
                let venue = adopted.venue.map(|venue| venue.to_string());
                Body::ChartAdopted { venue, layout_version: adopted.version, seats, areas }
            }
            EventFact::StatusChanged { status, by_schedule } => {
                Body::StatusChanged { status: (*status).into(), by_schedule: *by_schedule }
            }
            EventFact::HoldPlaced { hold, buyer, seats, areas, until, pieces } => Body::HoldPlaced {
                hold: self.hold(*hold),
                buyer: buyer.as_str(),
                fence,
                expires_at: Time(*until),
                seats: self.seat_lines(seats),
                areas: self.area_lines(areas),
                pieces: *pieces,
            },
            EventFact::HoldExtended { hold, until, .. } => {
                Body::HoldExtended { hold: self.hold(*hold), expires_at: Time(*until) }
            }
            EventFact::HoldGrown { hold, buyer, seats, areas, .. } => Body::HoldGrown {
                hold: self.hold(*hold),
                buyer: buyer.as_str(),
                fence,
                seats: self.seat_lines(seats),
                areas: self.area_lines(areas),
            },
            EventFact::SeatsDropped { hold, seats, areas, .. } => Body::SeatsDropped {
                hold: self.hold(*hold),
                seats: self.seats(seats),
                areas: self.areas(areas),
            },
            EventFact::HoldReleased { hold, why } => {
                Body::HoldReleased { hold: self.hold(*hold), why: (*why).into() }
            }
            EventFact::HoldExpired { hold, offer } => Body::HoldExpired {
                hold: self.hold(*hold),
                buyer: offer.as_ref().map(|offer| offer.buyer.as_str()),
                seats: offer.as_ref().map(|offer| self.seats(&offer.seats)),
            },
            EventFact::HoldConfirmed { hold, order } => {
                Body::HoldConfirmed { hold: self.hold(*hold), order: self.order(*order) }
            }
            EventFact::HoldOverridden { hold, reason, to } => Body::HoldOverridden {
                hold: self.hold(*hold),
                reason,
                to: to.as_ref().map(Into::into),
                fence,
            },
            EventFact::OrderRefunded { order, seats, areas, amount_minor, reason } => Body::OrderRefunded {
                order: self.order(*order),
                seats: self.seats(seats),
                areas: self.areas(areas),
                amount_minor: *amount_minor,
                reason,
            },
            EventFact::SeatsBlocked { seats, areas, reason } => {
                Body::SeatsBlocked { seats: self.seats(seats), areas: self.areas(areas), reason }
            }
            EventFact::SeatsUnblocked { seats, areas } => {
                Body::SeatsUnblocked { seats: self.seats(seats), areas: self.areas(areas) }
            }
            EventFact::QueueJoined { place, seat, buyer, until, ahead } => Body::QueueJoined {
                place: self.hold(*place),
                seat: self.seat(*seat),
                buyer: buyer.as_str(),
                expires_at: Time(*until),
                place_in_line: ahead + 1,
            },
            EventFact::PlaceRenewed { place, until, ahead } => Body::PlaceRenewed {
                place: self.hold(*place),
                expires_at: Time(*until),
                place_in_line: ahead + 1,
            },
            EventFact::QueueLeft { place, buyer, seat } => {
                Body::QueueLeft { place: self.hold(*place), buyer: buyer.as_str(), seat: self.seat(*seat) }
            }
            EventFact::PlaceExpired { place, buyer, seat } => {
                Body::PlaceExpired { place: self.hold(*place), buyer: buyer.as_str(), seat: self.seat(*seat) }
            }
            EventFact::PlaceLost { place, buyer, seat } => {
                Body::PlaceLost { place: self.hold(*place), buyer: buyer.as_str(), seat: self.seat(*seat) }
            }
            EventFact::SeatOffered { place, buyer, seat, price_minor, until } => Body::SeatOffered {
                hold: self.hold(*place),
                buyer: buyer.as_str(),
                seat: self.seat(*seat),
                price_minor: *price_minor,
                expires_at: Time(*until),
                fence,
            },
        }
    }

    fn seats(&self, seats: &[u32]) -> Vec<&str> {
        seats.iter().map(|seat| self.seat(*seat)).collect()
    }

    fn areas(&self, areas: &[AreaCount]) -> Vec<AreaPlaces> {
        let area = |line: &AreaCount| AreaPlaces { area: self.area(line.area).to_owned(), count: line.count };
        areas.iter().map(area).collect()
    }

    fn seat_lines(&self, lines: &[SeatLine]) -> Vec<SeatPriced<'_>> {
        let line = |line: &SeatLine| SeatPriced { seat: self.seat(line.seat), price_minor: line.price_minor };
        lines.iter().map(line).collect()
    }

    fn area_lines(&self, lines: &[AreaLine]) -> Vec<AreaPriced<'_>> {
        let line = |line: &AreaLine| AreaPriced {
            area: self.area(line.area),
            count: line.count,
            price_minor: line.price_minor,
        };
        lines.iter().map(line).collect()
    }
}
