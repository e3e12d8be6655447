//! A fact as JSON: labels for numbers, ids in their text form, and of a layout only its size.

mod auction;
mod order;
mod registration;
mod sale;
mod series;

pub use series::cause as skip_cause;

use onsale_domain::id::{SeatIndex, write_inside};
use onsale_domain::layout::Layout;
use onsale_domain::listing::BodyView;
use onsale_domain::seats::EventFact;
use onsale_domain::seats::SeatsView;
use onsale_domain::seats::fact::{AreaCount, AreaLine, ReleaseCause, SeatLine};
use onsale_domain::stock::SaleView;
use onsale_domain::venue::VenueFact;
use onsale_domain::{Fact, HoldId, ListingId, OrderId, Step};
use onsale_engine::View;
use serde_json::{Map, Value, json};

use super::events::DetailsBody;
use super::time::Time;

/// Tells facts of one listing, with the labels of its newest chart: a seat's number never changes its meaning.
#[derive(Debug)]
pub struct Teller<'a> {
    listing: ListingId,
    event: Option<&'a SeatsView>,
    sale: Option<&'a SaleView>,
}

impl<'a> Teller<'a> {
    pub fn new(view: &'a View) -> Teller<'a> {
        let (event, sale) = match &view.body {
            BodyView::Event(event) => (Some(event), None),
            BodyView::Sale(sale) => (None, Some(sale)),
            BodyView::Venue(_)
            | BodyView::Series(_)
            | BodyView::Registration(_)
            | BodyView::Auction(_)
            | BodyView::Desk(_) => (None, None),
        };
        Teller { listing: view.listing, event, sale }
    }

    /// `{"epoch", "offset", "at", "kind", …the fact's own fields}`, and `"by"` if it was not the buyer.
    pub fn tell(&self, step: &Step, offset: u64, fact: &Fact) -> Value {
        let Step { epoch, at, .. } = *step;
        // First the fact's own, so that none of its fields can stand in for what the step says.
        let fields = self.fields(fact, onsale_domain::listing::fence(epoch, offset));
        let mut told = if let Value::Object(fields) = fields { fields } else { Map::new() };
        told.insert("epoch".into(), epoch.into());
        told.insert("offset".into(), offset.into());
        told.insert("at".into(), json!(Time(at)));
        told.insert("kind".into(), fact.kind().into());
        if let Some(by) = &step.by {
            told.insert("by".into(), by.to_string().into());
        }
        Value::Object(told)
    }

    fn fields(&self, fact: &Fact, fence: u64) -> Value {
        match fact {
            Fact::Venue(VenueFact::VenueCreated(venue)) => json!({"name": venue.name, "place": venue.place}),
            Fact::Venue(VenueFact::LayoutPublished(published)) => {
                let (seats, areas) = size(&published.layout);
                json!({"layout_version": published.version, "seats": seats, "areas": areas})
            }
            Fact::Event(EventFact::EventCreated(details)) | Fact::Event(EventFact::EventChanged(details)) => {
                serde_json::to_value(DetailsBody::from(&**details)).unwrap_or_default()
            }
            Fact::Event(EventFact::ChartAdopted(adopted)) => {
                let (seats, areas) = size(&adopted.layout);
                let venue = adopted.venue.map(|venue| venue.to_string());
                json!({"venue": venue, "layout_version": adopted.version, "seats": seats, "areas": areas})
            }
            Fact::Event(EventFact::StatusChanged { status, by_schedule }) => {
                json!({"status": status.as_str(), "by_schedule": by_schedule})
            }
            Fact::Event(EventFact::HoldPlaced { hold, buyer, seats, areas, until, pieces }) => json!({
                "hold": self.hold(*hold), "buyer": buyer.as_str(), "fence": fence, "expires_at": Time(*until),
                "seats": self.seat_lines(seats), "areas": self.area_lines(areas), "pieces": pieces,
            }),
            Fact::Event(EventFact::HoldExtended { hold, until }) => {
                json!({"hold": self.hold(*hold), "expires_at": Time(*until)})
            }
            Fact::Event(EventFact::SeatsDropped { hold, seats, areas }) => {
                json!({"hold": self.hold(*hold), "seats": self.seats(seats), "areas": self.areas(areas)})
            }
            Fact::Event(EventFact::HoldReleased { hold, why }) => {
                let why = match why {
                    ReleaseCause::Buyer => "buyer",
                    ReleaseCause::EventCancelled => "event_cancelled",
                };
                json!({"hold": self.hold(*hold), "why": why})
            }
            Fact::Event(EventFact::HoldExpired { hold }) => json!({"hold": self.hold(*hold)}),
            Fact::Event(EventFact::HoldConfirmed { hold, order }) => {
                json!({"hold": self.hold(*hold), "order": self.order(*order)})
            }
            Fact::Event(EventFact::HoldOverridden { hold, reason, to }) => {
                let to =
                    to.as_ref().map(|to| json!({"buyer": to.buyer.as_str(), "expires_at": Time(to.until)}));
                json!({"hold": self.hold(*hold), "reason": reason, "to": to, "fence": fence})
            }
            Fact::Event(EventFact::OrderRefunded { order, seats, areas, amount_minor, reason }) => json!({
                "order": self.order(*order), "seats": self.seats(seats), "areas": self.areas(areas),
                "amount_minor": amount_minor, "reason": reason,
            }),
            Fact::Event(EventFact::SeatsBlocked { seats, areas, reason }) => {
                json!({"seats": self.seats(seats), "areas": self.areas(areas), "reason": reason})
            }
            Fact::Event(EventFact::SeatsUnblocked { seats, areas }) => {
                json!({"seats": self.seats(seats), "areas": self.areas(areas)})
            }
            Fact::Event(EventFact::QueueJoined { place, seat, buyer, until, ahead }) => json!({
                "place": self.hold(*place), "seat": self.seat(*seat), "buyer": buyer.as_str(),
                "expires_at": Time(*until), "ahead": ahead,
            }),
            Fact::Event(EventFact::PlaceRenewed { place, until, ahead }) => {
                json!({"place": self.hold(*place), "expires_at": Time(*until), "ahead": ahead})
            }
            Fact::Event(EventFact::QueueLeft { place })
            | Fact::Event(EventFact::PlaceExpired { place })
            | Fact::Event(EventFact::PlaceLost { place }) => {
                json!({"place": self.hold(*place)})
            }
            Fact::Event(EventFact::SeatOffered { place, price_minor, until }) => {
                let hold = self.hold(*place);
                json!({"hold": hold, "price_minor": price_minor, "expires_at": Time(*until), "fence": fence})
            }
            Fact::Sale(fact) => self.sale(fact, fence),
            Fact::Series(fact) => series::fields(fact),
            Fact::Registration(fact) => registration::fields(&self.listing, fact, fence),
            Fact::Auction(fact) => auction::fields(&self.listing, fact),
            Fact::Order(fact) => self.of_order(fact),
            // The desk's log is for the server alone: kind, position and time are told.
            Fact::Desk(_) => json!({}),
        }
    }

    fn hold(&self, hold: HoldId) -> String {
        write_inside("hld", &self.listing, hold.0)
    }

    fn order(&self, order: OrderId) -> String {
        write_inside("ord", &self.listing, order.0)
    }

    fn seat(&self, seat: SeatIndex) -> &str {
        let chart = self.event.map(|event| &event.chart).filter(|chart| (seat as usize) < chart.seats_len());
        chart.map_or("", |chart| chart.seat_id(seat))
    }

    fn area(&self, area: u16) -> &str {
        let area = self.event.and_then(|event| event.chart.areas.get(usize::from(area)));
        area.map_or("", |area| area.id.as_str())
    }

    fn seats(&self, seats: &[SeatIndex]) -> Vec<&str> {
        seats.iter().map(|seat| self.seat(*seat)).collect()
    }

    fn areas(&self, areas: &[AreaCount]) -> Vec<Value> {
        areas.iter().map(|line| json!({"area": self.area(line.area), "count": line.count})).collect()
    }

    fn seat_lines(&self, lines: &[SeatLine]) -> Vec<Value> {
        let line = |line: &SeatLine| json!({"seat": self.seat(line.seat), "price_minor": line.price_minor});
        lines.iter().map(line).collect()
    }

    fn area_lines(&self, lines: &[AreaLine]) -> Vec<Value> {
        let line = |line: &AreaLine| json!({"area": self.area(line.area), "count": line.count, "price_minor": line.price_minor});
        lines.iter().map(line).collect()
    }
}

fn size(layout: &Layout) -> (usize, usize) {
    (layout.seats().count(), layout.areas.len())
}
