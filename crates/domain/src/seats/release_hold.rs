//! Release a hold; and how any verb finds the hold that its caller may act on.

use super::command::HoldKey;
use super::fact::{EventFact, ReleaseCause};
use super::state::Seats;
use crate::ended::End;
use crate::event::EventStatus;
use crate::id::HoldId;
use crate::refusal::{Code, Refusal};
use crate::time::Millis;

pub(super) fn decide(seats: &Seats, key: &HoldKey, now: Millis) -> Result<EventFact, Refusal> {
    own_hold(seats, key, now)?;
    Ok(EventFact::HoldReleased { hold: key.hold, why: ReleaseCause::Buyer })
}

/// A cancelled event takes everything back: nothing of it can be kept longer, changed or bought.
pub(super) fn not_cancelled(seats: &Seats) -> Result<(), Refusal> {
    match seats.status == EventStatus::Cancelled {
        true => Err(Refusal::of(Code::EventCancelled)),
        false => Ok(()),
    }
}

/// The living hold that this key opens: known, not over, and granted by this very fence.
pub(super) fn own_hold(seats: &Seats, key: &HoldKey, now: Millis) -> Result<u32, Refusal> {
    let index = living_hold(seats, key.hold, now)?;
    if seats.holds[index].fence != key.fence {
        return Err(Refusal::of(Code::StaleFence));
    }
    Ok(index)
}

/// The living hold of this id, or why there is none.
pub(super) fn living_hold(seats: &Seats, id: HoldId, now: Millis) -> Result<u32, Refusal> {
    if let Some(index) = seats.hold_index(id) {
        return Ok(index);
    }
    Err(Refusal::of(match seats.ended.get(id, now) {
        Some(End::Expired) => Code::Expired,
        Some(End::Released) => Code::Released,
        Some(End::Overridden) => Code::Overridden,
        Some(End::Confirmed) => Code::HoldConfirmed,
        Some(End::Dissolved | End::OverLimit) => Code::Released,
        None => Code::HoldUnknown,
    }))
}
