//! One evening with every verb, told line by line. Its lines are recorded calls of the previous release as well, so
//! they are only ever added behind the last one, together with a new recording.

use onsale_domain::event::{EventDetails, EventStatus, SaleRules, Tier};
use onsale_domain::layout::{Area, Layout, Row, Seat, Section};
use onsale_domain::listing::Key;
use onsale_domain::money::Currency;
use onsale_domain::seats::command::{
    AdoptChart, BestAvailable, BlockSeats, ChangeEvent, ConfirmHold, CreateEvent, DropSeats, ExtendHold,
    HoldKey, JoinQueue, LeaveQueue, OverrideHold, Pick, PlaceHold, RefundOrder, UnblockSeats,
};
use onsale_domain::seats::fact::AreaCount;
use onsale_domain::seats::{EventCommand, EventFound, EventQuery};
use onsale_domain::venue::VenueCommand;
use onsale_domain::venue::command::CreateVenue;
use onsale_domain::{BuyerId, Command, HoldId, ListingId, ListingKind, Millis, OrderId, Tenant};
use onsale_domain::{Found, Query};
use onsale_engine_redis::desk::Stamp;
use onsale_engine_redis::picture::Picture;

pub const VENUE: ListingId = ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Venue, number: 7 };
pub const EVENT: ListingId = ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Event, number: 7 };

const NOW: Millis = 1_700_000_000_000;
const LATER: Millis = NOW + 400_000;

pub struct Line {
    pub listing: ListingId,
    pub at: Millis,
    pub stamp: Stamp,
    pub refused: bool,
    /// Made from what is known of the listing: its fences are in there.
    pub command: fn(&Picture) -> Command,
}

const fn line(listing: ListingId, at: Millis, command: fn(&Picture) -> Command) -> Line {
    Line { listing, at, stamp: Stamp::None, refused: false, command }
}

const fn keyed(number: u128, at: Millis, command: fn(&Picture) -> Command) -> Line {
    let stamp = Stamp::Key(Key { scope: number, fingerprint: number + 1 });
    Line { stamp, ..line(EVENT, at, command) }
}

const fn refused(at: Millis, command: fn(&Picture) -> Command) -> Line {
    Line { refused: true, ..line(EVENT, at, command) }
}

pub const STORY: &[Line] = &[
    line(VENUE, NOW, |_| {
        let (name, place, layout) = ("The Globe".into(), "Southwark".into(), layout(12).into());
        Command::Venue(VenueCommand::CreateVenue(Box::new(CreateVenue { name, place, layout })))
    }),
    line(VENUE, NOW, |_| Command::Venue(VenueCommand::PublishLayout(layout(14).into()))),
    line(EVENT, NOW, |_| create()),
    keyed(3, NOW + 1, |_| hold(1, "ann", Pick::Seats(vec![0, 1]))),
    // Sent again, to whoever is the other one.
    keyed(3, NOW + 2, |_| hold(1, "ann", Pick::Seats(vec![0, 1]))),
    line(EVENT, NOW + 3, |_| hold(2, "bob \"b\" {o}:b", best(3))),
    refused(NOW + 4, |_| hold(9, "cleo", Pick::Seats(vec![1, 2]))),
    line(EVENT, NOW + 5, |it| {
        Command::Event(EventCommand::ExtendHold(ExtendHold { key: key(it, 1, "ann"), extension_ms: None }))
    }),
    line(EVENT, NOW + 6, |_| join(3, "cleo", 0)),
    line(EVENT, NOW + 7, |_| join(4, "dora", 0)),
    line(EVENT, NOW + 8, |_| {
        let (seats, areas) = (vec![10, 11], vec![AreaCount { area: 0, count: 2 }]);
        Command::Event(EventCommand::BlockSeats(BlockSeats { seats, areas, reason: "camera".into() }))
    }),
    line(EVENT, NOW + 9, |_| {
        let (seats, areas) = (vec![11], vec![AreaCount { area: 0, count: 1 }]);
        Command::Event(EventCommand::UnblockSeats(UnblockSeats { seats, areas }))
    }),
    line(EVENT, NOW + 10, |it| {
        Command::Event(EventCommand::DropSeats(DropSeats {
            key: key(it, 1, "ann"),
            seats: vec![1],
            areas: Vec::new(),
        }))
    }),
    // Seat 0 is cleo's now: an offer.
    line(EVENT, NOW + 11, |it| Command::Event(EventCommand::ReleaseHold(key(it, 1, "ann")))),
    line(EVENT, NOW + 12, |_| join(5, "emil", 0)),
    line(EVENT, NOW + 13, |_| {
        Command::Event(EventCommand::LeaveQueue(LeaveQueue { seat: 0, buyer: buyer("dora") }))
    }),
    keyed(5, NOW + 14, |it| {
        Command::Event(EventCommand::ConfirmHold(ConfirmHold {
            key: key(it, 2, "bob \"b\" {o}:b"),
            order: OrderId(1),
        }))
    }),
    // The hold is gone, but who repeats the same gets the first answer.
    keyed(5, NOW + 15, |_| {
        let key = HoldKey { hold: HoldId(2), fence: SOLD_FENCE, buyer: buyer("bob \"b\" {o}:b") };
        Command::Event(EventCommand::ConfirmHold(ConfirmHold { key, order: OrderId(1) }))
    }),
    line(EVENT, NOW + 16, |_| {
        let (buyer, areas) = (buyer("fay"), vec![AreaCount { area: 0, count: 3 }]);
        let pick = Pick::Seats(vec![2]);
        Command::Event(EventCommand::PlaceHold(PlaceHold {
            hold: HoldId(6),
            buyer,
            pick,
            areas,
            hold_ms: Some(90_000),
        }))
    }),
    line(EVENT, NOW + 17, |_| {
        let (staff, reason) = ("gus".into(), "a mistake".into());
        let to = Some((buyer("hal"), Some(60_000)));
        Command::Event(EventCommand::OverrideHold(OverrideHold { hold: HoldId(6), staff, reason, to }))
    }),
    line(EVENT, NOW + 18, |_| {
        let change = ChangeEvent { name: Some("Twelfth Night".into()), ..ChangeEvent::default() };
        Command::Event(EventCommand::ChangeEvent(Box::new(change)))
    }),
    line(EVENT, NOW + 19, |_| {
        let chart = AdoptChart { venue: Some(VENUE), version: 2, layout: layout(14).into() };
        Command::Event(EventCommand::AdoptChart(Box::new(chart)))
    }),
    line(EVENT, NOW + 20, |_| hold(7, "ida", Pick::Seats(vec![12, 13]))),
    line(EVENT, LATER, |_| Command::ExpireDue { limit: 2 }),
    line(EVENT, LATER + 1, |_| hold(8, "jon", Pick::Seats(vec![12]))),
    line(EVENT, LATER + 2, |_| Command::ExpireDue { limit: 64 }),
    line(EVENT, LATER + 3, |_| {
        let (seats, areas, reason) = (Vec::new(), Vec::new(), "ill".into());
        Command::Event(EventCommand::RefundOrder(RefundOrder { order: OrderId(1), seats, areas, reason }))
    }),
    line(EVENT, LATER + 4, |_| Command::Event(EventCommand::ChangeStatus(EventStatus::Closed))),
    refused(LATER + 5, |_| hold(10, "kit", Pick::Seats(vec![3]))),
    line(EVENT, LATER + 6, |it| Command::Event(EventCommand::ReleaseHold(key(it, 8, "jon")))),
    line(EVENT, LATER + 7, |_| Command::Event(EventCommand::ChangeStatus(EventStatus::Cancelled))),
    line(EVENT, LATER + 8, |_| Command::ExpireDue { limit: 64 }),
];

