//! The demo's theatre: 1,500 seats in stalls, circle and balcony, in rows that curve around the stage.

use onsale_domain::event::Tier;
use onsale_domain::layout::{Layout, Row, Section};

use super::plan::{letter, make_accessible, seat, spread};
use super::{House, numbered};

const PREMIUM: u16 = 0;
const STANDARD: u16 = 1;
const VALUE: u16 = 2;

/// Between neighbours and between rows, in the plan's units (centimetres).
const SEAT_PITCH: f64 = 55.0;
const ROW_PITCH: f64 = 95.0;
/// All rows bend around this point, far behind the stage's front edge at y = 0.
const CENTRE_Y: f64 = -1_400.0;

/// One floor: seats, rows, how the rows grow, where the first one stands, and from which row on which tier.
struct Floor {
    name: &'static str,
    seats: usize,
    rows: usize,
    growth: (usize, usize),
    front: f64,
    tiers: &'static [(usize, u16)],
}

const FLOORS: [Floor; 3] = [
    Floor {
        name: "Stalls",
        seats: 700,
        rows: 20,
        growth: (30, 40),
        front: 300.0,
        tiers: &[(0, PREMIUM), (10, STANDARD)],
    },
    Floor {
        name: "Circle",
        seats: 440,
        rows: 11,
        growth: (36, 44),
        front: 2_500.0,
        tiers: &[(0, PREMIUM), (2, STANDARD), (8, VALUE)],
    },
    Floor { name: "Balcony", seats: 360, rows: 9, growth: (38, 42), front: 3_850.0, tiers: &[(0, VALUE)] },
];

pub fn house() -> House {
    House {
        venue: numbered("theatre"),
        venue_name: "Marlow Theatre",
        place: "Quay Street 14, Bristol",
        event_name: "A Midsummer Night's Dream",
        description: "Shakespeare's comedy of four lovers, six mechanicals and one wood.",
        currency: "GBP",
        tiers: vec![
            Tier { name: "Premium".into(), price_minor: 8_500 },
            Tier { name: "Standard".into(), price_minor: 5_500 },
            Tier { name: "Value".into(), price_minor: 2_800 },
        ],
        layout: Layout { sections: FLOORS.iter().map(section).collect(), areas: Vec::new() }.into(),
    }
}

fn section(floor: &Floor) -> Section {
    let counts = spread(floor.seats, floor.rows, floor.growth.0, floor.growth.1);
    let mut rows: Vec<Row> = counts.iter().enumerate().map(|(r, count)| row(floor, r, *count)).collect();
    // The last row of the stalls is level with the foyer, the first of the circle with the lift.
    let level = match floor.name {
        "Stalls" => rows.last_mut().map(|row| (row, 3)),
        "Circle" => rows.first_mut().map(|row| (row, 2)),
        _ => None,
    };
    if let Some((row, pairs)) = level {
        make_accessible(row, pairs);
    }
    Section { name: floor.name.to_owned(), rows }
}

fn row(floor: &Floor, index: usize, count: usize) -> Row {
    let label = letter(index);
    let radius = floor.front - CENTRE_Y + index as f64 * ROW_PITCH;
    let tier = floor.tiers.iter().rev().find(|(from, _)| *from <= index).map_or(VALUE, |(_, tier)| *tier);
    let seats = (0..count).map(|place| {
        let angle = (place as f64 - (count - 1) as f64 / 2.0) * SEAT_PITCH / radius;
        let at = (radius * angle.sin(), radius * angle.cos() + CENTRE_Y);
        seat(format!("{}-{label}{}", floor.name, place + 1), place + 1, tier, at)
    });
    let seats = seats.collect();
    Row { label, seats }
}
