//! The demo's arena: 50,000 places, two bowls of sections around a floor to stand on.

use std::f64::consts::PI;

use onsale_domain::event::Tier;
use onsale_domain::layout::{Area, Layout, Row, Section};

use super::plan::{make_accessible, seat, spread};
use super::{House, numbered};

const GOLDEN: u16 = 0;
const LOWER: u16 = 1;
const FLOOR: u16 = 2;
const UPPER: u16 = 3;

const SECTION_SEATS: usize = 750;
const SECTION_ROWS: usize = 25;
/// Rows of a section fan out a little.
const GROWTH: (usize, usize) = (26, 34);
/// Half the floor's width and length, in centimetres; the stage closes its far end.
const FLOOR_HALF: (f64, f64) = (2_600.0, 3_800.0);
const ROW_PITCH: f64 = 85.0;
/// The bowls are open towards the stage: sections stand within this angle either side of the middle.
const HALF_ANGLE: f64 = PI * 0.84;
/// What a section's stairs take of its angle.
const STAIRS: f64 = 0.12;

struct Bowl {
    first: usize,
    sections: usize,
    /// How far behind the floor's edge its first row is.
    behind: f64,
    tier: u16,
}

const BOWLS: [Bowl; 2] = [
    Bowl { first: 101, sections: 24, behind: 500.0, tier: LOWER },
    Bowl { first: 201, sections: 36, behind: 3_000.0, tier: UPPER },
];

pub fn house() -> House {
    House {
        venue: numbered("arena"),
        venue_name: "Northgate Arena",
        place: "Harbour Road 1, Rotterdam",
        event_name: "Aurora: The Homecoming Show",
        description: "One night, the whole band, every song you know.",
        currency: "EUR",
        tiers: vec![
            Tier { name: "Golden circle".into(), price_minor: 18_000 },
            Tier { name: "Lower bowl".into(), price_minor: 12_500 },
            Tier { name: "Floor".into(), price_minor: 9_500 },
            Tier { name: "Upper bowl".into(), price_minor: 6_500 },
        ],
        layout: Layout { sections: BOWLS.iter().flat_map(sections).collect(), areas: areas() }.into(),
    }
}

fn areas() -> Vec<Area> {
    let area = |id: &str, label: &str, tier, capacity| Area {
        id: id.into(),
        label: label.into(),
        section: "Floor".into(),
        tier,
        capacity,
    };
    vec![area("golden", "Golden circle", GOLDEN, 1_000), area("floor", "Floor, standing", FLOOR, 4_000)]
}

/// A bowl's sections, those that face the stage first: rows come best first.
fn sections(bowl: &Bowl) -> Vec<Section> {
    let width = 2.0 * HALF_ANGLE / bowl.sections as f64;
    let middle = |number: usize| (number as f64 + 0.5) * width - HALF_ANGLE;
    let mut order: Vec<usize> = (0..bowl.sections).collect();
    order.sort_by(|one, other| middle(*one).abs().total_cmp(&middle(*other).abs()));
    order.into_iter().map(|number| section(bowl, number, middle(number), width * (1.0 - STAIRS))).collect()
}

fn section(bowl: &Bowl, number: usize, middle: f64, width: f64) -> Section {
    let name = (bowl.first + number).to_string();
    let counts = spread(SECTION_SEATS, SECTION_ROWS, GROWTH.0, GROWTH.1);
    let mut rows: Vec<Row> = counts
        .iter()
        .enumerate()
        .map(|(index, count)| {
            let behind = bowl.behind + index as f64 * ROW_PITCH;
            row(&name, index + 1, *count, bowl.tier, behind, (middle, width))
        })
        .collect();
    // Wheelchair places at the gangway, which runs behind the lower bowl and in front of the upper one.
    let gangway = if bowl.tier == LOWER { rows.last_mut() } else { rows.first_mut() };
    if let Some(row) = gangway {
        make_accessible(row, 1);
    }
    Section { name, rows }
}

fn row(
    section: &str,
    number: usize,
    count: usize,
    tier: u16,
    behind: f64,
    (middle, width): (f64, f64),
) -> Row {
    let seats = (0..count).map(|place| {
        let angle = middle + width * ((place as f64 + 0.5) / count as f64 - 0.5);
        let at = ((FLOOR_HALF.0 + behind) * angle.sin(), (FLOOR_HALF.1 + behind) * angle.cos());
        seat(format!("{section}-{number}-{}", place + 1), place + 1, tier, at)
    });
    Row { label: number.to_string(), seats: seats.collect() }
}
