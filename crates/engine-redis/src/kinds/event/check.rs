//! Whether what Redis keeps twice agrees with itself: locks with holds and orders, buyers, deadlines, queues.

use std::collections::{BTreeMap, BTreeSet};

use onsale_domain::seats::image::{HoldImage, OrderImage, PlaceImage};

use super::state::{image_of, layout};
use crate::facts::{self, Fields, Malformed};
use crate::layout::Layout;
use crate::state::records::same;
use crate::state::{State, orders};

/// Counts everything again; the error says what does not add up.
pub(super) fn check(state: &State) -> Result<(), String> {
    let malformed = |error: Malformed| error.to_string();
    let layout = layout(state).map_err(malformed)?;
    let image = image_of(state, layout).map_err(malformed)?;
    let kept_due = match layout {
        Layout::Hash => state.due.clone(),
        Layout::Compact => super::compact::due(state).map_err(malformed)?,
    };
    due(&kept_due, &image.holds, &image.places)?;
    open(state, &image.orders)?;
    queued(state)?;
    areas(state, &image.holds, &image.orders)?;
    match layout {
        Layout::Hash => locks(state, &image.holds, &image.orders)?,
        Layout::Compact => bits(state, &image.holds, &image.orders)?,
    }
    let kept = match layout {
        Layout::Hash => state.locks.clone(),
        Layout::Compact => super::compact::buyers(state).map_err(malformed)?,
    };
    buyers(&kept, &image.holds, &image.orders, &image.places)
}

fn due(kept: &Fields, holds: &[HoldImage], places: &[PlaceImage]) -> Result<(), String> {
    let member = |fence: u64, kind: char, id: u64| format!("{fence:016}{kind}{}", facts::id(id));
    let holds = holds.iter().map(|hold| (member(hold.fence, 'h', hold.id.0), hold.until.to_string()));
    let places = places.iter().map(|place| (member(place.fence, 'q', place.id.0), place.until.to_string()));
    let counted: BTreeMap<_, _> = holds.chain(places).collect();
    let kept = kept.iter().map(|(member, score)| (member.to_owned(), text(score)));
    same("due", &kept.collect::<BTreeMap<_, _>>(), &counted)
}

fn open(state: &State, orders: &[OrderImage]) -> Result<(), String> {
    let open = orders.iter().filter(|order| !(order.seats.is_empty() && order.areas.is_empty()));
    let counted: BTreeMap<_, _> =
        open.map(|order| (facts::id(order.id.0), order.fence.to_string())).collect();
    same("open orders", &orders::open(state), &counted)
}

fn queued(state: &State) -> Result<(), String> {
    let kept = state.head(super::HEAD).and_then(|head| head.number("queued"));
    same("queued", &kept.map_err(|error| error.to_string())?, &state.queue.len())
}

fn areas(state: &State, holds: &[HoldImage], orders: &[OrderImage]) -> Result<(), String> {
    let mut index = 0u16;
    while let Some(record) = state.meta.get(&format!("area:{index}")) {
        let kept = super::records::area(record).map_err(|error| error.to_string())?;
        let held = holds.iter().flat_map(|hold| &hold.areas).filter(|line| line.area == index);
        let sold = orders.iter().flat_map(|order| &order.areas).filter(|line| line.area == index);
        same("held in an area", &kept.held, &held.map(|line| line.count).sum())?;
        same("sold in an area", &kept.sold, &sold.map(|line| line.count).sum())?;
        index += 1;
    }
    Ok(())
}

/// What the bits and the packed locks of a large chart say of each seat.
fn bits(state: &State, holds: &[HoldImage], orders: &[OrderImage]) -> Result<(), String> {
    let mut counted = BTreeMap::new();
    for hold in holds {
        counted.extend(hold.seats.iter().map(|line| (line.seat, (1, Some(hold.id)))));
    }
    for order in orders {
        counted.extend(order.seats.iter().map(|line| (line.seat, (2, None))));
    }
    let seats = super::compact::seats(state).map_err(|error| error.to_string())?;
    let kept = seats.iter().filter(|seat| seat.grip != 0 || seat.by.is_some());
    same("seats", &kept.map(|seat| (seat.index, (seat.grip, seat.by))).collect(), &counted)
}

