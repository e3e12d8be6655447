//! `/v1/registrations`: places with a waiting list. Create, list, show, and their facts and stream; entries are in
//! `registrations/entries.rs`.

pub mod change;
pub mod entries;

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use onsale_domain::limits::{CHECKOUT_MS_DEFAULT, CUT_OFF_MS_DEFAULT};
use onsale_domain::listing::BodyView;
use onsale_domain::registration::command::CreateRegistration;
use onsale_domain::registration::details::{RegistrationDetails, RegistrationStatus};
use onsale_domain::registration::{RegistrationCommand, RegistrationFact, RegistrationView};
use onsale_domain::{Code, Command, Fact, ListingId, ListingKind};
use onsale_engine::View;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::about::{AboutBody, CardBody, Metadata};
use super::events::currency;
use super::extract::{Caller, Json, RegistrationPath, look_up};
use super::gate::Visitor;
use super::list::{self, List, ListingFilter, Page, StatusListQuery};
use super::problem::{Obstacles, Problem};
use super::query::Query;
use super::reply::{self, find_fact, own_fact};
use super::sales::attempts;
use super::table::{RouteDeclaration, declare};
use super::time::Time;
use super::wire::{At, seconds};
use super::words;
use super::{about, delete, facts, new_listing, stream, venues};
use crate::app::App;

/// The routes of registrations.
pub fn routes() -> Vec<RouteDeclaration> {
    vec![
        declare!("registrations.create", create, Listings, Staff, keyed),
        declare!("registrations.list", list, Read, Read, compressed),
        declare!("registrations.show", show, Read, Read, positioned),
        declare!("registrations.change", change::change, Listings, Staff, keyed),
        declare!("registrations.delete", delete::registration, Listings, Staff, keyed),
        declare!("entries.list", entries::list, Staff, Read, compressed),
        declare!("entries.create", entries::register, Buy, Buy, keyed),
        declare!("entries.show", entries::show, Buy, Read),
        declare!("entries.cancel", entries::cancel, Buy, Buy, keyed),
        declare!("entries.confirm", entries::confirm, Buy, Buy, keyed),
        declare!("registrations.attempts", list_attempts, Staff, Read, compressed),
        declare!("registrations.facts", list_facts, Read, Read, compressed),
        declare!("registrations.stream", follow, Read, Stream),
    ]
}

/// A new registration. It opens and closes by the clock.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "name": "Evening run", "starts_at": "2030-01-01T00:00:00Z", "capacity": 40, "currency": "EUR", "price_minor": 0,
}))]
pub struct NewRegistration {
    pub name: String,
    #[serde(default)]
    pub description: String,
    /// At once if absent.
    pub opens_at: Option<Time>,
    /// When the thing itself begins.
    pub starts_at: Time,
    /// When it is over, if that is known.
    pub ends_at: Option<Time>,
    /// The event it belongs to.
    pub event: Option<String>,
    /// Where it takes place.
    pub venue: Option<String>,
    /// So long before the start nobody registers or is promoted any more: 24 hours if absent.
    pub cut_off_seconds: Option<i64>,
    /// 1 to 100,000 places.
    pub capacity: u32,
    /// An ISO 4217 code with a minor unit.
    pub currency: String,
    /// 0, if absent: a place is confirmed at once.
    #[serde(default)]
    pub price_minor: i64,
    /// How long a paid place is kept for one who registers while there is room: 30 to 3,600, 600 if absent.
    pub checkout_seconds: Option<i64>,
    /// The merchant's own name of it, unique among its kind: it is found by that, and never changes.
    #[schema(example = "shop-4711")]
    pub external_id: Option<String>,
    /// A JSON object of at most 2,048 bytes, returned as it was written, and never looked into.
    #[schema(value_type = Option<Object>)]
    pub metadata: Option<Metadata>,
    pub card: Option<CardBody>,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Registration)]
pub struct RegistrationBody {
    id: String,
    status: words::RegistrationStatus,
    #[serde(flatten)]
    details: DetailsBody,
    /// The venue's name, if there is one.
    venue_name: Option<String>,
    capacity: u32,
    confirmed: u32,
    /// Places that are kept for somebody who has not paid yet.
    offered: u32,
    waiting: u32,
    /// Places that nobody has and that are kept for nobody.
    available_spots: u32,
    /// Whoever registers now waits in line.
    is_full: bool,
    /// What a place costs that can be had, now or when the registration opens; `null` if none can.
    price_from_minor: Option<i64>,
    #[schema(value_type = String, example = "1-3")]
    position: At,
    #[serde(flatten)]
    about: AboutBody,
}

/// What a registration is, apart from who has a place.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = RegistrationDetails)]
pub struct DetailsBody {
    name: String,
    description: String,
    opens_at: Time,
    /// The cut-off: from then on nobody registers.
    closes_at: Time,
    starts_at: Time,
    ends_at: Option<Time>,
    /// The event it belongs to.
    event: Option<String>,
    venue: Option<String>,
    currency: String,
    price_minor: i64,
    checkout_seconds: i64,
}

