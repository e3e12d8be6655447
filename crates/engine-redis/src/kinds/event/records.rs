//! An event's records in the hash layout, as scripts write them.

use std::collections::BTreeMap;

use onsale_domain::seats::AreaState;
use onsale_domain::seats::image::{HoldImage, OrderImage, PlaceImage};
use onsale_domain::{HoldId, OrderId};

use crate::facts::{self, Fields, ID_CHARS, Malformed};
use crate::state::records::{Parts, id};

pub(super) fn hold(name: &str, record: &[u8]) -> Result<HoldImage, Malformed> {
    let mut parts = Parts::new("hold", record, 10)?;
    parts.text()?;
    let (fence, placed_at, until, length_ms) =
        (parts.number()?, parts.number()?, parts.number()?, parts.number()?);
    let (extensions, offered) = (parts.number()?, parts.text()? == "1");
    let (seats, areas) = (facts::read_seat_lines(parts.text()?)?, facts::read_area_lines(parts.text()?)?);
    let (id, buyer) = (HoldId(id(name)?), parts.buyer()?);
    Ok(HoldImage { id, buyer, fence, placed_at, until, length_ms, extensions, offered, seats, areas })
}

pub(super) fn order(name: &str, record: &[u8]) -> Result<OrderImage, Malformed> {
    let mut parts = Parts::new("order", record, 7)?;
    let (fence, at, total_minor) = (parts.number()?, parts.number()?, parts.number()?);
    let hold = HoldId(id(parts.text()?)?);
    let (seats, areas) = (facts::read_seat_lines(parts.text()?)?, facts::read_area_lines(parts.text()?)?);
    let (id, buyer) = (OrderId(id(name)?), parts.buyer()?);
    Ok(OrderImage { id, buyer, fence, seats, areas, hold, at, total_minor })
}

/// Every queue in its order, by seat.
pub(super) fn places(queue: &Fields) -> Result<Vec<PlaceImage>, Malformed> {
    let mut by_seat = BTreeMap::new();
    for (seat, lines) in queue.iter() {
        let seat: u32 = seat.parse().map_err(|_| Malformed::of("queue"))?;
        let lines = std::str::from_utf8(lines).map_err(|_| Malformed::of("queue"))?;
        let places = lines.split('\n').map(|line| place(seat, line)).collect::<Result<Vec<_>, _>>()?;
        by_seat.insert(seat, places);
    }
    Ok(by_seat.into_values().flatten().collect())
}

fn place(seat: u32, line: &str) -> Result<PlaceImage, Malformed> {
    let mut parts = Parts::new("queue", line.as_bytes(), 4)?;
    let id = HoldId(id(parts.text()?)?);
    let (fence, until) = (parts.number()?, parts.number()?);
    Ok(PlaceImage { id, seat, buyer: parts.buyer()?, fence, until })
}

pub(super) fn area(record: &[u8]) -> Result<AreaState, Malformed> {
    let mut parts = Parts::new("area", record, 6)?;
    let (capacity, held) = (parts.number()?, parts.number()?);
    let (sold, blocked) = (parts.number()?, parts.number()?);
    Ok(AreaState { capacity, held, sold, blocked })
}

/// The fields of the locks that are seats: beside them are ids, buyers and the head.
pub(super) fn locks(all: &Fields) -> impl Iterator<Item = (&str, &[u8])> {
    // An id has 13 characters, and there are fewer seats than numbers of so many digits.
    all.iter().filter(|(field, _)| field.len() < ID_CHARS && field.bytes().all(|byte| byte.is_ascii_digit()))
}

pub(super) fn is_blocked(lock: &[u8]) -> bool {
    String::from_utf8_lossy(lock).contains(r#""blocked":1,"#)
}
