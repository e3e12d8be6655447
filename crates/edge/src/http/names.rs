//! Labels outside, numbers inside. A label nobody knows gets a number nobody has, so that the rules say no in
//! their own order; on the way back it is the label again.

use std::sync::Arc;

use onsale_domain::id::{AreaIndex, SeatIndex};
use onsale_domain::listing::BodyView;
use onsale_domain::seats::SeatsView;
use onsale_domain::seats::fact::AreaCount;
use onsale_domain::{Code, ListingId};
use onsale_engine::{Engine, View};

use super::problem::Problem;
use super::wire::AreaPlaces;

/// An event's view and the unknown labels of one request.
#[derive(Debug)]
pub struct Names {
    pub view: Arc<View>,
    unknown_seats: Vec<String>,
    unknown_areas: Vec<String>,
    /// Where in the lists of the request the first of each stands.
    first_unknown_seat: Option<usize>,
    first_unknown_area: Option<usize>,
}

impl Names {
    /// The event as readers see it, or 404.
    pub fn of(engine: &dyn Engine, event: &ListingId) -> Result<Names, Problem> {
        let view = engine.view(event).filter(|view| matches!(view.body, BodyView::Event(_)));
        let view = view.ok_or_else(|| Problem::code(Code::ListingUnknown))?;
        Ok(Names {
            view,
            unknown_seats: Vec::new(),
            unknown_areas: Vec::new(),
            first_unknown_seat: None,
            first_unknown_area: None,
        })
    }

    pub fn event(&self) -> &SeatsView {
        match &self.view.body {
            BodyView::Event(event) => event,
            BodyView::Venue(_)
            | BodyView::Sale(_)
            | BodyView::Series(_)
            | BodyView::Registration(_)
            | BodyView::Auction(_)
            | BodyView::Desk(_) => {
                unreachable!("made from an event's view only")
            }
        }
    }

    pub fn currency(&self) -> &str {
        self.event().details.currency.as_str()
    }

    pub fn seat(&mut self, label: &str) -> SeatIndex {
        if let Some(known) = self.event().chart.seat_named(label) {
            return known;
        }
        SeatIndex::MAX - position_or_push(&mut self.unknown_seats, label) as SeatIndex
    }

    pub fn seats(&mut self, labels: &[String]) -> Vec<SeatIndex> {
        let seats = labels.iter().map(|label| self.seat(label)).collect();
        if let Some(first) = self.unknown_seats.first() {
            self.first_unknown_seat = labels.iter().position(|label| label == first);
        }
        seats
    }

    pub fn area(&mut self, label: &str) -> AreaIndex {
        if let Some(known) = self.event().chart.area_named(label) {
            return known;
        }
        AreaIndex::MAX - position_or_push(&mut self.unknown_areas, label) as AreaIndex
    }

    pub fn areas(&mut self, asked: &[AreaPlaces]) -> Vec<AreaCount> {
        let counted =
            asked.iter().map(|line| AreaCount { area: self.area(&line.area), count: line.count }).collect();
        if let Some(first) = self.unknown_areas.first() {
            self.first_unknown_area = asked.iter().position(|line| line.area == *first);
        }
        counted
    }

    /// The field of the first seat or area that a refusal with this code calls unknown.
    pub fn unknown_field(&self, code: Code) -> Option<String> {
        if code == Code::SeatUnknown {
            return self.first_unknown_seat.map(|n| format!("seats[{n}]"));
        }
        let area = self.first_unknown_area.filter(|_| code == Code::AreaUnknown);
        area.map(|n| format!("areas[{n}].area"))
    }

    pub fn seat_text(&self, seat: SeatIndex) -> &str {
        self.seat_named(seat).unwrap_or_default()
    }

    pub fn area_text(&self, area: AreaIndex) -> &str {
        self.area_named(area).unwrap_or_default()
    }

    /// A seat of the chart, or what this request called so; none if only another request knew it.
    pub fn seat_named(&self, seat: SeatIndex) -> Option<&str> {
        let chart = &self.event().chart;
        if (seat as usize) < chart.seats_len() {
            return Some(chart.seat_id(seat));
        }
        self.unknown_seats.get((SeatIndex::MAX - seat) as usize).map(String::as_str)
    }

    /// The same of an area.
    pub fn area_named(&self, area: AreaIndex) -> Option<&str> {
        let known = self.event().chart.areas.get(usize::from(area)).map(|area| &area.id);
        known.or_else(|| self.unknown_areas.get(usize::from(AreaIndex::MAX - area))).map(String::as_str)
    }
}

/// Each unknown label once: the same twice must look the same to the rules.
fn position_or_push(known: &mut Vec<String>, label: &str) -> usize {
    known.iter().position(|before| before == label).unwrap_or_else(|| {
        known.push(label.to_owned());
        known.len() - 1
    })
}
