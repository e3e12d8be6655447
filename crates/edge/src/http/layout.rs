//! A layout on the wire: sections > rows > seats, and general-admission areas.

use onsale_domain::layout::{Area, Layout, Row, Seat, Section};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Rows come best first, seats from left to right as seen from the stage.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Layout, min_properties = 1)]
pub struct LayoutBody {
    #[serde(default)]
    pub sections: Vec<SectionBody>,
    #[serde(default)]
    pub areas: Vec<AreaBody>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = LayoutSection)]
pub struct SectionBody {
    #[schema(example = "A")]
    pub name: String,
    #[serde(default)]
    pub rows: Vec<RowBody>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = LayoutRow)]
pub struct RowBody {
    #[schema(example = "1")]
    pub label: String,
    #[serde(default)]
    pub seats: Vec<SeatBody>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = LayoutSeat)]
pub struct SeatBody {
    /// Unique in the layout, 1–64 characters; what everybody calls the seat.
    #[schema(example = "A-1-1")]
    pub id: String,
    #[serde(default)]
    #[schema(example = "1")]
    pub label: String,
    /// The tier's number in the event's list of tiers, from 0.
    #[serde(default)]
    pub tier: u16,
    #[serde(default)]
    pub x: i32,
    #[serde(default)]
    pub y: i32,
    #[serde(default, skip_serializing_if = "is_false")]
    pub accessible: bool,
    /// Beside an accessible seat, for the person who comes along.
    #[serde(default, skip_serializing_if = "is_false")]
    pub companion: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = LayoutArea)]
pub struct AreaBody {
    #[schema(example = "floor")]
    pub id: String,
    #[serde(default)]
    #[schema(example = "Standing")]
    pub label: String,
    #[serde(default)]
    pub section: String,
    #[serde(default)]
    pub tier: u16,
    #[schema(example = 500)]
    pub capacity: u32,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

impl LayoutBody {
    pub fn into_domain(self) -> Layout {
        let seat = |seat: SeatBody| Seat {
            id: seat.id,
            label: seat.label,
            tier: seat.tier,
            x: seat.x,
            y: seat.y,
            accessible: seat.accessible,
            companion: seat.companion,
        };
        let row = |row: RowBody| Row { label: row.label, seats: row.seats.into_iter().map(seat).collect() };
        let section = |section: SectionBody| Section {
            name: section.name,
            rows: section.rows.into_iter().map(row).collect(),
        };
        let area = |area: AreaBody| Area {
            id: area.id,
            label: area.label,
            section: area.section,
            tier: area.tier,
            capacity: area.capacity,
        };
        Layout {
            sections: self.sections.into_iter().map(section).collect(),
            areas: self.areas.into_iter().map(area).collect(),
        }
    }

    pub fn from_domain(layout: &Layout) -> LayoutBody {
        let seat = |seat: &Seat| SeatBody {
            id: seat.id.clone(),
            label: seat.label.clone(),
            tier: seat.tier,
            x: seat.x,
            y: seat.y,
            accessible: seat.accessible,
            companion: seat.companion,
        };
        let row =
            |row: &Row| RowBody { label: row.label.clone(), seats: row.seats.iter().map(seat).collect() };
        let section = |section: &Section| SectionBody {
            name: section.name.clone(),
            rows: section.rows.iter().map(row).collect(),
        };
        let area = |area: &Area| AreaBody {
            id: area.id.clone(),
            label: area.label.clone(),
            section: area.section.clone(),
            tier: area.tier,
            capacity: area.capacity,
        };
        LayoutBody {
            sections: layout.sections.iter().map(section).collect(),
            areas: layout.areas.iter().map(area).collect(),
        }
    }
}
