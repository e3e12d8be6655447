//! `/v1/venues`: places with versioned layouts, shared by events.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use onsale_domain::listing::BodyView;
use onsale_domain::venue::command::CreateVenue;
use onsale_domain::venue::fact::LayoutPublished;
use onsale_domain::venue::{self, Venue};
use onsale_domain::venue::{VenueCommand, VenueFact};
use onsale_domain::{Code, Command, Fact, ListingId, ListingKind};
use onsale_engine::View;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::about::{AboutBody, CardBody, Metadata};
use super::extract::{Caller, Json, LargeJson, VenuePath};
use super::gate::Visitor;
use super::layout::LayoutBody;
use super::list::{self, List, ListQuery, ListingFilter};
use super::problem::Problem;
use super::query::Query;
use super::reply::{self, own_fact};
use super::table::{RouteDeclaration, declare};
use super::time::Time;
use super::wire::At;
use super::{about, delete, new_listing};
use crate::app::App;

/// The routes of venues.
pub fn routes() -> Vec<RouteDeclaration> {
    vec![
        declare!("venues.create", create, Listings, Staff, keyed),
        declare!("venues.list", list, Read, Read, compressed),
        declare!("venues.show", show, Read, Read, compressed),
        declare!("venues.change", change, Listings, Staff, keyed),
        declare!("venues.delete", delete::venue, Listings, Staff, keyed),
        declare!("venues.publish_layout", publish, Listings, Staff, keyed),
    ]
}

/// A new venue with its first layout.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewVenue {
    #[schema(example = "Old Theatre")]
    pub name: String,
    /// City and street, as people would write it.
    #[serde(default)]
    #[schema(example = "Lisbon, Rua do Teatro 1")]
    pub place: String,
    pub layout: LayoutBody,
    /// The merchant's own name of it, unique among its kind: it is found by that, and never changes.
    #[schema(example = "shop-4711")]
    pub external_id: Option<String>,
    /// A JSON object of at most 2,048 bytes, returned as it was written, and never looked into.
    #[schema(value_type = Option<Object>)]
    pub metadata: Option<Metadata>,
    pub card: Option<CardBody>,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Venue)]
pub struct VenueBody {
    id: String,
    name: String,
    place: String,
    /// The newest version.
    layout_version: u32,
    seats: usize,
    areas: usize,
    /// Versions that events may adopt.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    versions: Vec<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    layout: Option<LayoutBody>,
    #[serde(flatten)]
    about: AboutBody,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct PublishedLayout {
    venue: String,
    layout_version: u32,
    seats: usize,
    areas: usize,
    #[schema(value_type = String, example = "1-3")]
    position: At,
}

/// Create a venue
///
/// A venue keeps every layout that was ever published, and events may share them.
#[utoipa::path(post, path = "/v1/venues", tag = "venues", request_body = NewVenue,
    responses((status = 201, body = VenueBody)))]
pub async fn create(
    State(app): State<Arc<App>>,
    caller: Caller,
    LargeJson(body): LargeJson<NewVenue>,
) -> Result<Response, Problem> {
    let about = about::asked(&body.external_id, &body.metadata, &body.card);
    let listing = new_listing(&app, ListingKind::Venue, &caller, &about);
    let origin = caller.origin(&listing, &body);
    let layout = body.layout.into_domain();
    let command = Command::Venue(VenueCommand::CreateVenue(Box::new(CreateVenue {
        name: body.name,
        place: body.place,
        layout: layout.into(),
    })));
    let (listing, answer) = reply::create(&app, listing, command, about, origin).await?;
    let (_, created) = own_fact(&answer, |fact| {
        if let Fact::Venue(VenueFact::VenueCreated(created)) = fact { Some(created) } else { None }
    })?;
    let (_, published) = own_fact(&answer, published_in)?;
    let venue = VenueBody {
        id: listing.to_string(),
        name: created.name.clone(),
        place: created.place.clone(),
        layout_version: published.version,
        seats: published.layout.seats().count(),
        areas: published.layout.areas.len(),
        versions: Vec::new(),
        layout: None,
        about: AboutBody::of_answer(&answer),
    };
    Ok(reply::created(&answer, &format!("/v1/venues/{listing}"), &venue))
}

fn published_in(fact: &Fact) -> Option<&LayoutPublished> {
    if let Fact::Venue(VenueFact::LayoutPublished(published)) = fact { Some(published) } else { None }
}

/// Publish a new layout version
///
/// The new layout becomes the venue's newest version. Events keep the one they have until they adopt another.
#[utoipa::path(post, path = "/v1/venues/{venue}/layouts", tag = "venues", request_body = LayoutBody,
    responses((status = 201, body = PublishedLayout)))]
pub async fn publish(
    State(app): State<Arc<App>>,
    at: VenuePath,
    caller: Caller,
    LargeJson(body): LargeJson<LayoutBody>,
) -> Result<Response, Problem> {
    let origin = caller.origin(&at.listing, &body);
    let command = Command::Venue(VenueCommand::PublishLayout(body.into_domain().into()));
    // Here the body is the layout.
    let tell = |refusal: &_| Problem::refused(refusal, None).renamed("layout", "");
    let answer = reply::submit_told(&app, at.listing, command, origin, tell).await?;
    let (_, published) = own_fact(&answer, published_in)?;
    let body = PublishedLayout {
        venue: at.listing.to_string(),
        layout_version: published.version,
        seats: published.layout.seats().count(),
        areas: published.layout.areas.len(),
        position: At(reply::position_of(&answer)),
    };
    Ok(reply::created(&answer, &format!("/v1/venues/{}", at.listing), &body))
}

