//! A fact as JSON: labels for numbers, ids in their text form, and of a layout only its size. What is written is a type
//! with a schema, one variant for each kind of fact, so the document describes exactly what is told.

mod auction;
mod event;
mod listing;
mod order;
pub mod public;
mod registration;
mod sale;
pub mod schema;
mod series;
mod venue;

use std::collections::BTreeMap;
use std::fmt;

use onsale_domain::id::{SeatIndex, write_inside};
use onsale_domain::listing::BodyView;
use onsale_domain::seats::SeatsView;
use onsale_domain::stock::SaleView;
use onsale_domain::{By, Fact, HoldId, ListingId, OrderId, Step};
use onsale_engine::View;
use serde::Serialize;
use serde_json::json;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::audience::Audience;
use super::time::Time;
use listing::ListingFactBody;
use series::SeriesFactBody;
use venue::VenueFactBody;

/// Tells facts of one listing, with the labels of its newest chart: a seat's number never changes its meaning.
#[derive(Debug)]
pub struct Teller<'a> {
    listing: ListingId,
    event: Option<&'a SeatsView>,
    sale: Option<&'a SaleView>,
    /// Who is told.
    audience: &'a Audience,
}

/// A fact as everybody is told it.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct FactJson(Fields);

impl fmt::Display for FactJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).unwrap_or_default())
    }
}

/// What every fact says beside its own fields.
#[derive(Debug, Serialize, ToSchema)]
pub struct FactHead {
    epoch: u64,
    /// Its number in its listing, from 1.
    offset: u64,
    at: Time,
    /// Who made it, if that was not the buyer: staff, the clock or a provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "staff:house")]
    by: Option<String>,
}

impl<'a> Teller<'a> {
    pub fn new(view: &'a View, audience: &'a Audience) -> Teller<'a> {
        let (event, sale) = match &view.body {
            BodyView::Event(event) => (Some(event), None),
            BodyView::Sale(sale) => (None, Some(sale)),
            BodyView::Venue(_)
            | BodyView::Series(_)
            | BodyView::Registration(_)
            | BodyView::Auction(_)
            | BodyView::Desk(_) => (None, None),
        };
        Teller { listing: view.listing, event, sale, audience }
    }

    /// Of a listing that is no more: what is left of it has no labels.
    pub fn of_deleted(listing: ListingId, audience: &'a Audience) -> Teller<'a> {
        Teller { listing, event: None, sale: None, audience }
    }

    /// `{"epoch", "offset", "at", "kind", …the fact's own fields}`, and `"by"` if it was not the buyer.
    pub fn tell(&self, step: &Step, offset: u64, fact: &Fact) -> FactJson {
        let Step { epoch, at, .. } = *step;
        let by = step.by.as_ref().map(|by| self.by(by));
        let head = FactHead { epoch, offset, at: Time(at), by };
        // First the fact's own, so that none of its fields can stand in for what the step says.
        let mut told = self.fields(fact, onsale_domain::listing::fence(epoch, offset));
        if !self.audience.is_staff() {
            told = public::fields(&self.listing, fact, told, self.audience);
        }
        told.extend(object(&head));
        FactJson(told)
    }

    /// Its kind, as whoever reads it is told.
    pub fn kind(&self, fact: &Fact) -> &'static str {
        public::kind(fact, self.audience)
    }

    /// Which of the staff it was is for staff alone.
    fn by(&self, by: &By) -> String {
        match by {
            By::Staff(_) if !self.audience.is_staff() => "staff".to_owned(),
            By::Staff(_) | By::Clock | By::Provider(_) => by.to_string(),
        }
    }

    /// Its kind and its own fields.
    fn fields(&self, fact: &Fact, fence: u64) -> Fields {
        match fact {
            Fact::Venue(fact) => object(&VenueFactBody::from(fact)),
            Fact::Event(fact) => object(&self.event(fact, fence)),
            Fact::Sale(fact) => object(&self.sale(fact, fence)),
            Fact::Series(fact) => object(&SeriesFactBody::from(fact)),
            Fact::Registration(fact) => object(&registration::body(&self.listing, fact, fence)),
            Fact::Auction(fact) => object(&auction::body(&self.listing, fact)),
            Fact::Listing(fact) => object(&ListingFactBody::from(fact)),
            Fact::Order(fact) => object(&self.of_order(fact)),
            // The desk's log is for the server alone: kind, position and time are told.
            Fact::Desk(fact) => object(&json!({"kind": fact.kind()})),
        }
    }

    fn hold(&self, hold: HoldId) -> String {
        write_inside("hld", &self.listing, hold.0)
    }

    fn order(&self, order: OrderId) -> String {
        write_inside("ord", &self.listing, order.0)
    }

    fn seat(&self, seat: SeatIndex) -> &'a str {
        let chart = self.event.map(|event| &event.chart).filter(|chart| (seat as usize) < chart.seats_len());
        chart.map_or("", |chart| chart.seat_id(seat))
    }

    fn area(&self, area: u16) -> &'a str {
        let area = self.event.and_then(|event| event.chart.areas.get(usize::from(area)));
        area.map_or("", |area| area.id.as_str())
    }
}

/// The fields of an object by name, each as the JSON that it is: what a merchant has written is told as it came.
type Fields = BTreeMap<String, Box<RawValue>>;

fn object(told: &impl Serialize) -> Fields {
    let text = serde_json::to_string(told).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}
