//! A desk as fields of its hash, and back. What a person looks for is found by its name; the records are the journal's
//! bytes, because whatever a provider sends may stand in them.

use std::collections::BTreeMap;

use onsale_domain::desk::image::DeskImage;
use onsale_domain::{ListingId, Millis, PaymentName};

use crate::facts::{Malformed, cbor, read_cbor};
use crate::state::State;

/// Every record of a desk, by the field that it stands in.
pub(super) fn records(image: &DeskImage) -> BTreeMap<String, Vec<u8>> {
    let cursors =
        image.cursors.iter().map(|(of, through)| (format!("c:{of}"), through.to_string().into_bytes()));
    let items = image.items.iter().map(|item| {
        let field = format!("i:{}:{}", item.slip.of(item.listing).text(), item.slip.refund);
        (field, cbor(item))
    });
    let events = image.events.iter().map(|(of, all)| (format!("e:{}", of.text()), cbor(all)));
    let seen = image
        .inbox
        .iter()
        .map(|(at, provider, event)| (format!("s:{provider}\t{event}"), at.to_string().into_bytes()));
    cursors.chain(items).chain(events).chain(seen).collect()
}

pub(super) fn image(state: &State) -> Result<DeskImage, Malformed> {
    let malformed = || Malformed::of("desk");
    let number = |record: &[u8]| std::str::from_utf8(record).ok().and_then(|text| text.parse::<u64>().ok());
    let (mut cursors, mut items) = (BTreeMap::new(), BTreeMap::new());
    let (mut events, mut inbox) = (BTreeMap::new(), Vec::new());
    for (field, record) in state.locks.iter() {
        match field.split_once(':') {
            Some(("c", of)) => {
                let of = ListingId::parse(of).ok_or_else(malformed)?;
                cursors.insert(of, number(record).ok_or_else(malformed)?);
            }
            Some(("i", _)) => {
                let item: onsale_domain::desk::image::ItemImage = read_cbor("desk", record)?;
                items.insert((item.slip.of(item.listing), item.slip.refund), item);
            }
            Some(("e", of)) => {
                let of = PaymentName::parse(of).ok_or_else(malformed)?;
                events.insert(of, read_cbor("desk", record)?);
            }
            Some(("s", event)) => {
                let (provider, event) = event.split_once('\t').ok_or_else(malformed)?;
                let at = number(record).ok_or_else(malformed)? as Millis;
                inbox.push((at, provider.to_owned(), event.to_owned()));
            }
            Some(_) => return Err(malformed()),
            // The head.
            None => {}
        }
    }
    inbox.sort_unstable();
    Ok(DeskImage {
        cursors: cursors.into_iter().collect(),
        items: items.into_values().collect(),
        events: events.into_iter().collect(),
        inbox,
    })
}
