//! `/v1/events`: create, list and show events. Changing one is in `change_event.rs`.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use onsale_access::principal::Principal;
use onsale_domain::event::{EventDetails, EventStatus, SaleRules, Tier};
use onsale_domain::listing::BodyView;
use onsale_domain::money::Currency;
use onsale_domain::seats::command::{AdoptChart, CreateEvent};
use onsale_domain::seats::{EventCommand, EventFact};
use onsale_domain::{Command, Fact, ListingId, ListingKind};
use onsale_engine::View;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::about::{AboutBody, CardBody, Metadata};
use super::extract::{Caller, EventPath, LargeJson};
use super::gate::Visitor;
use super::layout::LayoutBody;
use super::list::{self, List, ListingFilter, StatusListQuery};
use super::names::Names;
use super::new_listing;
use super::problem::Problem;
use super::query::Query;
use super::reply::{self, own_fact};
use super::table::{RouteDeclaration, Straight, declare};
use super::time::Time;
use super::venues;
use super::wire::{At, seconds};
use super::words::SoldOut;
use super::{
    about, attempts, availability, blocks, buyers, change_event, chart, confirm, delete, facts, holds,
    overrides, queue, seats, stream,
};
use crate::app::App;
use crate::zone::Clocks;

/// Where an event's times are read unless it says otherwise.
const ZONE_DEFAULT: &str = "UTC";

/// The routes of events and of all that happens in one.
pub fn routes() -> Vec<RouteDeclaration> {
    vec![
        declare!("events.create", create, Listings, Staff, keyed),
        declare!("events.list", list, Read, Read, compressed),
        declare!("events.show", show, Read, Read, positioned),
        declare!("events.change", change_event::change, Listings, Staff, keyed),
        declare!("events.delete", delete::event, Listings, Staff, keyed),
        declare!("events.chart", chart::show, Read, Read, compressed),
        declare!("events.seats", seats::show, Read, Read, compressed, positioned),
        declare!("seats.show", seats::show_one, Read, Read, positioned),
        declare!("events.availability", availability::show, Read, Read, compressed, positioned),
        declare!("holds.create", holds::place, Buy, Buy, keyed, straight(Straight::PlaceHold)),
        declare!("holds.show", holds::show, Buy, Read),
        declare!("holds.change", holds::change, Buy, Buy, keyed, straight(Straight::ChangeHold)),
        declare!("holds.release", holds::release, Buy, Buy, keyed, straight(Straight::ReleaseHold)),
        declare!("holds.confirm", confirm::confirm, Buy, Buy, keyed, straight(Straight::ConfirmHold)),
        declare!("queue.show", queue::show, Buy, Read),
        declare!("queue.join", queue::join, Buy, Buy, keyed),
        declare!("queue.leave", queue::leave, Buy, Buy, keyed),
        declare!("events.change_blocks", blocks::change, Staff, Staff, keyed),
        declare!("events.override_hold", overrides::place, BoxOffice, Staff, keyed),
        declare!("events.attempts", attempts::list, Staff, Read, compressed),
        declare!("events.facts", facts::list, Read, Read, compressed),
        declare!("events.stream", stream::follow, Read, Stream),
        declare!("buyers.holds", buyers::holds, Buy, Search, compressed),
    ]
}

/// A new event: at a venue, or with a layout of its own.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewEvent {
    #[schema(example = "Opening Night")]
    pub name: String,
    #[serde(default)]
    pub description: String,
    /// The venue whose layout is used.
    pub venue: Option<String>,
    /// Which of the venue's layouts; the newest if absent.
    pub layout_version: Option<u32>,
    /// A layout of the event's own, instead of a venue.
    pub layout: Option<LayoutBody>,
    pub starts_at: Time,
    pub ends_at: Time,
    pub sale_opens_at: Option<Time>,
    pub sale_closes_at: Option<Time>,
    /// Where its times are read, as the time zone database names it; `UTC` if absent.
    #[schema(example = "Europe/Lisbon")]
    pub time_zone: Option<String>,
    /// An ISO 4217 code with a minor unit.
    #[schema(example = "EUR")]
    pub currency: String,
    /// Price tiers; a seat's `tier` is a place in this list.
    pub tiers: Vec<TierBody>,
    /// `draft` (if absent), `scheduled` or `on_sale`.
    pub status: Option<StatusBody>,
    /// How long a hold lasts: 30 to 900, 120 if absent.
    pub hold_seconds: Option<i64>,
    /// What an extension adds; the hold's own length if absent.
    pub extension_seconds: Option<i64>,
    pub extensions_max: Option<u8>,
    /// Places per buyer, held and sold together: 1 to 50, 8 if absent.
    pub buyer_limit: Option<u32>,
    #[serde(default)]
    pub refuse_single_seats: bool,
    /// The merchant's own name of it, unique among its kind: it is found by that, and never changes.
    #[schema(example = "shop-4711")]
    pub external_id: Option<String>,
    /// A JSON object of at most 2,048 bytes, returned as it was written, and never looked into.
    #[schema(value_type = Option<Object>)]
    pub metadata: Option<Metadata>,
    pub card: Option<CardBody>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Tier)]
