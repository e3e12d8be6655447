//! `/v1/venues`: places with versioned layouts, shared by events.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use onsale_domain::listing::BodyView;
use onsale_domain::venue::Venue;
use onsale_domain::venue::command::CreateVenue;
use onsale_domain::venue::fact::LayoutPublished;
use onsale_domain::venue::{VenueCommand, VenueFact};
use onsale_domain::{Code, Command, Fact, ListingId, ListingKind};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::extract::{Caller, LargeJson, VenuePath};
use super::layout::LayoutBody;
use super::list::{self, List, Page};
use super::new_listing;
use super::problem::Problem;
use super::query::Query;
use super::reply::{self, own_fact};
use super::table::{Declared, declare};
use super::wire::At;
use crate::app::App;

/// The routes of venues.
pub fn routes() -> Vec<Declared> {
    vec![
        declare!("venues.create", create, Staff, Staff, keyed),
        declare!("venues.list", list, Read, Read, compressed),
        declare!("venues.show", show, Read, Read, compressed),
        declare!("venues.publish_layout", publish, Staff, Staff, keyed),
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
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Published {
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
    let listing = new_listing(&app, ListingKind::Venue, &caller);
    let origin = caller.origin(&listing, &body);
    let layout = body.layout.into_domain();
    let command = Command::Venue(VenueCommand::CreateVenue(Box::new(CreateVenue {
        name: body.name,
        place: body.place,
        layout: layout.into(),
    })));
    let answer = reply::submit(&app, listing, command, origin, None).await?;
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
    responses((status = 201, body = Published)))]
pub async fn publish(
    State(app): State<Arc<App>>,
    at: VenuePath,
    caller: Caller,
    LargeJson(body): LargeJson<LayoutBody>,
) -> Result<Response, Problem> {
    let origin = caller.origin(&at.listing, &body);
    let command = Command::Venue(VenueCommand::PublishLayout(body.into_domain().into()));
    let answer = reply::submit(&app, at.listing, command, origin, None).await?;
    let (_, published) = own_fact(&answer, published_in)?;
    let body = Published {
        venue: at.listing.to_string(),
        layout_version: published.version,
        seats: published.layout.seats().count(),
        areas: published.layout.areas.len(),
        position: At(reply::position_of(&answer)),
    };
    Ok(reply::created(&answer, &format!("/v1/venues/{}", at.listing), &body))
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
    let venue = find(&app, &at.listing)?;
    let published = match wish.version {
        None => venue.latest(),
        Some(version) => Some(venue.version(version).ok_or_else(|| version_unknown("version"))?),
    };
    let mut body = summary(&at.listing, &venue);
    body.versions = venue.layouts.iter().map(|published| published.version).collect();
    body.layout = published.map(|published| LayoutBody::from_domain(&published.layout));
    Ok(reply::json(StatusCode::OK, &body))
}

/// Venues in order of their ids
///
/// Without their layouts: ask for one venue to see its own.
#[utoipa::path(get, path = "/v1/venues", tag = "venues",
    params(("after" = Option<String>, Query), ("limit" = Option<usize>, Query)),
    responses((status = 200, body = List<VenueBody>)))]
pub async fn list(State(app): State<Arc<App>>, Query(page): Query<Page>) -> Result<Response, Problem> {
    let at = (page.after.as_deref(), page.limit);
    let (found, next) = list::listings(&app, "venues.list", ListingKind::Venue, at, |_| true)?;
    let venues = found.iter().filter_map(|view| match &view.body {
        BodyView::Venue(venue) => Some(summary(&view.listing, venue)),
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

pub fn version_unknown(field: &str) -> Problem {
    Problem::invalid(field, "no such version is kept; GET the venue to see which are")
}

fn summary(listing: &ListingId, venue: &Venue) -> VenueBody {
    let latest = venue.latest();
    VenueBody {
        id: listing.to_string(),
        name: venue.name.clone(),
        place: venue.place.clone(),
        layout_version: latest.map_or(0, |latest| latest.version),
        seats: latest.map_or(0, |latest| latest.layout.seats().count()),
        areas: latest.map_or(0, |latest| latest.layout.areas.len()),
        versions: Vec::new(),
        layout: None,
    }
}