/// The fence of the hold that is sold in the story.
const SOLD_FENCE: u64 = (1 << 40) + 4;

fn layout(seats: usize) -> Layout {
    let seat = |n: usize| Seat { id: format!("A-{n}"), label: n.to_string(), ..Seat::default() };
    let row = Row { label: "A".into(), seats: (1..=seats).map(seat).collect() };
    let area = Area { id: "pit".into(), label: "Pit".into(), section: "pit".into(), tier: 1, capacity: 20 };
    Layout { sections: vec![Section { name: "stalls".into(), rows: vec![row] }], areas: vec![area] }
}

fn create() -> Command {
    let details = EventDetails {
        name: "The Tempest".into(),
        description: "with a storm".into(),
        venue: Some(VENUE),
        starts_at: NOW + 360_000_000,
        ends_at: NOW + 370_000_000,
        sale_opens_at: Some(NOW - 1_000),
        sale_closes_at: None,
        is_virtual: false,
        currency: Currency::parse("EUR").expect("three capital letters"),
        tiers: [("seat", 5_000), ("pit", 700)].map(tier).to_vec(),
        rules: SaleRules::default(),
    };
    let chart = AdoptChart { venue: Some(VENUE), version: 1, layout: layout(12).into() };
    Command::Event(EventCommand::CreateEvent(Box::new(CreateEvent {
        details,
        status: EventStatus::OnSale,
        chart,
    })))
}

fn tier((name, price_minor): (&str, i64)) -> Tier {
    Tier { name: name.into(), price_minor }
}

fn buyer(name: &str) -> BuyerId {
    BuyerId::parse(name).expect("a buyer")
}

fn best(count: u32) -> Pick {
    Pick::Best(BestAvailable { count, section: None, tier: None, accessible: false })
}

fn hold(id: u128, name: &str, pick: Pick) -> Command {
    Command::Event(EventCommand::PlaceHold(PlaceHold {
        hold: HoldId(id),
        buyer: buyer(name),
        pick,
        areas: Vec::new(),
        hold_ms: None,
    }))
}

fn join(place: u128, name: &str, seat: u32) -> Command {
    Command::Event(EventCommand::JoinQueue(JoinQueue { place: HoldId(place), seat, buyer: buyer(name) }))
}

/// The key of a living hold.
fn key(picture: &Picture, hold: u128, name: &str) -> HoldKey {
    let found = picture.listing.ask(&Query::Event(EventQuery::Hold(HoldId(hold))), picture.listing.last_at);
    let Found::Event(EventFound::Hold(state)) = found else { panic!("hold {hold}: {found:?}") };
    HoldKey { hold: state.hold, fence: state.fence, buyer: buyer(name) }
}