pub struct TierBody {
    #[schema(example = "Stalls")]
    pub name: String,
    #[schema(example = 4500)]
    pub price_minor: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = EventStatus)]
pub enum StatusBody {
    Draft,
    Scheduled,
    OnSale,
    Closed,
    Completed,
    Cancelled,
    Postponed,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Event)]
pub struct EventBody {
    pub id: String,
    pub status: StatusBody,
    #[serde(flatten)]
    pub details: DetailsBody,
    /// What the venue is called; `null` if there is none, or no longer.
    #[schema(example = "Old Theatre")]
    pub venue_name: Option<String>,
    /// Seats and general-admission places, whatever their status.
    pub places: u32,
    /// The least price of a seat or place that can be had, now or when the sale opens; `null` if none can.
    #[schema(example = 4500)]
    pub price_from_minor: Option<i64>,
    /// There if nothing is left.
    pub sold_out: Option<SoldOut>,
    /// The listing's position that this describes.
    #[schema(value_type = String, example = "1-3")]
    pub position: At,
    #[serde(flatten)]
    pub about: AboutBody,
}

/// What an event is, apart from its seats.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = EventDetails)]
pub struct DetailsBody {
    name: String,
    description: String,
    venue: Option<String>,
    starts_at: Time,
    ends_at: Time,
    sale_opens_at: Option<Time>,
    sale_closes_at: Option<Time>,
    /// Where its times are read.
    #[schema(example = "Europe/Lisbon")]
    time_zone: String,
    currency: String,
    tiers: Vec<TierBody>,
    hold_seconds: i64,
    extension_seconds: Option<i64>,
    extensions_max: u8,
    buyer_limit: u32,
    refuse_single_seats: bool,
}

/// Create an event
///
/// The seats come from a venue's layout or from a layout of the event's own. A status of `on_sale` puts it on sale at once,
/// `scheduled` when its sale opens.
#[utoipa::path(post, path = "/v1/events", tag = "events", request_body = NewEvent,
    responses((status = 201, body = EventBody)))]
pub async fn create(
    State(app): State<Arc<App>>,
    caller: Caller,
    LargeJson(body): LargeJson<NewEvent>,
) -> Result<Response, Problem> {
    let about = about::asked(&body.external_id, &body.metadata, &body.card);
    let listing = new_listing(&app, ListingKind::Event, &caller, &about);
    let origin = caller.origin(&listing, &body);
    let venue = body.venue.as_deref();
    let chart = chart_of(&app, &caller.principal, venue, body.layout_version, body.layout.clone())?;
    let details = body.details(chart.venue)?;
    let status = body.status.map_or(EventStatus::Draft, StatusBody::into_domain);
    let command = Command::Event(EventCommand::CreateEvent(Box::new(CreateEvent { details, status, chart })));
    let (listing, answer) = reply::create(&app, listing, command, about, origin).await?;
    let (_, details) = own_fact(&answer, |fact| {
        if let Fact::Event(EventFact::EventCreated(details)) = fact { Some(details) } else { None }
    })?;
    let (_, chart) = own_fact(&answer, |fact| {
        if let Fact::Event(EventFact::ChartAdopted(adopted)) = fact { Some(&adopted.layout) } else { None }
    })?;
    let status = reply::find_fact(&answer, |fact| {
        if let Fact::Event(EventFact::StatusChanged { status, .. }) = fact { Some(*status) } else { None }
    });
    let areas: u32 = chart.areas.iter().map(|area| area.capacity).sum();
    let tiers = chart.seats().map(|seat| seat.tier).chain(chart.areas.iter().map(|area| area.tier));
    let event = EventBody {
        id: listing.to_string(),
        status: status.map_or(EventStatus::Draft, |(_, status)| status).into(),
        details: DetailsBody::from(&**details),
        venue_name: details.venue.and_then(|venue| venues::name_of(&app, &venue)),
        places: chart.seats().count() as u32 + areas,
        price_from_minor: availability::least_price(details, tiers),
        sold_out: None,
        position: At(reply::position_of(&answer)),
        about: AboutBody::of_answer(&answer),
    };
    Ok(reply::created(&answer, &format!("/v1/events/{listing}"), &event))
}

