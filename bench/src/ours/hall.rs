//! Events to measure with: plain halls of any size, and the commands that hold and release their seats.

use onsale_domain::event::{EventDetails, EventStatus, SaleRules, Tier};
use onsale_domain::layout::{Layout, Row, Seat, Section};
use onsale_domain::listing::{Key, fence};
use onsale_domain::money::Currency;
use onsale_domain::seats::EventCommand;
use onsale_domain::seats::command::{AdoptChart, CreateEvent, HoldKey, Pick, PlaceHold};
use onsale_domain::{BuyerId, Command, HoldId, ListingId, ListingKind, Tenant};
use onsale_engine::Request;

const ROW_SEATS: usize = 50;
const SECTION_ROWS: usize = 25;
/// The year 2100: no schedule of the event may fall into a measurement.
const FAR: i64 = 4_102_444_800_000;

pub(crate) fn event(number: u64) -> ListingId {
    ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Event, number }
}

/// Creates an event that is on sale, with rows of 50 and sections of 25 rows.
pub(crate) fn create(listing: ListingId, seats: usize) -> Request {
    let mut sections: Vec<Section> = Vec::new();
    for first in (0..seats).step_by(ROW_SEATS) {
        let row = first / ROW_SEATS;
        let section = row / SECTION_ROWS;
        if sections.len() == section {
            sections.push(Section { name: format!("S{section}"), rows: Vec::new() });
        }
        let seat = |n: usize| Seat {
            id: format!("{section}-{row}-{n}"),
            label: n.to_string(),
            tier: (section % 4) as u16,
            x: n as i32,
            y: row as i32,
            accessible: false,
            companion: false,
        };
        let count = ROW_SEATS.min(seats - first);
        sections[section].rows.push(Row { label: row.to_string(), seats: (0..count).map(seat).collect() });
    }
    let tier = |name: &str, price_minor| Tier { name: name.into(), price_minor };
    let details = EventDetails {
        name: "Measured".into(),
        description: String::new(),
        venue: None,
        starts_at: FAR,
        ends_at: FAR + 1,
        sale_opens_at: None,
        sale_closes_at: None,
        time_zone: "UTC".into(),
        currency: Currency::parse("EUR").expect("three capital letters"),
        tiers: vec![tier("A", 9_900), tier("B", 7_900), tier("C", 4_900), tier("D", 2_900)],
        rules: SaleRules { hold_ms: 900_000, ..SaleRules::default() },
    };
    let chart = AdoptChart { venue: None, version: 1, layout: Layout { sections, areas: Vec::new() }.into() };
    let create = CreateEvent { details, status: EventStatus::OnSale, chart };
    Request {
        listing,
        command: Command::Event(EventCommand::CreateEvent(Box::new(create))),
        key: None,
        by: None,
    }
}

/// A fresh idempotency key, spread as a hash would be.
pub(crate) fn key(number: u64) -> Option<Key> {
    let scope = u128::from(number.wrapping_mul(0x9e37_79b9_7f4a_7c15)) << 64 | u128::from(number);
    Some(Key { scope, fingerprint: scope.rotate_left(40) })
}

pub(crate) fn hold(listing: ListingId, number: u64, seat: u32, buyer: &BuyerId) -> Request {
    let command = Command::Event(EventCommand::PlaceHold(PlaceHold {
        hold: HoldId(number | 1 << 50),
        buyer: buyer.clone(),
        pick: Pick::Seats(vec![seat]),
        areas: Vec::new(),
        hold_ms: None,
    }));
    Request { listing, command, key: key(2 * number), by: None }
}

/// The release of the hold that was granted at `offset`.
pub(crate) fn release(listing: ListingId, number: u64, offset: u64, buyer: &BuyerId) -> Request {
    let hold = HoldId(number | 1 << 50);
    let command = Command::Event(EventCommand::ReleaseHold(HoldKey {
        hold,
        fence: fence(1, offset),
        buyer: buyer.clone(),
    }));
    Request { listing, command, key: key(2 * number + 1), by: None }
}
