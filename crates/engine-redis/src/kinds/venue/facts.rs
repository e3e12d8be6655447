//! Facts of venues as fields.

use std::sync::Arc;

use onsale_domain::venue::VenueFact;
use onsale_domain::venue::fact::{LayoutPublished, VenueCreated};

use crate::facts::{Fields, Malformed, packed, read_packed};

pub(super) fn encode(fact: &VenueFact, fields: &mut Fields) {
    match fact {
        VenueFact::VenueCreated(created) => {
            fields.push("name", &created.name);
            fields.push("place", &created.place);
        }
        VenueFact::LayoutPublished(published) => {
            fields.push("version", published.version.to_string());
            fields.push("layout", packed(&*published.layout));
        }
    }
}

/// Reads what [`encode`] or a script wrote.
pub(super) fn decode(name: &str, fields: &Fields) -> Result<VenueFact, Malformed> {
    Ok(match name {
        "venue_created" => VenueFact::VenueCreated(Box::new(VenueCreated {
            name: fields.text("name")?.to_owned(),
            place: fields.text("place")?.to_owned(),
        })),
        "layout_published" => VenueFact::LayoutPublished(Box::new(LayoutPublished {
            version: fields.number("version")?,
            layout: Arc::new(read_packed("layout", fields.bytes("layout")?)?),
        })),
        _ => return Err(Malformed::of("kind")),
    })
}
