//! A series' state read back.

use onsale_domain::series::image::{ReadyImage, SeriesImage};
use onsale_domain::series::{SeriesStatus, SlotState};

use super::facts as own;
use crate::facts::{Malformed, read_cbor};
use crate::state::State;

pub(super) fn image(state: &State) -> Result<SeriesImage, Malformed> {
    let status = state.head(super::HEAD)?.status;
    let known = SeriesStatus::ALL.into_iter().find(|known| known.as_str() == status);
    let slots = state.locks.text_or_none("slots")?.unwrap_or_default();
    let slots = slots.split(',').filter(|slot| !slot.is_empty()).map(slot);
    let (paused_at, resumed_at) = match state.locks.text_or_none("pause")?.and_then(|it| it.split_once('|')) {
        None => (None, None),
        Some((from, until)) => (time(from)?, time(until)?),
    };
    let ready = ["ready:1", "ready:2"].iter().filter_map(|name| state.locks.get(name));
    Ok(SeriesImage {
        details: own::decode_details(&state.meta)?,
        status: known.ok_or_else(|| Malformed::of("status"))?,
        slots: slots.collect::<Result<_, _>>()?,
        ready: ready.map(ready_sale).collect::<Result<_, _>>()?,
        paused_at,
        resumed_at,
    })
}

fn time(text: &str) -> Result<Option<i64>, Malformed> {
    match text {
        "" => Ok(None),
        text => text.parse().map(Some).map_err(|_| Malformed::of("pause")),
    }
}

/// `at:ahead:end of its sale:why it was skipped`.
fn slot(text: &str) -> Result<SlotState, Malformed> {
    let mut parts = text.splitn(4, ':');
    let mut next = || parts.next().ok_or_else(|| Malformed::of("slots"));
    let slot = own::read_slot(&format!("{}:{}", next()?, next()?))?;
    let ends_at = time(next()?)?;
    let skipped = match next()? {
        "" => None,
        why => Some(own::read_cause(why)?),
    };
    Ok(SlotState { slot, ends_at, skipped })
}

/// The slot, and behind it the template that its sale is made from.
fn ready_sale(bytes: &[u8]) -> Result<ReadyImage, Malformed> {
    let malformed = || Malformed::of("ready");
    let at = bytes.iter().position(|byte| *byte == b'|').ok_or_else(malformed)?;
    let slot = std::str::from_utf8(&bytes[..at]).map_err(|_| malformed())?;
    let template = read_cbor("ready", &bytes[at + 1..])?;
    Ok(ReadyImage { slot: own::read_slot(slot)?, template })
}
