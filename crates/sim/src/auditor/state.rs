//! Compares a listing of the engine with the model's, through everything that can be asked of it; and its view.

use onsale_domain::event::EventStatus;
use onsale_domain::seats::{AreaState, Status};
use onsale_domain::seats::{EventQuery, SeatsView};
use onsale_domain::{BuyerId, Listing, ListingId, Millis};
use onsale_domain::{Found, Query};
use onsale_engine::View;
use onsale_engine::embedded::directory::Slot;
use onsale_engine::engine::BodyView;

use crate::model;

/// What a published view must show.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    pub listing: ListingId,
    pub offset: u64,
    at: Millis,
    event: Option<EventPicture>,
    /// The view of any other kind, in words.
    other: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
struct EventPicture {
    status: EventStatus,
    seats: Vec<Status>,
    areas: Vec<AreaState>,
    totals: [u32; 4],
}

impl Picture {
    /// What is left of a deleted listing: where its log ends.
    fn of_deleted(listing: ListingId, offset: u64) -> Picture {
        Picture { listing, offset, at: 0, event: None, other: Some("deleted".into()) }
    }

    /// What readers see of a listing; none before its first durable fact.
    pub fn of_slot(slot: &Slot) -> Option<Picture> {
        match (slot.view(), slot.position()) {
            (Some(view), _) => Some(Picture::of_view(&view)),
            (None, Some(last)) => Some(Picture::of_deleted(slot.id, last.offset)),
            (None, None) => None,
        }
    }

    pub fn of_model(listing: &model::Listing) -> Picture {
        if listing.now.is_deleted() {
            return Picture::of_deleted(listing.id, listing.now.offset);
        }
        let words = |other: &model::other::Other| other.listing.view();
        if let Some(body) = listing.other().and_then(words) {
            return Picture::of_body(listing.id, listing.now.offset, listing.now.last_at, &body);
        }
        let event = listing.event().map(|event| {
            let seats = event.statuses();
            let area = |(index, area): (usize, &model::Area)| {
                let [held, sold, blocked] = event.area_use(index as u16);
                AreaState { capacity: area.capacity, held, sold, blocked }
            };
            let areas: Vec<AreaState> = event.chart.areas.iter().enumerate().map(area).collect();
            let mut totals = [0; 4];
            for seat in event.chart.seats.keys() {
                totals[seats[*seat as usize] as usize] += 1;
            }
            for (area, state) in areas.iter().enumerate() {
                totals[0] += event.area_free(area as u16);
                totals[1] += state.held;
                totals[2] += state.sold;
                totals[3] += state.blocked;
            }
            EventPicture { status: event.status, seats, areas, totals }
        });
        Picture {
            listing: listing.id,
            offset: listing.now.offset,
            at: listing.now.last_at,
            event,
            other: None,
        }
    }

    pub fn of_view(view: &View) -> Picture {
        Picture::of_body(view.listing, view.position.offset, view.at, &view.body)
    }

    fn of_body(listing: ListingId, offset: u64, at: Millis, body: &BodyView) -> Picture {
        let event = if let BodyView::Event(seats) = body { Some(EventPicture::of_view(seats)) } else { None };
        let has_words = !matches!(body, BodyView::Venue(_) | BodyView::Event(_));
        let other = has_words.then(|| format!("{body:?}"));
        Picture { listing, offset, at, event, other }
    }
}

impl EventPicture {
    fn of_view(view: &SeatsView) -> EventPicture {
        let count = view.chart.seats_len() as u32;
        EventPicture {
            status: view.status,
            seats: (0..count).map(|seat| view.seat_status(seat)).collect(),
            areas: view.areas.to_vec(),
            totals: view.totals(),
        }
    }
}

/// Asks the engine's listing about every hold, place, order and buyer that the model knows of.
pub fn compare(real: &Listing, model: &model::Listing, clock: Millis) -> Result<(), String> {
    let differs = |what: String| Err(format!("the state of {} differs from the model's: {what}", model.id));
    if (real.offset, real.last_at) != (model.now.offset, model.now.last_at) {
        return differs(format!("position {} at {}", real.offset, real.last_at));
    }
    real.check_invariants().or_else(differs)?;
    let view = View::of(real);
    let shown = match &view {
        Some(view) => Picture::of_view(view),
        None => Picture::of_deleted(real.id, real.offset),
    };
    if shown != Picture::of_model(model) {
        return differs(format!("{view:?}\n  expected {:?}", Picture::of_model(model)));
    }
    if real.next_due() != model.next_due() {
        return differs(format!("next due {:?}, expected {:?}", real.next_due(), model.next_due()));
    }
    if let Some(other) = model.other() {
        return match real.canonical_image() == other.listing.canonical_image() {
            true => Ok(()),
            false => differs(format!("{:?}\n  expected {:?}", real.body, other.listing.body)),
        };
    }
    let Some(event) = model.event() else { return Ok(()) };
    let mut buyers: Vec<&BuyerId> = event.holds.values().map(|hold| &hold.buyer).collect();
    buyers.extend(event.orders.values().map(|order| &order.buyer));
    buyers.extend(event.places.iter().map(|place| &place.buyer));
    buyers.sort_unstable();
    buyers.dedup();
    let mut queries: Vec<Query> =
        buyers.into_iter().map(|buyer| Query::Event(EventQuery::HoldsOf(buyer.clone()))).collect();
    queries.extend(
        event.holds.keys().chain(event.ended.keys()).map(|hold| Query::Event(EventQuery::Hold(*hold))),
    );
    queries.extend(event.orders.keys().map(|order| Query::Event(EventQuery::Order(*order))));
    let place = |place: &model::QueuePlace| {
        Query::Event(EventQuery::Place { seat: place.seat, buyer: place.buyer.clone() })
    };
    queries.extend(event.places.iter().map(place));
    for query in queries {
        let (told, expected): (Found, Found) = (real.ask(&query, clock), model.ask(&query, clock));
        if told != expected {
            return differs(format!("{query:?} gives {told:?}, expected {expected:?}"));
        }
    }
    Ok(())
}
