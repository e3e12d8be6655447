//! A registration's state read back, and whether what Redis keeps twice agrees with itself.

use std::collections::BTreeMap;

use onsale_domain::registration::image::{EndedEntry, EntryImage, GivenUpImage, RegistrationImage};
use onsale_domain::{EntryId, OrderId};

use super::facts as own;
use crate::facts::{self, ID_CHARS, Malformed};
use crate::state::records::{Parts, id, same, texts};
use crate::state::{State, orders};

/// How a record begins of an order whose place was given up.
const GIVEN_UP: &[u8] = b"g|";

pub(super) fn image(state: &State) -> Result<RegistrationImage, Malformed> {
    let head = state.head(super::HEAD)?;
    let mut entries = Vec::new();
    for (field, record) in state.locks.iter() {
        let is_id = field.len() == ID_CHARS && !field.starts_with('@');
        if is_id && !record.starts_with(b"e|") {
            entries.push(entry(field, record)?);
        }
    }
    entries.sort_unstable_by_key(|entry| entry.fence);
    let ended = state.all_ended()?.into_iter();
    let ended = ended.map(|it| EndedEntry { at: it.at, id: EntryId(it.id), end: it.end });
    Ok(RegistrationImage {
        details: own::decode_details(&state.meta)?,
        status: own::read_status(head.status)?,
        capacity: head.number("capacity")?,
        entries,
        ended: ended.collect(),
        given_up: given_up(state)?,
    })
}

/// What orders paid for places that were given up.
fn given_up(state: &State) -> Result<Vec<GivenUpImage>, Malformed> {
    let records = orders::sold(state).filter(|(_, record)| record.starts_with(GIVEN_UP));
    let given = |(order, record): (&str, &[u8])| {
        let mut parts = Parts::new("given up", record, 7)?;
        parts.text()?;
        let (fence, entry) = (parts.number()?, EntryId(id(parts.text()?)?));
        let (price_minor, paid_at, returned_minor) = (parts.number()?, parts.number()?, parts.number()?);
        let (order, buyer) = (OrderId(id(order)?), parts.buyer()?);
        Ok(GivenUpImage { order, entry, fence, buyer, price_minor, paid_at, returned_minor })
    };
    records.map(given).collect()
}

fn entry(name: &str, record: &[u8]) -> Result<EntryImage, Malformed> {
    let malformed = || Malformed::of("entry");
    let mut parts = match record.first() {
        Some(b'w') => Parts::new("entry", record, 3)?,
        Some(b'o') => Parts::new("entry", record, 5)?,
        Some(_) | None => Parts::new("entry", record, 6)?,
    };
    let (id, kind, fence) = (EntryId(id(name)?), parts.text()?, parts.number()?);
    let (mut until, mut price_minor, mut order, mut paid_at) = (None, None, None, None);
    match kind {
        "w" => {}
        "o" => (until, price_minor) = (Some(parts.number()?), Some(parts.number()?)),
        "c" => match (parts.text()?, parts.text()?) {
            ("", _) => drop(parts.text()?),
            (paid, price) => {
                order = Some(OrderId(facts::read_id(paid).ok_or_else(malformed)?));
                price_minor = Some(price.parse().map_err(|_| malformed())?);
                paid_at = Some(parts.number()?);
            }
        },
        _ => return Err(malformed()),
    }
    let waiting = kind == "w";
    Ok(EntryImage { id, buyer: parts.buyer()?, fence, until, price_minor, order, waiting, paid_at })
}

/// Counts places, buyers, the line, deadlines and orders again.
pub(super) fn check(state: &State) -> Result<(), String> {
    let malformed = |error: Malformed| error.to_string();
    let image = image(state).map_err(malformed)?;
    let (mut line, mut waiting, mut due) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    let (mut bought_by, mut buyers) = (BTreeMap::new(), BTreeMap::new());
    let mut confirmed = 0;
    for entry in &image.entries {
        let id = facts::id(entry.id.0);
        line.insert(id.clone(), entry.fence.to_string());
        buyers.insert(format!("@{}", entry.buyer.as_str()), id.clone());
        match entry.until {
            _ if entry.waiting => drop(waiting.insert(id.clone(), entry.fence.to_string())),
            Some(until) => drop(due.insert(format!("{:016}{id}", entry.fence), until.to_string())),
            None => confirmed += 1,
        }
        if let Some(order) = entry.order {
            bought_by.insert(facts::id(order.0), id);
        }
    }
    same("the line", &texts(&state.holds), &line)?;
    same("who waits", &texts(&state.queue), &waiting)?;
    same("due", &texts(&state.due), &due)?;
    let sold = orders::sold(state).filter(|(_, record)| !record.starts_with(GIVEN_UP));
    let sold = sold.map(|(id, entry)| (id.to_owned(), String::from_utf8_lossy(entry).into_owned())).collect();
    same("orders", &sold, &bought_by)?;
    let head = state.head(super::HEAD).map_err(malformed)?;
    for (name, counted) in [("waiting", waiting.len()), ("confirmed", confirmed), ("offered", due.len())] {
        same(name, &head.number(name).map_err(malformed)?, &counted)?;
    }
    let kept = state.locks.iter().filter(|(field, _)| field.starts_with('@'));
    let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
    let kept: BTreeMap<String, String> = kept.map(|(field, id)| (field.to_owned(), text(id))).collect();
    same("buyers", &kept, &buyers)
}
