//! An event's chart: the layout made dense, so that a seat is a small integer. Built from facts, shared by views.
//! An index, once given to a seat, is never given to another; removed seats stay behind as `retired`.

use std::hash::BuildHasher;

use minicbor::{Decode, Encode};
use onsale_compact::map::{Hasher, Table};

use crate::id::{AreaIndex, SeatIndex};
use crate::layout::Layout;

#[derive(Clone, Debug, Default)]
pub struct Chart {
    pub sections: Vec<String>,
    pub rows: Vec<Row>,
    pub areas: Vec<Area>,
    seats: Vec<Seat>,
    /// Ids and labels of all seats in one string each: a `String` per seat would cost more than its state.
    ids: Text,
    labels: Text,
    by_id: Table<u32>,
    hasher: Hasher,
    /// Tiers that appear, so that a cell is `section × tiers + tier`.
    pub tiers: u16,
}

#[derive(Clone, Debug, Encode, Decode)]
pub struct Row {
    #[n(0)]
    pub section: u16,
    #[n(1)]
    pub label: String,
    #[n(2)]
    pub seats: Vec<SeatIndex>,
}

#[derive(Clone, Debug, Encode, Decode)]
pub struct Area {
    #[n(0)]
    pub id: String,
    #[n(1)]
    pub label: String,
    #[n(2)]
    pub section: u16,
    #[n(3)]
    pub tier: u16,
    #[n(4)]
    pub capacity: u32,
    #[n(5)]
    pub retired: bool,
}

#[derive(Clone, Copy, Debug, Encode, Decode)]
pub struct Seat {
    #[n(0)]
    pub row: u32,
    /// Where in its row, from the left.
    #[n(1)]
    pub place: u16,
    #[n(2)]
    pub section: u16,
    #[n(3)]
    /// Below 64, as the layout was checked; with it a seat takes 20 bytes.
    pub tier: u8,
    #[n(4)]
    pub accessible: bool,
    #[n(5)]
    pub companion: bool,
    #[n(6)]
    pub retired: bool,
    #[n(7)]
    pub x: i32,
    #[n(8)]
    pub y: i32,
}

/// A chart as bytes, for snapshots.
#[derive(Clone, Debug, Encode, Decode)]
pub struct ChartImage {
    #[n(0)]
    sections: Vec<String>,
    #[n(1)]
    rows: Vec<Row>,
    #[n(2)]
    areas: Vec<Area>,
    #[n(3)]
    seats: Vec<(String, String, Seat)>,
    #[n(4)]
    tiers: u16,
}

#[derive(Clone, Debug, Default)]
struct Text {
    all: String,
    ends: Vec<u32>,
}

impl Text {
    fn push(&mut self, text: &str) {
        self.all.push_str(text);
        self.ends.push(self.all.len() as u32);
    }

    fn shrink(&mut self) {
        self.all.shrink_to_fit();
        self.ends.shrink_to_fit();
    }

    fn get(&self, index: u32) -> &str {
        let index = index as usize;
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        &self.all[start..self.ends[index] as usize]
    }
}

impl Chart {
    /// The chart after adopting `layout`: seats known by id keep their index, new ones get fresh ones,
    /// missing ones retire.
    pub fn adopt(&self, layout: &Layout) -> Chart {
        let mut labels: Vec<Option<&str>> = vec![None; self.seats.len()];
        let mut next = Chart { tiers: layout.tiers_needed() as u16, ..Chart::default() };
        for index in 0..self.seats.len() as u32 {
            next.push(
                self.seat_id(index),
                self.label(index),
                Seat { retired: true, ..self.seats[index as usize] },
            );
        }
        for section in &layout.sections {
            let section_index = next.section(&section.name);
            for row in &section.rows {
                let row_index = next.rows.len() as u32;
                let mut members = Vec::with_capacity(row.seats.len());
                for (place, seat) in row.seats.iter().enumerate() {
                    let dense = Seat {
                        row: row_index,
                        place: place as u16,
                        section: section_index,
                        tier: seat.tier as u8,
                        accessible: seat.accessible,
                        companion: seat.companion,
                        retired: false,
                        x: seat.x,
                        y: seat.y,
                    };
                    let index = match next.find(&seat.id) {
                        Some(index) => {
                            next.seats[index as usize] = dense;
                            labels[index as usize] = Some(&seat.label);
                            index
                        }
                        None => next.push(&seat.id, &seat.label, dense),
                    };
                    members.push(index);
                }
                next.rows.push(Row { section: section_index, label: row.label.clone(), seats: members });
            }
        }
        next.areas = self.areas.iter().map(|area| Area { retired: true, ..area.clone() }).collect();
        for area in &layout.areas {
            let dense = Area {
                id: area.id.clone(),
                label: area.label.clone(),
                section: next.section(&area.section),
                tier: area.tier,
                capacity: area.capacity,
                retired: false,
            };
            match next.areas.iter().position(|known| known.id == area.id) {
                Some(index) => next.areas[index] = dense,
                None => next.areas.push(dense),
            }
        }
        next.relabel(&labels);
        // A retired seat must still have a section that exists.
        let sections = next.sections.len().max(1) as u16;
        for seat in &mut next.seats {
            seat.section = seat.section.min(sections - 1);
            seat.tier = seat.tier.min((next.tiers.max(1) - 1) as u8);
        }
        for area in &mut next.areas {
            area.section = area.section.min(sections - 1);
        }
        next.seats.shrink_to_fit();
        next.ids.shrink();
        next.labels.shrink();
        next
    }

