//! What staff does to events and venues: create, change, close, cancel, move the chairs, and get the forms wrong.

use onsale_domain::event::{EventDetails, EventStatus, SaleRules, Tier};
use onsale_domain::layout::{Area, Layout, Row, Seat, Section};
use onsale_domain::money::Currency;
use onsale_domain::seats::EventCommand;
use onsale_domain::seats::command::{AdoptChart, ChangeEvent, CreateEvent, Pick, PlaceHold, UnblockSeats};
use onsale_domain::seats::fact::AreaCount;
use onsale_domain::venue::VenueCommand;
use onsale_domain::venue::command::CreateVenue;
use onsale_domain::{Command, HoldId, ListingId, ListingKind, Tenant};
use onsale_engine::Request;

use super::Workload;
use crate::auditor::Auditor;
use crate::model::{Event, Listing};
use crate::rng::Rng;

const HOUR: i64 = 3_600_000;

impl Workload {
    pub(super) fn new_id(&mut self, rng: &mut Rng, kind: ListingKind) -> ListingId {
        self.listings_made += 1;
        let other = Tenant::new(1).unwrap_or(Tenant::DEFAULT);
        let tenant = if rng.chance(200) { other } else { Tenant::DEFAULT };
        ListingId { tenant, kind, number: self.fresh() }
    }

    pub(super) fn create(&mut self, rng: &mut Rng, clock: i64) -> Request {
        if rng.chance(150) && self.listings_made > 0 {
            let id = self.new_id(rng, ListingKind::Venue);
            let (name, place, layout) = ("Hall".into(), "Main Street 1".into(), layout(rng));
            let create = Command::Venue(VenueCommand::CreateVenue(Box::new(CreateVenue {
                name,
                place,
                layout: layout.into(),
            })));
            return self.request(rng, id, create);
        }
        let id = self.new_id(rng, ListingKind::Event);
        let statuses = [EventStatus::OnSale, EventStatus::OnSale, EventStatus::Scheduled, EventStatus::Draft];
        let mut status = *rng.pick(&statuses).unwrap_or(&EventStatus::OnSale);
        let mut details = details(rng, clock);
        let mut chart = AdoptChart { venue: None, version: 1, layout: layout(rng).into() };
        match rng.below(40) {
            0 => details.name.clear(),
            1 => details.ends_at = details.starts_at,
            2 => details.rules.buyer_limit = 51,
            3 => details.rules.hold_ms = 29_999,
            4 => chart.layout = Layout::default().into(),
            5 => details.tiers.truncate(1),
            6 => status = EventStatus::Closed,
            7 => details.sale_closes_at = Some(-1),
            _ => {}
        }
        let create =
            Command::Event(EventCommand::CreateEvent(Box::new(CreateEvent { details, status, chart })));
        self.request(rng, id, create)
    }

    /// Something for a listing that does not exist, exists already, or is of the other kind.
    pub(super) fn stray(&mut self, rng: &mut Rng, auditor: &Auditor, clock: i64) -> Request {
        let create = self.create(rng, clock);
        self.listings_made -= 1;
        let ids: Vec<ListingId> = auditor.listings.keys().copied().collect();
        let listing = rng.pick(&ids).copied().unwrap_or(create.listing);
        match rng.below(3) {
            0 => Request { listing, ..create },
            1 => Request { command: Command::ExpireDue { limit: 1 }, ..create },
            _ => Request {
                listing,
                command: Command::Venue(VenueCommand::PublishLayout(layout(rng).into())),
                key: None,
                by: None,
            },
        }
    }

    pub(super) fn of_venue(&mut self, rng: &mut Rng, listing: &Listing) -> Command {
        if rng.chance(100) {
            let (hold, buyer) = (HoldId(self.fresh()), self.some_buyer(rng));
            let pick = Pick::Seats(vec![listing.made as u32]);
            return Command::Event(EventCommand::PlaceHold(PlaceHold {
                hold,
                buyer,
                pick,
                areas: Vec::new(),
                hold_ms: None,
            }));
        }
        let mut next = layout(rng);
        if rng.chance(100) {
            next.areas.push(Area { id: "empty".into(), ..Area::default() });
        }
        Command::Venue(VenueCommand::PublishLayout(next.into()))
    }

    pub(super) fn change_event(&mut self, rng: &mut Rng, event: &Event, clock: i64) -> Command {
        let mut change = ChangeEvent::default();
        match rng.below(14) {
            0 => change.name = Some("Another name".into()),
            1 => change.buyer_limit = Some(rng.range(1, 12) as u32),
            2 => change.hold_ms = Some(rng.range(30_000, 300_000)),
            3 => change.extension_ms = Some(rng.chance(500).then(|| rng.range(1_000, 400_000))),
            4 => change.extensions_max = Some(rng.below(4) as u8),
            5 => change.refuse_single_seats = Some(rng.chance(600)),
            6 => change.sale_closes_at = Some(rng.chance(400).then(|| clock + rng.range(1_000, HOUR))),
            7 => change.tiers = Some(tiers(rng)),
            8 => change.ends_at = Some(event.details.ends_at + rng.range(0, HOUR)),
            9 => change.ends_at = Some(event.details.starts_at),
            10 => change.buyer_limit = Some(0),
            11 => change.tiers = Some(tiers(rng).into_iter().take(1).collect()),
            12 => change.sale_opens_at = Some(Some(clock + rng.range(0, 60_000))),
            _ => {}
        }
        Command::Event(EventCommand::ChangeEvent(Box::new(change)))
    }