/// What a lock tells of its hold, and that no other seat has one.
fn locks(state: &State, holds: &[HoldImage], orders: &[OrderImage]) -> Result<(), String> {
    let mut counted = BTreeMap::new();
    for hold in holds {
        let told = format!(
            r#""hold":"{}","user_id":"{}","fencing_token":{},"acquired_at":{},"expires_at":{},"extension_count":{},"#,
            facts::id(hold.id.0),
            hold.buyer.as_str().replace('\\', "\\\\").replace('"', "\\\""),
            hold.fence,
            hold.placed_at,
            hold.until,
            hold.extensions
        );
        counted.extend(hold.seats.iter().map(|line| (line.seat.to_string(), told.clone())));
    }
    for order in orders {
        let told = format!(r#""order":"{}"}}"#, facts::id(order.id.0));
        counted.extend(order.seats.iter().map(|line| (line.seat.to_string(), told.clone())));
    }
    let mut seen = BTreeSet::new();
    for (seat, lock) in super::records::locks(&state.locks) {
        let lock = text(lock);
        let told = counted.get(seat);
        let fits =
            told.map_or(lock == r#"{"state":"free","blocked":1,"hold":""}"#, |told| lock.contains(told));
        if !fits {
            return Err(format!("lock of seat {seat}: kept {lock}, counted {told:?}"));
        }
        seen.insert(seat.to_owned());
    }
    match counted.keys().find(|seat| !seen.contains(*seat)) {
        Some(seat) => Err(format!("seat {seat} has no lock")),
        None => Ok(()),
    }
}

fn buyers(
    kept: &Fields,
    holds: &[HoldImage],
    orders: &[OrderImage],
    places: &[PlaceImage],
) -> Result<(), String> {
    #[derive(Default)]
    struct BuyerCount {
        held: u64,
        sold: u64,
        ordered: bool,
        holds: BTreeSet<String>,
        places: BTreeSet<String>,
    }
    let mut counted: BTreeMap<String, BuyerCount> = BTreeMap::new();
    // When the first of a buyer's holds ends.
    let mut first: BTreeMap<String, u64> = BTreeMap::new();
    for hold in holds {
        let soonest = first.entry(hold.buyer.as_str().to_owned()).or_insert(u64::MAX);
        *soonest = (*soonest).min(hold.until as u64);
        let buyer = counted.entry(hold.buyer.as_str().to_owned()).or_default();
        buyer.held +=
            hold.seats.len() as u64 + hold.areas.iter().map(|line| u64::from(line.count)).sum::<u64>();
        buyer.holds.insert(facts::id(hold.id.0));
    }
    for order in orders {
        let buyer = counted.entry(order.buyer.as_str().to_owned()).or_default();
        buyer.sold +=
            order.seats.len() as u64 + order.areas.iter().map(|line| u64::from(line.count)).sum::<u64>();
        buyer.ordered = true;
    }
    for place in places {
        let buyer = counted.entry(place.buyer.as_str().to_owned()).or_default();
        buyer.places.insert(place.seat.to_string());
    }
    let told = |held: u64, sold: u64, ordered: bool, holds: &BTreeSet<String>, places: &BTreeSet<String>| {
        format!("{held}|{sold}|{}|{holds:?}|{places:?}", u8::from(ordered))
    };
    let counted: BTreeMap<String, String> = counted
        .into_iter()
        .map(|(name, c)| (name, told(c.held, c.sold, c.ordered, &c.holds, &c.places)))
        .collect();
    let mut told_of = BTreeMap::new();
    for (name, record) in kept.iter() {
        let Some(name) = name.strip_prefix('@') else { continue };
        let record = text(record);
        let parts: Vec<&str> = record.split('|').collect();
        let [held, sold, ordered, soonest, holds, places] = parts.as_slice() else {
            return Err(format!("buyer {name}: {record}"));
        };
        let set = |list: &str| -> BTreeSet<String> {
            list.split(',').filter(|one| !one.is_empty()).map(str::to_owned).collect()
        };
        let number = |text: &str| text.parse::<u64>().map_err(|error| error.to_string());
        if first.get(name).is_some_and(|first| number(soonest).is_ok_and(|soonest| soonest > *first)) {
            return Err(format!("buyer {name}: a hold ends before {soonest}"));
        }
        told_of.insert(
            name.to_owned(),
            told(number(held)?, number(sold)?, *ordered == "1", &set(holds), &set(places)),
        );
    }
    same("buyers", &told_of, &counted)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
