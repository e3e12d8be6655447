//! Facts of series as fields. A schedule and a template are one field of CBOR each: nobody reads them by hand.

use onsale_domain::ListingId;
use onsale_domain::series::SeriesFact;
use onsale_domain::series::details::SeriesDetails;
use onsale_domain::series::fact::SkipCause;
use onsale_domain::series::schedule::Slot;

use crate::facts::{Fields, Malformed, cbor, read_cbor};

pub(super) fn encode(fact: &SeriesFact, fields: &mut Fields) {
    match fact {
        SeriesFact::Created(details) | SeriesFact::Changed(details) => encode_details(details, fields),
        SeriesFact::SlotOpened { slot: opened, sale } => {
            fields.push("slot", slot(*opened));
            fields.push("sale", sale.to_string());
        }
        SeriesFact::SlotSkipped { slot: skipped, why } => {
            fields.push("slot", slot(*skipped));
            fields.push("why", cause(*why));
        }
        SeriesFact::Paused | SeriesFact::Resumed | SeriesFact::Ended => {}
    }
}

/// Reads what [`encode`] or a script wrote.
pub(super) fn decode(kind: &str, fields: &Fields) -> Result<SeriesFact, Malformed> {
    Ok(match kind {
        "series_created" => SeriesFact::Created(Box::new(decode_details(fields)?)),
        "series_changed" => SeriesFact::Changed(Box::new(decode_details(fields)?)),
        "slot_opened" => SeriesFact::SlotOpened {
            slot: read_slot(fields.text("slot")?)?,
            sale: ListingId::parse(fields.text("sale")?).ok_or_else(|| Malformed::of("sale"))?,
        },
        "slot_skipped" => SeriesFact::SlotSkipped {
            slot: read_slot(fields.text("slot")?)?,
            why: read_cause(fields.text("why")?)?,
        },
        "series_paused" => SeriesFact::Paused,
        "series_resumed" => SeriesFact::Resumed,
        "series_ended" => SeriesFact::Ended,
        _ => return Err(Malformed::of("kind")),
    })
}

pub(super) fn encode_details(details: &SeriesDetails, fields: &mut Fields) {
    fields.push("name", &details.name);
    fields.push("schedule", cbor(&details.schedule));
    fields.push("from", details.from.to_string());
    fields.push("template", cbor(&details.template));
}

pub(super) fn decode_details(fields: &Fields) -> Result<SeriesDetails, Malformed> {
    Ok(SeriesDetails {
        name: fields.text("name")?.to_owned(),
        schedule: read_cbor("schedule", fields.bytes("schedule")?)?,
        from: fields.number("from")?,
        template: read_cbor("template", fields.bytes("template")?)?,
    })
}

/// An instant, and how far clocks are ahead of UTC then: `1700000000000:3600`.
pub(super) fn slot(slot: Slot) -> String {
    format!("{}:{}", slot.at, slot.offset_s)
}

pub(super) fn slots(all: &[Slot]) -> String {
    all.iter().map(|one| slot(*one)).collect::<Vec<_>>().join(",")
}

pub(super) fn read_slot(text: &str) -> Result<Slot, Malformed> {
    let read = || {
        let (at, offset_s) = text.split_once(':')?;
        Some(Slot { at: at.parse().ok()?, offset_s: offset_s.parse().ok()? })
    };
    read().ok_or_else(|| Malformed::of("slot"))
}

fn cause(why: SkipCause) -> &'static str {
    match why {
        SkipCause::Down => "down",
        SkipCause::Paused => "paused",
    }
}

pub(super) fn read_cause(text: &str) -> Result<SkipCause, Malformed> {
    match text {
        "down" => Ok(SkipCause::Down),
        "paused" => Ok(SkipCause::Paused),
        _ => Err(Malformed::of("why")),
    }
}