    /// The old layout with a row more, a row less or a seat moved; sometimes an altogether new one.
    pub(super) fn adopt_chart(&mut self, rng: &mut Rng, event: &Event) -> Command {
        let mut next = layout(rng);
        if rng.chance(850) {
            let seat = |index: &u32| Seat {
                id: event.chart.ids[*index as usize].clone(),
                tier: event.chart.seats.get(index).map_or(0, |seat| seat.tier),
                accessible: event.chart.seats.get(index).is_some_and(|seat| seat.special),
                ..Seat::default()
            };
            let mut rows: Vec<Row> = Vec::new();
            for (_, seats) in &event.chart.rows {
                rows.push(Row { label: String::new(), seats: seats.iter().map(seat).collect() });
            }
            match rng.below(4) {
                0 => rows.truncate(rows.len().saturating_sub(1)),
                1 => rows.reverse(),
                2 => rows.iter_mut().for_each(|row| drop(row.seats.pop())),
                _ => {
                    let id = format!("new-{}", self.fresh());
                    rows.push(Row { label: String::new(), seats: vec![Seat { id, ..Seat::default() }] });
                }
            }
            next.sections = vec![Section { name: "Stalls".into(), rows }];
            let area = |area: &crate::model::Area| Area {
                id: area.id.clone(),
                section: "Floor".into(),
                tier: area.tier,
                capacity: (area.capacity + rng.below(4) as u32).max(1),
                ..Area::default()
            };
            next.areas = event.chart.areas.iter().map(area).collect();
        }
        Command::Event(EventCommand::AdoptChart(Box::new(AdoptChart {
            venue: None,
            version: 2,
            layout: next.into(),
        })))
    }

    /// Mostly back to where tickets are sold, or the run would soon be over.
    pub(super) fn change_status(&mut self, rng: &mut Rng, event: &Event) -> Command {
        if event.status != EventStatus::OnSale && rng.chance(850) {
            return Command::Event(EventCommand::ChangeStatus(EventStatus::OnSale));
        }
        let some = [
            EventStatus::OnSale,
            EventStatus::Closed,
            EventStatus::Postponed,
            EventStatus::Closed,
            EventStatus::Scheduled,
            EventStatus::Draft,
            EventStatus::Completed,
        ];
        let cancelled = rng.chance(60);
        let status = rng.pick(&some).copied().unwrap_or(EventStatus::Closed);
        Command::Event(EventCommand::ChangeStatus(if cancelled { EventStatus::Cancelled } else { status }))
    }

    /// Forms filled in wrongly.
    pub(super) fn odd(&mut self, rng: &mut Rng, event: &Event) -> Command {
        let (hold, buyer) = (HoldId(self.fresh()), self.some_buyer(rng));
        let count = |count| AreaCount { area: 0, count };
        let (pick, areas) = match rng.below(6) {
            0 => (Pick::Seats(vec![1, 1]), Vec::new()),
            1 => (Pick::Seats(Vec::new()), Vec::new()),
            2 => (Pick::Seats(vec![0]), vec![count(0)]),
            3 => (Pick::Seats(vec![0]), vec![count(1), count(1)]),
            4 => (Pick::Seats((0..21).collect()), Vec::new()),
            _ => {
                let seats = vec![event.chart.ids.len() as u32 + 5];
                return Command::Event(EventCommand::UnblockSeats(UnblockSeats { seats, areas: Vec::new() }));
            }
        };
        Command::Event(EventCommand::PlaceHold(PlaceHold { hold, buyer, pick, areas, hold_ms: None }))
    }
}

fn tiers(rng: &mut Rng) -> Vec<Tier> {
    (0..3).map(|n| Tier { name: format!("tier {n}"), price_minor: rng.range(0, 10_000) }).collect()
}

pub(super) fn details(rng: &mut Rng, clock: i64) -> EventDetails {
    let starts_at = clock + rng.range(HOUR, 30 * HOUR);
    let rules = SaleRules {
        hold_ms: if rng.chance(600) { 120_000 } else { rng.range(30_000, 400_000) },
        extension_ms: rng.chance(300).then(|| rng.range(1_000, 300_000)),
        extensions_max: rng.range(0, 3) as u8,
        buyer_limit: if rng.chance(500) { 8 } else { rng.range(1, 12) as u32 },
        refuse_single_seats: rng.chance(200),
    };
    EventDetails {
        name: "Concert".into(),
        description: String::new(),
        venue: None,
        starts_at,
        ends_at: starts_at + HOUR,
        sale_opens_at: rng.chance(300).then(|| clock + rng.range(0, 30_000)),
        sale_closes_at: rng.chance(100).then(|| clock + rng.range(60_000, 2 * HOUR)),
        time_zone: "UTC".into(),
        currency: Currency::parse("EUR").expect("a code"),
        tiers: tiers(rng),
        rules,
    }
}

pub(super) fn layout(rng: &mut Rng) -> Layout {
    let mut sections = Vec::new();
    for s in 0..rng.range(1, 3) {
        let mut rows = Vec::new();
        for r in 0..rng.range(1, 3) {
            let seat = |n: i64| Seat {
                id: format!("{s}-{r}-{n}"),
                label: n.to_string(),
                tier: rng.below(3) as u16,
                accessible: rng.chance(60),
                companion: rng.chance(60),
                ..Seat::default()
            };
            let count = 3 + (s * 7 + r * 5) % 7;
            rows.push(Row { label: r.to_string(), seats: (0..count).map(seat).collect() });
        }
        sections.push(Section { name: format!("section {s}"), rows });
    }
    let count = rng.range(0, 2);
    let area = |n: i64| Area {
        id: format!("floor-{n}"),
        label: String::new(),
        section: "Floor".into(),
        tier: 0,
        capacity: rng.range(2, 25) as u32,
    };
    let areas = (0..count).map(area).collect::<Vec<_>>();
    Layout { sections, areas }
}