impl From<&RegistrationDetails> for DetailsBody {
    fn from(details: &RegistrationDetails) -> DetailsBody {
        DetailsBody {
            name: details.name.clone(),
            description: details.description.clone(),
            opens_at: Time(details.opens_at),
            closes_at: Time(details.closes_at()),
            starts_at: Time(details.starts_at),
            ends_at: details.ends_at.map(Time),
            event: details.event.map(|event| event.to_string()),
            venue: details.venue.map(|venue| venue.to_string()),
            currency: details.currency.as_str().to_owned(),
            price_minor: details.price_minor,
            checkout_seconds: details.checkout_ms / 1_000,
        }
    }
}

/// Create a registration
///
/// It opens and closes by the clock. When all places are taken, whoever registers waits in line.
#[utoipa::path(post, path = "/v1/registrations", tag = "registrations", request_body = NewRegistration,
    responses((status = 201, body = RegistrationBody)))]
pub async fn create(
    State(app): State<Arc<App>>,
    caller: Caller,
    Json(body): Json<NewRegistration>,
) -> Result<Response, Problem> {
    let about = about::asked(&body.external_id, &body.metadata, &body.card);
    let listing = new_listing(&app, ListingKind::Registration, &caller, &about);
    let origin = caller.origin(&listing, &body);
    let details = RegistrationDetails {
        name: body.name.clone(),
        description: body.description.clone(),
        opens_at: body.opens_at.map_or_else(|| app.engine.now(), Time::ms),
        starts_at: body.starts_at.0,
        cut_off_ms: body.cut_off_seconds.map_or(CUT_OFF_MS_DEFAULT, seconds),
        currency: currency(&body.currency)?,
        price_minor: body.price_minor,
        checkout_ms: body.checkout_seconds.map_or(CHECKOUT_MS_DEFAULT, seconds),
        ends_at: body.ends_at.map(Time::ms),
        event: existing(&app, &caller, ("event", ListingKind::Event), body.event.as_deref()).await?,
        venue: existing(&app, &caller, ("venue", ListingKind::Venue), body.venue.as_deref()).await?,
    };
    let create = CreateRegistration { details, capacity: body.capacity };
    let command = Command::Registration(RegistrationCommand::Create(Box::new(create)));
    let (listing, answer) = reply::create(&app, listing, command, about, origin).await?;
    let (_, created) = own_fact(&answer, |fact| {
        if let Fact::Registration(RegistrationFact::Created(created)) = fact { Some(created) } else { None }
    })?;
    let opened = find_fact(&answer, |fact| {
        let Fact::Registration(RegistrationFact::StatusChanged { status, .. }) = fact else { return None };
        Some(*status)
    });
    let status = opened.map_or(RegistrationStatus::Scheduled, |(_, status)| status);
    let told = RegistrationBody {
        id: listing.to_string(),
        status: status.into(),
        details: DetailsBody::from(&created.details),
        venue_name: created.details.venue.and_then(|venue| venues::name_of(&app, &venue)),
        capacity: created.capacity,
        confirmed: 0,
        offered: 0,
        waiting: 0,
        available_spots: created.capacity,
        is_full: created.capacity == 0,
        price_from_minor: price_from(status, &created.details, created.capacity),
        position: At(reply::position_of(&answer)),
        about: AboutBody::of_answer(&answer),
    };
    Ok(reply::created(&answer, &format!("/v1/registrations/{listing}"), &told))
}

/// The listing of this kind that a body names; it must exist and be of the same tenant.
pub async fn existing(
    app: &App,
    caller: &Caller,
    (field, kind): (&str, ListingKind),
    text: Option<&str>,
) -> Result<Option<ListingId>, Problem> {
    let Some(text) = text else { return Ok(None) };
    let unknown = || Problem::invalid(field, format!("no such {field}"));
    let id = ListingId::parse(text).filter(|id| id.kind == kind && caller.principal.sees(id));
    let id = id.ok_or_else(unknown)?;
    look_up(app, &caller.principal, id).await?;
    app.engine.view(&id).map(|_| Some(id)).ok_or_else(unknown)
}

/// The registration as readers see it, or 404.
pub fn find(app: &App, listing: &ListingId) -> Result<Arc<View>, Problem> {
    let view = app.engine.view(listing).filter(|view| registration_of(view).is_some());
    view.ok_or_else(|| Problem::code(Code::ListingUnknown))
}

pub fn registration_of(view: &View) -> Option<&RegistrationView> {
    if let BodyView::Registration(registration) = &view.body { Some(registration) } else { None }
}

fn price_from(
    status: RegistrationStatus,
    details: &RegistrationDetails,
    available_spots: u32,
) -> Option<i64> {
    let sells = match status {
        RegistrationStatus::Scheduled | RegistrationStatus::Open => true,
        RegistrationStatus::Closed | RegistrationStatus::Started | RegistrationStatus::Cancelled => false,
    };
    (sells && available_spots > 0).then_some(details.price_minor)
}

