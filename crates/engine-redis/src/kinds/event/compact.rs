//! The packed tables of the compact layout, as `lua/event/lib/*_compact.lua` write them. Numbers are big-endian.

use std::collections::BTreeMap;

use onsale_domain::seats::fact::{AreaLine, SeatLine};
use onsale_domain::seats::image::HoldImage;
use onsale_domain::{BuyerId, HoldId};

use crate::facts::{self, Fields, Malformed};
use crate::state::State;

/// Seats in one field of the locks.
const LOCKS: u32 = 32;

/// Takes a record apart from the front.
struct Reader<'a> {
    name: &'static str,
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn new(name: &'static str, rest: &'a [u8]) -> Reader<'a> {
        Reader { name, rest }
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or_else(|| Malformed::of(self.name))?;
        self.rest = rest;
        Ok(taken)
    }

    fn number(&mut self, count: usize) -> Result<u64, Malformed> {
        Ok(self.take(count)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn id(&mut self) -> Result<u64, Malformed> {
        self.number(8)
    }

    /// A length of two bytes and so many bytes.
    fn counted(&mut self) -> Result<&'a [u8], Malformed> {
        let count = self.number(2)?;
        self.take(count as usize)
    }
}

fn text(name: &str, bytes: &[u8]) -> Result<String, Malformed> {
    String::from_utf8(bytes.to_vec()).map_err(|_| Malformed::of(name))
}

/// A record's key and the record.
type Record<'a> = (&'a [u8], &'a [u8]);

/// Keys and records of every bucket whose field is, or is not, one of buyers.
fn records(state: &State, of_buyers: bool) -> Result<Vec<Record<'_>>, Malformed> {
    let mut all = Vec::new();
    for (_, bucket) in state.holds.iter().filter(|(field, _)| field.starts_with('@') == of_buyers) {
        let mut reader = Reader::new("bucket", bucket);
        while !reader.rest.is_empty() {
            all.push((reader.counted()?, reader.counted()?));
        }
    }
    Ok(all)
}

pub(super) fn holds(state: &State) -> Result<Vec<HoldImage>, Malformed> {
    let all = records(state, false)?.into_iter();
    all.filter(|(_, record)| record.starts_with(b"h")).map(|(id, record)| hold(id, record)).collect()
}

fn hold(id: &[u8], record: &[u8]) -> Result<HoldImage, Malformed> {
    let id = HoldId(Reader::new("hold", id).id()?);
    let mut reader = Reader::new("hold", &record[1..]);
    let (fence, placed_at) = (reader.number(7)?, reader.number(6)? as i64);
    let (span, length_ms) = (reader.number(3)? as i64, reader.number(3)? as u32);
    let flags = reader.number(1)?;
    let (mut seats, mut areas) = (Vec::new(), Vec::new());
    for _ in 0..reader.number(1)? {
        seats.push(SeatLine { seat: reader.number(3)? as u32, price_minor: reader.number(6)? as i64 });
    }
    for _ in 0..reader.number(1)? {
        areas.push(AreaLine {
            area: reader.number(2)? as u16,
            count: reader.number(1)? as u32,
            price_minor: reader.number(6)? as i64,
        });
    }
    let buyer = BuyerId::parse(&text("buyer", reader.rest)?).ok_or_else(|| Malformed::of("buyer"))?;
    let (extensions, offered, until) = ((flags / 2) as u8, flags % 2 == 1, placed_at + span);
    Ok(HoldImage { id, buyer, fence, placed_at, until, length_ms, extensions, offered, seats, areas })
}

/// Buyers as the hash layout writes them.
pub(super) fn buyers(state: &State) -> Result<Fields, Malformed> {
    let mut all = Fields::default();
    for (name, record) in records(state, true)? {
        let mut reader = Reader::new("buyer", record);
        let (held, sold, ordered) = (reader.number(3)?, reader.number(3)?, reader.number(1)?);
        let mut holds = Vec::new();
        for _ in 0..reader.number(2)? {
            holds.push(facts::id(reader.id()?));
        }
        let mut places = Vec::new();
        while !reader.rest.is_empty() {
            places.push(reader.number(3)?.to_string());
        }
        let record = format!("{held}|{sold}|{ordered}|0|{}|{}", holds.join(","), places.join(","));
        all.push(&format!("@{}", text("buyer", name)?), record);
    }
    Ok(all)
}

/// Deadlines as the hash layout writes them.
pub(super) fn due(state: &State) -> Result<Fields, Malformed> {
    let indexed: BTreeMap<&str, &[u8]> = state.due.iter().collect();
    if indexed.len() != state.due_chunks.len() {
        return Err(Malformed::of("due: index and chunks differ"));
    }
    let mut all = Fields::default();
    for (name, chunk) in state.due_chunks.iter() {
        let malformed = || Malformed::of("due");
        let second: i64 = name.split(':').next().and_then(|text| text.parse().ok()).ok_or_else(malformed)?;
        if indexed.get(name) != Some(&(second * 1_000).to_string().as_bytes()) {
            return Err(malformed());
        }
        let mut reader = Reader::new("due", chunk);
        while !reader.rest.is_empty() {
            let (ms, fence) = (reader.number(2)? as i64, reader.number(7)?);
            let kind = text("due", reader.take(1)?)?;
            let member = format!("{fence:016}{kind}{}", facts::id(reader.id()?));
            all.push(&member, (second * 1_000 + ms).to_string());
        }
    }
    Ok(all)
}

#[derive(Clone, Copy, Debug)]
pub(super) struct PackedSeat {
    pub index: u32,
    /// 0 free, 1 held, 2 sold.
    pub grip: u8,
    pub blocked: bool,
    pub by: Option<HoldId>,
}

pub(super) fn seats(state: &State) -> Result<Vec<PackedSeat>, Malformed> {
    let count: usize = state.head(super::HEAD)?.number("seats_len")?;
    let fours = count.div_ceil(4);
    if state.chart.len() != count + fours + count.div_ceil(8) {
        return Err(Malformed::of("chart"));
    }
    let (grips, blocks) = state.chart[count..].split_at(fours);
    let mut locks = BTreeMap::new();
    for (field, bucket) in super::records::locks(&state.locks) {
        let number: u32 = field.parse().map_err(|_| Malformed::of("locks"))?;
        let mut reader = Reader::new("locks", bucket);
        while !reader.rest.is_empty() {
            let offset = reader.number(1)? as u32;
            locks.insert(LOCKS * number + offset, HoldId(reader.id()?));
        }
    }
    let seat = |index: usize| PackedSeat {
        index: index as u32,
        grip: grips[index / 4] >> (6 - 2 * (index % 4)) & 3,
        blocked: blocks[index / 8] >> (7 - index % 8) & 1 == 1,
        by: locks.get(&(index as u32)).copied(),
    };
    Ok((0..count).map(seat).collect())
}
