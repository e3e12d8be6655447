//! A venue's layout as people draw it: sections > rows > seats, and general-admission areas.
//! Order is meaning: rows come best first, seats from left to right as seen from the stage.

use std::collections::BTreeSet;

use minicbor::{Decode, Encode};

use crate::field::{Field, FieldPath};
use crate::limits::{
    AREA_CAPACITY_MAX, AREAS_MAX, NAME_CHARS_MAX, ROW_SEATS_MAX, ROWS_MAX, SEAT_ID_CHARS_MAX, SEATS_MAX,
    SECTIONS_MAX, TIERS_MAX,
};
use crate::refusal::Refusal;

#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub struct Layout {
    #[n(0)]
    pub sections: Vec<Section>,
    #[n(1)]
    pub areas: Vec<Area>,
}

#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub struct Section {
    #[n(0)]
    pub name: String,
    #[n(1)]
    pub rows: Vec<Row>,
}

#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub struct Row {
    #[n(0)]
    pub label: String,
    #[n(1)]
    pub seats: Vec<Seat>,
}

#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub struct Seat {
    /// Unique in the layout, 1–64 characters, chosen by the house; what everybody calls the seat.
    #[n(0)]
    pub id: String,
    #[n(1)]
    pub label: String,
    /// The tier's number in the event's list of tiers.
    #[n(2)]
    pub tier: u16,
    #[n(3)]
    pub x: i32,
    #[n(4)]
    pub y: i32,
    #[n(5)]
    pub accessible: bool,
    /// Beside an accessible seat, for the person who comes along.
    #[n(6)]
    pub companion: bool,
}

/// A general-admission area: places without names.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub struct Area {
    #[n(0)]
    pub id: String,
    #[n(1)]
    pub label: String,
    #[n(2)]
    pub section: String,
    #[n(3)]
    pub tier: u16,
    #[n(4)]
    pub capacity: u32,
}

impl Layout {
    pub fn seats(&self) -> impl Iterator<Item = &Seat> {
        self.sections.iter().flat_map(|section| &section.rows).flat_map(|row| &row.seats)
    }

    /// How many tiers a price list must have for this layout.
    pub fn tiers_needed(&self) -> usize {
        let seats = self.seats().map(|seat| seat.tier);
        seats.chain(self.areas.iter().map(|area| area.tier)).max().map_or(0, |tier| usize::from(tier) + 1)
    }

    /// Refuses a layout that breaks a bound, naming the field.
    pub fn check(&self) -> Result<(), Refusal> {
        if self.sections.len() > SECTIONS_MAX {
            return invalid(Field::Sections, "at most 1,000 sections");
        }
        if self.areas.len() > AREAS_MAX {
            return invalid(Field::LayoutAreas, "at most 200 general-admission areas");
        }
        if self.seats().count() > SEATS_MAX {
            return invalid(Field::Sections, "at most 100,000 seats");
        }
        if self.sections.iter().map(|section| section.rows.len()).sum::<usize>() > ROWS_MAX {
            return invalid(Field::Sections, "at most 100,000 rows");
        }
        let mut known = BTreeSet::new();
        for (s, section) in self.sections.iter().enumerate() {
            if !is_name(&section.name) {
                return invalid(Field::SectionName.at(&[s]), "1–200 characters without control characters");
            }
            for (r, row) in section.rows.iter().enumerate() {
                if !is_label(&row.label) {
                    return invalid(Field::RowLabel.at(&[s, r]), LABEL);
                }
                if row.seats.len() > ROW_SEATS_MAX {
                    return invalid(Field::RowSeats.at(&[s, r]), "at most 65,535 seats");
                }
                for (n, seat) in row.seats.iter().enumerate() {
                    let at = |field: Field| field.at(&[s, r, n]);
                    if !is_seat_id(&seat.id) {
                        return invalid(at(Field::SeatId), "1–64 characters without control characters");
                    }
                    if !known.insert(seat.id.as_str()) {
                        return invalid(at(Field::SeatId), "this id is taken by another seat or area");
                    }
                    if !is_label(&seat.label) {
                        return invalid(at(Field::SeatLabel), LABEL);
                    }
                    if usize::from(seat.tier) >= TIERS_MAX {
                        return invalid(at(Field::SeatTier), "a tier's number is below 64");
                    }
                }
            }
        }
        for (n, area) in self.areas.iter().enumerate() {
            let at = |field: Field| field.at(&[n]);
            if !is_seat_id(&area.id) {
                return invalid(at(Field::AreaId), "1–64 characters without control characters");
            }
            if !known.insert(area.id.as_str()) {
                return invalid(at(Field::AreaId), "this id is taken by another seat or area");
            }
            if !is_label(&area.label) {
                return invalid(at(Field::AreaLabel), LABEL);
            }
            if !is_label(&area.section) {
                return invalid(at(Field::AreaSection), LABEL);
            }
            if !(1..=AREA_CAPACITY_MAX).contains(&area.capacity) {
                return invalid(at(Field::AreaCapacity), "1 to 100,000 places");
            }
            if usize::from(area.tier) >= TIERS_MAX {
                return invalid(at(Field::AreaTier), "a tier's number is below 64");
            }
        }
        if known.is_empty() {
            return invalid(Field::Layout, "a layout has at least one seat or area");
        }
        Ok(())
    }
}

const LABEL: &str = "at most 200 characters without control characters";

/// What is shown to people may be empty, never long or unprintable.
fn is_label(text: &str) -> bool {
    text.is_empty() || is_name(text)
}

pub fn is_name(text: &str) -> bool {
    (1..=NAME_CHARS_MAX).contains(&text.chars().count()) && !text.chars().any(char::is_control)
}

pub fn is_seat_id(text: &str) -> bool {
    (1..=SEAT_ID_CHARS_MAX).contains(&text.chars().count()) && !text.chars().any(char::is_control)
}

/// A layout behind an `Arc` is written like the layout itself.
pub mod shared {
    use std::sync::Arc;

    use super::Layout;
    use minicbor::{Decoder, Encoder};

    pub fn encode<C, W: minicbor::encode::Write>(
        layout: &Arc<Layout>,
        e: &mut Encoder<W>,
        c: &mut C,
    ) -> Result<(), minicbor::encode::Error<W::Error>> {
        e.encode_with(&**layout, c)?.ok()
    }

    pub fn decode<'b, C>(d: &mut Decoder<'b>, c: &mut C) -> Result<Arc<Layout>, minicbor::decode::Error> {
        Ok(Arc::new(d.decode_with(c)?))
    }
}
fn invalid(field: impl Into<FieldPath>, why: &str) -> Result<(), Refusal> {
    Err(Refusal::invalid(field, why))
}