/// The layout an event shall have: its own, or a venue's.
pub fn chart_of(
    app: &App,
    principal: &Principal,
    venue: Option<&str>,
    version: Option<u32>,
    layout: Option<LayoutBody>,
) -> Result<AdoptChart, Problem> {
    match (venue, layout) {
        (Some(_), Some(_)) => Err(Problem::invalid("layout", "either a venue or a layout, not both")),
        (None, None) => Err(Problem::invalid("venue", "a venue or a layout is needed")),
        (None, Some(layout)) => {
            if version.is_some() {
                return Err(Problem::invalid("layout_version", "only together with a venue"));
            }
            Ok(AdoptChart { venue: None, version: 0, layout: layout.into_domain().into() })
        }
        (Some(text), None) => {
            let id = ListingId::parse(text);
            let id = id.filter(|listing| listing.kind == ListingKind::Venue && principal.sees(listing));
            let id = id.ok_or_else(|| Problem::invalid("venue", "no such venue"))?;
            let venue = venues::find(app, &id).map_err(|_| Problem::invalid("venue", "no such venue"))?;
            let published = match version {
                None => venue.latest(),
                Some(version) => venue.version(version),
            };
            let published = published.ok_or_else(|| venues::version_unknown("layout_version"))?;
            Ok(AdoptChart { venue: Some(id), version: published.version, layout: published.layout.clone() })
        }
    }
}

/// Show an event
///
/// What the event is, where its sale stands and how many places it has.
#[utoipa::path(get, path = "/v1/events/{event}", tag = "events", responses((status = 200, body = EventBody)))]
pub async fn show(State(app): State<Arc<App>>, at: EventPath) -> Result<Response, Problem> {
    let names = Names::of(&*app.engine, &at.listing)?;
    let mut response = reply::json(StatusCode::OK, &described(&app, &names.view));
    response.headers_mut().insert(reply::POSITION, reply::position_value(names.view.position));
    Ok(response)
}

/// Events in order of their ids
///
/// Page by page: go on with `after` as long as an answer has `next`. With a filter a page may be short or empty and have
/// one: a request looks at 2,000 at most.
#[utoipa::path(get, path = "/v1/events", tag = "events",
    params(("after" = Option<String>, Query), ("limit" = Option<usize>, Query), ("status" = Option<StatusBody>, Query),
           ("starts_after" = Option<Time>, Query), ("starts_before" = Option<Time>, Query),
           ("external_id" = Option<String>, Query),
           ("created_after" = Option<Time>, Query), ("created_before" = Option<Time>, Query)),
    responses((status = 200, body = List<EventBody>)))]
pub async fn list(
    State(app): State<Arc<App>>,
    Visitor(visitor): Visitor,
    Query(page): Query<StatusListQuery<StatusBody>>,
) -> Result<Response, Problem> {
    let is_wanted = |view: &View| matches!(&view.body, BodyView::Event(event) if page.lets_pass(event.status.into(), event.details.starts_at));
    let asked = ListingFilter::from(&page);
    let (found, next) =
        list::listings(&app, &visitor, ("events.list", ListingKind::Event), &asked, is_wanted).await?;
    let events = found.iter().filter_map(|view| described(&app, view)).collect();
    Ok(reply::json(StatusCode::OK, &List::new(events, next)))
}

pub fn described(app: &App, view: &View) -> Option<EventBody> {
    match &view.body {
        BodyView::Venue(_)
        | BodyView::Sale(_)
        | BodyView::Series(_)
        | BodyView::Registration(_)
        | BodyView::Auction(_)
        | BodyView::Desk(_) => None,
        BodyView::Event(event) => Some(EventBody {
            id: view.listing.to_string(),
            status: event.status.into(),
            details: DetailsBody::from(&*event.details),
            venue_name: event.details.venue.and_then(|venue| venues::name_of(app, &venue)),
            places: event.totals().iter().sum(),
            price_from_minor: availability::price_from(event),
            sold_out: SoldOut::of(availability::sold_out(event)),
            position: At(view.position),
            about: AboutBody::of(view),
        }),
    }
}