/// What is said of it. A layout is published at a route of its own; its name and its place never change.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
#[schema(example = json!({"card": {"city": "Lisbon", "country": "PT", "virtual": false}}))]
#[schema(min_properties = 1)]
pub struct VenueChange {
    /// Replaces all of it; `null` takes it away.
    #[serde(deserialize_with = "about::given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub metadata: Option<Option<Metadata>>,
    /// Replaces all of it; `null` takes it away.
    #[serde(deserialize_with = "about::given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<CardBody>)]
    pub card: Option<Option<CardBody>>,
}

/// Change what is said of a venue
///
/// The answer is the venue as it is now, with its newest layout.
#[utoipa::path(patch, path = "/v1/venues/{venue}", tag = "venues", request_body = VenueChange,
    responses((status = 200, body = VenueBody)))]
pub async fn change(
    State(app): State<Arc<App>>,
    at: VenuePath,
    caller: Caller,
    Json(body): Json<VenueChange>,
) -> Result<Response, Problem> {
    let command = about::change(&body.metadata, &body.card, false)?;
    let command = command.ok_or_else(|| Problem::invalid("body", "names at least one thing to change"))?;
    let origin = caller.origin(&at.listing, &body);
    let answer = reply::submit(&app, at.listing, command, origin, None).await?;
    let view = reply::seen(&app, &at.listing, &answer).await?;
    Ok(reply::changed(&answer, &view, &whole(&view, find(&app, &at.listing)?.latest())))
}

/// A venue with one of its layouts.
fn whole(view: &View, published: Option<&venue::LayoutVersion>) -> Option<VenueBody> {
    let BodyView::Venue(venue) = &view.body else { return None };
    let mut body = summary(view, venue);
    body.versions = venue.layouts.iter().map(|published| published.version).collect();
    body.layout = published.map(|published| LayoutBody::from_domain(&published.layout));
    Some(body)
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Version {
    version: Option<u32>,
}

/// A venue with one of its layouts
///
/// The newest layout, or the one that `version` names, and which versions there are.
#[utoipa::path(get, path = "/v1/venues/{venue}", tag = "venues",
    params(("version" = Option<u32>, Query, description = "Another version than the newest")),
    responses((status = 200, body = VenueBody)))]
pub async fn show(
    State(app): State<Arc<App>>,
    at: VenuePath,
    Query(wish): Query<Version>,
) -> Result<Response, Problem> {
    let view = app.engine.view(&at.listing).ok_or_else(|| Problem::code(Code::ListingUnknown))?;
    let venue = find(&app, &at.listing)?;
    let published = match wish.version {
        None => venue.latest(),
        Some(version) => Some(venue.version(version).ok_or_else(no_such_version)?),
    };
    Ok(reply::json(StatusCode::OK, &whole(&view, published)))
}

/// Venues in order of their ids
///
/// Without their layouts: ask for one venue to see its own.
#[utoipa::path(get, path = "/v1/venues", tag = "venues",
    params(("after" = Option<String>, Query), ("limit" = Option<usize>, Query), ("external_id" = Option<String>, Query),
           ("created_after" = Option<Time>, Query), ("created_before" = Option<Time>, Query)),
    responses((status = 200, body = List<VenueBody>)))]
pub async fn list(
    State(app): State<Arc<App>>,
    Visitor(visitor): Visitor,
    Query(page): Query<ListQuery>,
) -> Result<Response, Problem> {
    let (found, next) = list::listings(
        &app,
        &visitor,
        ("venues.list", ListingKind::Venue),
        &ListingFilter::from(&page),
        |_| true,
    )
    .await?;
    let venues = found.iter().filter_map(|view| match &view.body {
        BodyView::Venue(venue) => Some(summary(view, venue)),
        BodyView::Event(_)
        | BodyView::Sale(_)
        | BodyView::Series(_)
        | BodyView::Registration(_)
        | BodyView::Auction(_)
        | BodyView::Desk(_) => None,
    });
    Ok(reply::json(StatusCode::OK, &List::new(venues.collect(), next)))
}

pub fn find(app: &App, venue: &ListingId) -> Result<Arc<Venue>, Problem> {
    match app.engine.view(venue).as_deref().map(|view| &view.body) {
        Some(BodyView::Venue(venue)) => Ok(venue.clone()),
        Some(
            BodyView::Event(_)
            | BodyView::Sale(_)
            | BodyView::Series(_)
            | BodyView::Registration(_)
            | BodyView::Auction(_)
            | BodyView::Desk(_),
        )
        | None => Err(Problem::code(Code::ListingUnknown)),
    }
}

/// What a venue is called, as far as this server knows; nothing is decided by it.
pub fn name_of(app: &App, venue: &ListingId) -> Option<String> {
    find(app, venue).ok().map(|venue| venue.name.clone())
}

const VERSION_UNKNOWN: &str = "no such version is kept; GET the venue to see which are";

fn no_such_version() -> Problem {
    Problem::parameter("version", VERSION_UNKNOWN)
}

/// A field of a body names a version that the venue does not keep.
pub fn version_unknown(field: &str) -> Problem {
    Problem::invalid(field, VERSION_UNKNOWN)
}

fn summary(view: &View, venue: &Venue) -> VenueBody {
    let latest = venue.latest();
    VenueBody {
        id: view.listing.to_string(),
        about: AboutBody::of(view),
        name: venue.name.clone(),
        place: venue.place.clone(),
        layout_version: latest.map_or(0, |latest| latest.version),
        seats: latest.map_or(0, |latest| latest.layout.seats().count()),
        areas: latest.map_or(0, |latest| latest.layout.areas.len()),
        versions: Vec::new(),
        layout: None,
    }
}
