//! Facts of a venue as JSON: of a layout only its size.

use onsale_domain::layout::Layout;
use onsale_domain::venue::VenueFact;
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Debug, Serialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum VenueFactBody<'a> {
    VenueCreated { name: &'a str, place: &'a str },
    LayoutPublished { layout_version: u32, seats: usize, areas: usize },
}

impl<'a> From<&'a VenueFact> for VenueFactBody<'a> {
    fn from(fact: &'a VenueFact) -> VenueFactBody<'a> {
        match fact {
            VenueFact::VenueCreated(venue) => {
                VenueFactBody::VenueCreated { name: &venue.name, place: &venue.place }
            }
            VenueFact::LayoutPublished(published) => {
                let (seats, areas) = size(&published.layout);
                VenueFactBody::LayoutPublished { layout_version: published.version, seats, areas }
            }
        }
    }
}

/// Seats and areas of a layout.
pub(super) fn size(layout: &Layout) -> (usize, usize) {
    (layout.seats().count(), layout.areas.len())
}