impl NewEvent {
    fn details(&self, venue: Option<ListingId>) -> Result<EventDetails, Problem> {
        let currency = currency(&self.currency)?;
        let default = SaleRules::default();
        Ok(EventDetails {
            name: self.name.clone(),
            description: self.description.clone(),
            venue,
            starts_at: self.starts_at.0,
            ends_at: self.ends_at.0,
            sale_opens_at: self.sale_opens_at.map(Time::ms),
            sale_closes_at: self.sale_closes_at.map(Time::ms),
            time_zone: zone(self.time_zone.as_deref().unwrap_or(ZONE_DEFAULT))?,
            currency,
            tiers: self.tiers.iter().map(TierBody::to_domain).collect(),
            rules: SaleRules {
                hold_ms: self.hold_seconds.map_or(default.hold_ms, seconds),
                extension_ms: self.extension_seconds.map(seconds),
                extensions_max: self.extensions_max.unwrap_or(default.extensions_max),
                buyer_limit: self.buyer_limit.unwrap_or(default.buyer_limit),
                refuse_single_seats: self.refuse_single_seats,
            },
        })
    }
}

/// The name of a zone that the database has.
pub fn zone(name: &str) -> Result<String, Problem> {
    let known = Clocks::named(name).map(|_| name.to_owned());
    known.ok_or_else(|| Problem::invalid("time_zone", "the name of a time zone, such as Europe/Berlin"))
}

/// A code that ISO 4217 knows and gives a minor unit: nobody has a price in cents of gold, of drawing rights or of `XXX`.
pub fn currency(code: &str) -> Result<Currency, Problem> {
    let listed = iso_currency::Currency::from_code(code).filter(|known| known.exponent().is_some());
    let currency = listed.and_then(|_| Currency::parse(code));
    currency.ok_or_else(|| Problem::invalid("currency", "an ISO 4217 code with a minor unit, such as EUR"))
}

impl From<&EventDetails> for DetailsBody {
    fn from(details: &EventDetails) -> DetailsBody {
        let tier = |tier: &Tier| TierBody { name: tier.name.clone(), price_minor: tier.price_minor };
        let rules = &details.rules;
        DetailsBody {
            name: details.name.clone(),
            description: details.description.clone(),
            venue: details.venue.map(|venue| venue.to_string()),
            starts_at: Time(details.starts_at),
            ends_at: Time(details.ends_at),
            sale_opens_at: details.sale_opens_at.map(Time),
            sale_closes_at: details.sale_closes_at.map(Time),
            time_zone: details.time_zone.clone(),
            currency: details.currency.as_str().to_owned(),
            tiers: details.tiers.iter().map(tier).collect(),
            hold_seconds: rules.hold_ms / 1_000,
            extension_seconds: rules.extension_ms.map(|ms| ms / 1_000),
            extensions_max: rules.extensions_max,
            buyer_limit: rules.buyer_limit,
            refuse_single_seats: rules.refuse_single_seats,
        }
    }
}

impl TierBody {
    pub fn to_domain(&self) -> Tier {
        Tier { name: self.name.clone(), price_minor: self.price_minor }
    }
}

impl From<EventStatus> for StatusBody {
    fn from(status: EventStatus) -> StatusBody {
        match status {
            EventStatus::Draft => StatusBody::Draft,
            EventStatus::Scheduled => StatusBody::Scheduled,
            EventStatus::OnSale => StatusBody::OnSale,
            EventStatus::Closed => StatusBody::Closed,
            EventStatus::Completed => StatusBody::Completed,
            EventStatus::Cancelled => StatusBody::Cancelled,
            EventStatus::Postponed => StatusBody::Postponed,
        }
    }
}

impl StatusBody {
    pub fn into_domain(self) -> EventStatus {
        match self {
            StatusBody::Draft => EventStatus::Draft,
            StatusBody::Scheduled => EventStatus::Scheduled,
            StatusBody::OnSale => EventStatus::OnSale,
            StatusBody::Closed => EventStatus::Closed,
            StatusBody::Completed => EventStatus::Completed,
            StatusBody::Cancelled => EventStatus::Cancelled,
            StatusBody::Postponed => EventStatus::Postponed,
        }
    }
}
