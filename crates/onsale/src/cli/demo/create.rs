//! Puts the demo's houses and events into an engine, through its port, unless they are there already.

use std::sync::Arc;

use anyhow::{Context, bail};
use onsale_domain::event::{EventDetails, EventStatus, SaleRules};
use onsale_domain::money::Currency;
use onsale_domain::seats::EventCommand;
use onsale_domain::seats::command::{AdoptChart, CreateEvent};
use onsale_domain::venue::VenueCommand;
use onsale_domain::venue::command::CreateVenue;
use onsale_domain::{Code, Command, ListingId, ListingKind, Millis};
use onsale_edge::http::gate::staff;
use onsale_engine::{Engine, Request};

use super::{House, arena, theatre};

const HOUR_MS: Millis = 3_600_000;
/// The demo stays on sale for a year after its first start.
const AHEAD_MS: Millis = 365 * 24 * HOUR_MS;
/// Doors at 19:00 in UTC.
const DOORS_HOUR: Millis = 19;

/// The demo's events after the first start and after every other one.
pub async fn ensure(engine: &Arc<dyn Engine>) -> anyhow::Result<[ListingId; 2]> {
    let houses = [theatre::house(), arena::house()];
    let events = houses.each_ref().map(|house| house.event());
    for house in houses {
        ensure_one(&**engine, house).await?;
    }
    Ok(events)
}

async fn ensure_one(engine: &dyn Engine, house: House) -> anyhow::Result<()> {
    let (venue, event) = (house.venue, house.event());
    if engine.view(&event).is_some() {
        return Ok(());
    }
    let create = CreateVenue {
        name: house.venue_name.to_owned(),
        place: house.place.to_owned(),
        layout: house.layout.clone(),
    };
    submit(engine, venue, Command::Venue(VenueCommand::CreateVenue(Box::new(create)))).await?;
    let chart = AdoptChart { venue: Some(venue), version: 1, layout: house.layout.clone() };
    let details = details(house, engine.now())?;
    let create = CreateEvent { details, status: EventStatus::OnSale, chart };
    submit(engine, event, Command::Event(EventCommand::CreateEvent(Box::new(create)))).await
}

fn details(house: House, now: Millis) -> anyhow::Result<EventDetails> {
    let midnight = (now + AHEAD_MS) / (24 * HOUR_MS) * (24 * HOUR_MS);
    let starts_at = midnight + DOORS_HOUR * HOUR_MS;
    Ok(EventDetails {
        name: house.event_name.to_owned(),
        description: house.description.to_owned(),
        venue: Some(house.venue),
        starts_at,
        ends_at: starts_at + 3 * HOUR_MS,
        sale_opens_at: None,
        sale_closes_at: None,
        time_zone: "UTC".into(),
        currency: Currency::parse(house.currency).context("the demo's currency")?,
        tiers: house.tiers,
        rules: SaleRules::default(),
    })
}

/// A listing that exists is as good as one just made: a start may have been cut short between two.
pub async fn submit(engine: &dyn Engine, listing: ListingId, command: Command) -> anyhow::Result<()> {
    let answer = engine.submit(Request { listing, command, key: None, by: staff() }).await;
    let answer = answer.with_context(|| format!("{listing} could not be created"))?;
    match answer.outcome.refused() {
        Some(refusal) if refusal.code != Code::ListingExists => {
            bail!("{listing} could not be created: {}", refusal.code.as_str())
        }
        Some(_) | None => Ok(()),
    }
}

impl House {
    /// The event has the number of its venue: both are named after the house.
    pub fn event(&self) -> ListingId {
        ListingId { kind: ListingKind::Event, ..self.venue }
    }
}

#[cfg(test)]
mod tests {
    use onsale_engine::embedded::{EmbeddedEngine, Options};

    use super::*;

    #[test]
    fn the_houses_have_the_places_they_promise() {
        for (house, seats, places, tiers) in
            [(theatre::house(), 1_500, 0, 3), (arena::house(), 45_000, 5_000, 4)]
        {
            house.layout.check().expect("within every bound");
            assert_eq!(house.layout.seats().count(), seats, "{}", house.venue_name);
            assert_eq!(house.layout.areas.iter().map(|area| area.capacity).sum::<u32>(), places);
            assert_eq!((house.layout.tiers_needed(), house.tiers.len()), (tiers, tiers));
            let accessible = house.layout.seats().filter(|seat| seat.accessible).count();
            let companions = house.layout.seats().filter(|seat| seat.companion).count();
            assert!(accessible >= 10 && accessible == companions, "{}", house.venue_name);
        }
    }

    #[test]
    fn no_two_seats_of_a_house_are_drawn_on_top_of_each_other() {
        for house in [theatre::house(), arena::house()] {
            let mut spots: Vec<_> = house.layout.seats().map(|seat| (seat.x / 20, seat.y / 20)).collect();
            let seats = spots.len();
            spots.sort_unstable();
            spots.dedup();
            assert!(spots.len() * 100 >= seats * 99, "{}: {} of {seats}", house.venue_name, spots.len());
        }
    }

    #[tokio::test]
    async fn the_second_start_finds_the_demo_as_it_was() -> anyhow::Result<()> {
        let data = tempfile::tempdir()?;
        let engine: Arc<dyn Engine> = Arc::new(EmbeddedEngine::open(data.path(), Options::default())?);
        let first = ensure(&engine).await?;
        let positions = first.map(|event| engine.view(&event).map(|view| view.position));
        assert!(positions.iter().all(Option::is_some));
        assert_eq!(ensure(&engine).await?, first);
        assert_eq!(first.map(|event| engine.view(&event).map(|view| view.position)), positions);
        assert_eq!(first[0].to_string(), "evt_000000000theatre");
        assert_eq!(first[1].to_string(), "evt_00000000000arena");
        Ok(())
    }
}
