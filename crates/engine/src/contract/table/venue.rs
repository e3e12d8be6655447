//! The verbs of a venue, each with the line that asks for it and the words of its fact.

use onsale_domain::Command;
use onsale_domain::listing::BodyView;
use onsale_domain::venue::command::CreateVenue;
use onsale_domain::venue::{VenueCommand, VenueFact};

use super::settings::layout;

pub(in crate::contract) fn create(name: &str, chart: &[&str]) -> Result<Command, String> {
    let create = CreateVenue {
        name: name.replace("''", ""),
        place: "Main Street".into(),
        layout: layout(&chart.join(" "))?.into(),
    };
    Ok(Command::Venue(VenueCommand::CreateVenue(Box::new(create))))
}

pub(super) fn publish(chart: &[&str]) -> Result<Command, String> {
    Ok(Command::Venue(VenueCommand::PublishLayout(layout(&chart.join(" "))?.into())))
}

pub(super) fn fact(fact: &VenueFact) -> String {
    match fact {
        VenueFact::VenueCreated(_) => "venue created".into(),
        VenueFact::LayoutPublished(published) => format!("published v{}", published.version),
    }
}

pub(super) fn versions(body: &BodyView) -> String {
    let Some(venue) = body.venue() else { return "not a venue".into() };
    let versions = venue.layouts.iter().map(|published| published.version.to_string());
    format!("{} has {}", venue.name, versions.collect::<Vec<_>>().join(","))
}