fn described(app: &App, view: &View) -> Option<RegistrationBody> {
    let registration = registration_of(view)?;
    let taken = registration.confirmed + registration.offered;
    let available_spots = registration.capacity.saturating_sub(taken);
    Some(RegistrationBody {
        id: view.listing.to_string(),
        status: registration.status.into(),
        details: DetailsBody::from(&*registration.details),
        venue_name: registration.details.venue.and_then(|venue| venues::name_of(app, &venue)),
        capacity: registration.capacity,
        confirmed: registration.confirmed,
        offered: registration.offered,
        waiting: registration.waiting,
        available_spots,
        is_full: available_spots == 0,
        price_from_minor: price_from(registration.status, &registration.details, available_spots),
        position: At(view.position),
        about: AboutBody::of(view),
    })
}

/// Show a registration and how many have a place
///
/// How many places there are, and how many are confirmed, offered and waited for.
#[utoipa::path(get, path = "/v1/registrations/{registration}", tag = "registrations",
    responses((status = 200, body = RegistrationBody)))]
pub async fn show(State(app): State<Arc<App>>, at: RegistrationPath) -> Result<Response, Problem> {
    let view = find(&app, &at.listing)?;
    let mut response = reply::json(StatusCode::OK, &described(&app, &view));
    response.headers_mut().insert(reply::POSITION, reply::position_value(view.position));
    Ok(response)
}

/// Registrations in order of their ids
///
/// Page by page: go on with `after` as long as an answer has `next`. With a filter a page may be short or empty and have
/// one: a request looks at 2,000 at most.
#[utoipa::path(get, path = "/v1/registrations", tag = "registrations",
    params(("after" = Option<String>, Query), ("limit" = Option<usize>, Query), ("status" = Option<words::RegistrationStatus>, Query),
           ("starts_after" = Option<Time>, Query), ("starts_before" = Option<Time>, Query),
           ("external_id" = Option<String>, Query),
           ("created_after" = Option<Time>, Query), ("created_before" = Option<Time>, Query)),
    responses((status = 200, body = List<RegistrationBody>)))]
pub async fn list(
    State(app): State<Arc<App>>,
    Visitor(visitor): Visitor,
    Query(page): Query<StatusListQuery<words::RegistrationStatus>>,
) -> Result<Response, Problem> {
    let is_wanted = |view: &View| {
        registration_of(view)
            .is_some_and(|known| page.lets_pass(known.status.into(), known.details.starts_at))
    };
    let asked = ListingFilter::from(&page);
    let (found, next) =
        list::listings(&app, &visitor, ("registrations.list", ListingKind::Registration), &asked, is_wanted)
            .await?;
    let registrations = found.iter().filter_map(|view| described(&app, view)).collect();
    Ok(reply::json(StatusCode::OK, &List::new(registrations, next)))
}

/// Refused attempts to register
///
/// Who was refused what, and why, for whoever runs the registration. It is no part of the log: a restart of the server begins
/// anew.
#[utoipa::path(get, path = "/v1/registrations/{registration}/attempts", tag = "registrations",
    params(("after" = Option<String>, Query), ("limit" = Option<usize>, Query)),
    responses((status = 200, body = attempts::Attempts)))]
pub async fn list_attempts(
    State(app): State<Arc<App>>,
    at: RegistrationPath,
    Query(page): Query<Page>,
) -> Result<Response, Problem> {
    find(&app, &at.listing)?;
    attempts::page_of(&app, "registrations.attempts", at.listing, &page, |_| Obstacles::default()).await
}

/// What happened to a registration, in order
///
/// Page by page, oldest first: go on with `after`. A step is never torn, so a page may be a little longer than `limit`.
#[utoipa::path(get, path = "/v1/registrations/{registration}/facts", tag = "facts",
    params(("after" = Option<String>, Query), ("limit" = Option<usize>, Query)),
    responses((status = 200, body = facts::FactList), (status = 410, description = "Reload")))]
pub async fn list_facts(
    State(app): State<Arc<App>>,
    at: RegistrationPath,
    Query(page): Query<Page>,
) -> Result<Response, Problem> {
    facts::page_of(&app, &at.principal, at.listing, &page).await
}

/// Every fact of a registration as it happens, as server-sent events
///
/// Begins with the event `position`, then sends each fact with its position as `id`. `Last-Event-ID` or `after` resumes
/// with all that was missed; the event `reload` names the position to go on from if that is not in the log.
#[utoipa::path(get, path = "/v1/registrations/{registration}/stream", tag = "facts",
    params(("after" = Option<String>, Query), ("Last-Event-ID" = Option<String>, Header)),
    responses((status = 200, body = String, content_type = "text/event-stream"), (status = 503, description = "Too many streams")))]
pub async fn follow(
    State(app): State<Arc<App>>,
    at: RegistrationPath,
    Query(wish): Query<stream::Wish>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    stream::of_listing(app, (at.listing, at.principal), &wish, &headers).await
}