    /// Seats that were known before get the labels of the new layout.
    fn relabel(&mut self, labels: &[Option<&str>]) {
        let mut text = Text::default();
        for index in 0..self.seats.len() as u32 {
            let label = labels.get(index as usize).copied().flatten();
            text.push(label.unwrap_or_else(|| self.labels.get(index)));
        }
        self.labels = text;
    }

    /// The chart as bytes tell it, for snapshots and for stores that keep it beside the seats.
    pub fn image(&self) -> ChartImage {
        let seat = |(index, seat): (SeatIndex, &Seat)| {
            (self.seat_id(index).to_owned(), self.label(index).to_owned(), *seat)
        };
        ChartImage {
            sections: self.sections.clone(),
            rows: self.rows.clone(),
            areas: self.areas.clone(),
            seats: self.all_seats().map(seat).collect(),
            tiers: self.tiers,
        }
    }

    pub(crate) fn from_image(image: ChartImage) -> Chart {
        let (sections, rows, areas, tiers) = (image.sections, image.rows, image.areas, image.tiers);
        let mut chart = Chart { sections, rows, areas, tiers, ..Chart::default() };
        for (id, label, seat) in image.seats {
            chart.push(&id, &label, seat);
        }
        chart
    }

    fn section(&mut self, name: &str) -> u16 {
        if let Some(index) = self.sections.iter().position(|known| known == name) {
            return index as u16;
        }
        self.sections.push(name.to_owned());
        (self.sections.len() - 1) as u16
    }

    fn push(&mut self, id: &str, label: &str, seat: Seat) -> SeatIndex {
        let index = self.seats.len() as u32;
        self.seats.push(seat);
        self.ids.push(id);
        self.labels.push(label);
        let (hasher, ids) = (&self.hasher, &self.ids);
        self.by_id.insert_unique(hasher.hash_one(id), index, |known| hasher.hash_one(ids.get(*known)));
        index
    }

    /// The seat with this id, retired or not.
    fn find(&self, id: &str) -> Option<SeatIndex> {
        self.by_id.find(self.hasher.hash_one(id), |known| self.ids.get(*known) == id).copied()
    }

    /// The seat with this id, if it is on sale at all.
    pub fn seat_named(&self, id: &str) -> Option<SeatIndex> {
        self.find(id).filter(|index| !self.seats[*index as usize].retired)
    }

    pub fn area_named(&self, id: &str) -> Option<AreaIndex> {
        self.areas.iter().position(|area| area.id == id && !area.retired).map(|index| index as u16)
    }

    /// The living seat with this index.
    pub fn seat(&self, index: SeatIndex) -> Option<&Seat> {
        self.seats.get(index as usize).filter(|seat| !seat.retired)
    }

    pub fn area(&self, index: AreaIndex) -> Option<&Area> {
        self.areas.get(usize::from(index)).filter(|area| !area.retired)
    }

    pub fn seat_id(&self, index: SeatIndex) -> &str {
        self.ids.get(index)
    }

    pub fn label(&self, index: SeatIndex) -> &str {
        self.labels.get(index)
    }

    /// Every index ever given, retired ones included.
    pub fn seats_len(&self) -> usize {
        self.seats.len()
    }

    pub fn all_seats(&self) -> impl Iterator<Item = (SeatIndex, &Seat)> {
        self.seats.iter().enumerate().map(|(index, seat)| (index as u32, seat))
    }

    /// The counter cell of a section and a tier.
    pub fn cell(&self, section: u16, tier: u16) -> usize {
        usize::from(section) * usize::from(self.tiers.max(1)) + usize::from(tier)
    }

    pub fn cells_len(&self) -> usize {
        self.sections.len().max(1) * usize::from(self.tiers.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::{Row, Seat, Section};

    fn layout(seats: &[(&str, &str)]) -> Layout {
        let seat =
            |(id, label): &(&str, &str)| Seat { id: (*id).into(), label: (*label).into(), ..Seat::default() };
        let row = Row { label: "A".into(), seats: seats.iter().map(seat).collect() };
        let sections = vec![Section { name: "s".into(), rows: vec![row] }];
        Layout { sections, areas: Vec::new() }
    }

    #[test]
    fn a_seat_keeps_its_index_and_takes_its_new_label() {
        let first = Chart::default().adopt(&layout(&[("a", "1"), ("b", "2"), ("c", "3")]));
        let second = first.adopt(&layout(&[("d", "4"), ("c", "30"), ("a", "10")]));
        let seen = |chart: &Chart, id: &str| {
            chart.seat_named(id).map(|index| (index, chart.label(index).to_owned()))
        };
        assert_eq!(seen(&second, "a"), Some((0, "10".into())));
        assert_eq!(seen(&second, "b"), None);
        assert_eq!(seen(&second, "c"), Some((2, "30".into())));
        assert_eq!(seen(&second, "d"), Some((3, "4".into())));
        assert_eq!(second.label(1), "2");
        let third = second.adopt(&layout(&[("b", "20")]));
        assert_eq!(seen(&third, "b"), Some((1, "20".into())));
        assert_eq!(third.seats_len(), 4);
    }
}
