//! An event's state read back.

use onsale_domain::HoldId;
use onsale_domain::chart::ChartImage;
use onsale_domain::seats::image::{EndedImage, HoldImage, SeatsImage};

use super::facts::read_status;
use super::{compact, details, records};
use crate::facts::{ID_CHARS, Malformed, read_packed};
use crate::layout::Layout;
use crate::state::{State, orders};

pub(super) fn image(state: &State) -> Result<SeatsImage, Malformed> {
    image_of(state, layout(state)?)
}

pub(super) fn layout(state: &State) -> Result<Layout, Malformed> {
    Layout::parse(state.head(super::HEAD)?.layout).ok_or_else(|| Malformed::of("layout"))
}

pub(super) fn image_of(state: &State, layout: Layout) -> Result<SeatsImage, Malformed> {
    let chart: ChartImage = read_packed("chart", state.meta.bytes("chart")?)?;
    let mut blocked_places = Vec::new();
    while let Some(area) = state.meta.get(&format!("area:{}", blocked_places.len())) {
        blocked_places.push(records::area(area)?.blocked);
    }
    Ok(SeatsImage {
        details: details::decode(&state.meta)?,
        status: read_status(state.head(super::HEAD)?.status)?,
        chart,
        blocked: blocked(state, layout)?,
        blocked_places,
        holds: all_holds(state, layout)?,
        orders: orders::sold(state).map(|(id, order)| records::order(id, order)).collect::<Result<_, _>>()?,
        places: records::places(&state.queue)?,
        ended: ended(state)?,
    })
}

fn blocked(state: &State, layout: Layout) -> Result<Vec<u32>, Malformed> {
    let mut seats = match layout {
        Layout::Compact => {
            compact::seats(state)?.into_iter().filter(|seat| seat.blocked).map(|it| it.index).collect()
        }
        Layout::Hash => {
            let blocked = records::locks(&state.locks).filter(|(_, lock)| records::is_blocked(lock));
            let index = |seat: &str| seat.parse().map_err(|_| Malformed::of("locks"));
            blocked.map(|(seat, _)| index(seat)).collect::<Result<Vec<u32>, _>>()?
        }
    };
    seats.sort_unstable();
    Ok(seats)
}

fn all_holds(state: &State, layout: Layout) -> Result<Vec<HoldImage>, Malformed> {
    match layout {
        Layout::Compact => compact::holds(state),
        Layout::Hash => {
            let holds =
                state.locks.iter().filter(|(id, record)| id.len() == ID_CHARS && record.starts_with(b"h|"));
            let holds = holds.filter(|(id, _)| !id.starts_with('@'));
            holds.map(|(id, hold)| records::hold(id, hold)).collect()
        }
    }
}

fn ended(state: &State) -> Result<Vec<EndedImage>, Malformed> {
    let all = state.all_ended()?.into_iter();
    Ok(all.map(|it| EndedImage { at: it.at, id: HoldId(it.id), end: it.end }).collect())
}
