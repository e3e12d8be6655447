//! Facts of a series.

use onsale_domain::series::SeriesFact;
use onsale_domain::series::fact::SkipCause;
use serde_json::{Value, json};

use crate::http::time::Time;

pub(super) fn fields(fact: &SeriesFact) -> Value {
    match fact {
        SeriesFact::Created(details) | SeriesFact::Changed(details) => {
            json!({"name": details.name, "from": Time(details.from)})
        }
        SeriesFact::SlotOpened { slot, sale } => {
            json!({"slot": Time(slot.at), "offset_seconds": slot.offset_s, "sale": sale.to_string()})
        }
        SeriesFact::SlotSkipped { slot, why } => {
            json!({"slot": Time(slot.at), "offset_seconds": slot.offset_s, "why": cause(*why)})
        }
        SeriesFact::Paused | SeriesFact::Resumed | SeriesFact::Ended => json!({}),
    }
}

pub fn cause(why: SkipCause) -> &'static str {
    match why {
        SkipCause::Down => "down",
        SkipCause::Paused => "paused",
    }
}
