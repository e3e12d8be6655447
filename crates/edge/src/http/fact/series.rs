//! Facts of a series as JSON.

use onsale_domain::series::SeriesFact;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::time::Time;
use crate::http::words::SkipCause;

#[derive(Debug, Serialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SeriesFactBody<'a> {
    SeriesCreated { name: &'a str, from: Time },
    SeriesChanged { name: &'a str, from: Time },
    SlotOpened { slot: Time, offset_seconds: i32, sale: String },
    SlotSkipped { slot: Time, offset_seconds: i32, why: SkipCause },
    SeriesPaused {},
    SeriesResumed {},
    SeriesEnded {},
}

impl<'a> From<&'a SeriesFact> for SeriesFactBody<'a> {
    fn from(fact: &'a SeriesFact) -> SeriesFactBody<'a> {
        use SeriesFactBody as Body;
        match fact {
            SeriesFact::Created(details) => {
                Body::SeriesCreated { name: &details.name, from: Time(details.from) }
            }
            SeriesFact::Changed(details) => {
                Body::SeriesChanged { name: &details.name, from: Time(details.from) }
            }
            SeriesFact::SlotOpened { slot, sale } => Body::SlotOpened {
                slot: Time(slot.at),
                offset_seconds: slot.offset_s,
                sale: sale.to_string(),
            },
            SeriesFact::SlotSkipped { slot, why } => {
                Body::SlotSkipped { slot: Time(slot.at), offset_seconds: slot.offset_s, why: (*why).into() }
            }
            SeriesFact::Paused => Body::SeriesPaused {},
            SeriesFact::Resumed => Body::SeriesResumed {},
            SeriesFact::Ended => Body::SeriesEnded {},
        }
    }
}
