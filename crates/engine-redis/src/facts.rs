//! Facts as flat fields, the same in a stream entry and in a script's reply: names and decimal numbers that a person
//! can read with `redis-cli`. Only a whole layout is one field of CBOR: it is as large as all else together, nobody
//! reads it by hand, and the journal's own bytes need no second format to keep. A long one is packed.

mod fields;
mod lines;
pub mod listing;
pub mod orders;
mod step;

pub use fields::{Fields, Malformed};
pub use lines::{
    area_counts, area_lines, read_area_counts, read_area_lines, read_seat_lines, read_seats, read_sku_counts,
    read_sku_lines, seat_lines, seats, sku_counts, sku_lines,
};
pub use step::{at, begins_step, decode_step, length};

use minicbor::{Decode, Encode};
use onsale_domain::Fact;
pub use onsale_domain::id::read_id;
use onsale_domain::id::write_id;

use crate::kinds;

/// A fact's fields in the order in which they stand in the stream; `kind` is the first.
pub fn encode(fact: &Fact) -> Fields {
    let mut fields = Fields::of_kind(fact.kind());
    kinds::encode(fact, &mut fields);
    fields
}

/// Reads what [`encode`] or a script wrote. Fields it does not know are passed over.
pub fn decode(fields: &Fields) -> Result<Fact, Malformed> {
    kinds::decode(fields.text("kind")?, fields)
}

/// How long an id is in keys, arguments and facts.
pub(crate) const ID_CHARS: usize = 13;

/// An id as it stands in keys, arguments and facts: 13 characters of base 32.
pub fn id(number: u64) -> String {
    String::from_utf8_lossy(&write_id(number)).into_owned()
}

pub(crate) fn cbor<T: Encode<()>>(value: &T) -> Vec<u8> {
    match minicbor::to_vec(value) {
        Ok(bytes) => bytes,
        Err(error) => panic!("writing into memory cannot fail: {error}"),
    }
}

pub(crate) fn read_cbor<'a, T: Decode<'a, ()>>(field: &str, bytes: &'a [u8]) -> Result<T, Malformed> {
    minicbor::decode(bytes).map_err(|_| Malformed::of(field))
}

/// Charts and layouts, which scripts never look into: packed when they are long.
pub(crate) fn packed<T: Encode<()>>(value: &T) -> Vec<u8> {
    onsale_engine::packed::pack(cbor(value))
}

pub(crate) fn read_packed<T: for<'a> Decode<'a, ()>>(field: &str, bytes: &[u8]) -> Result<T, Malformed> {
    let plain = onsale_engine::packed::unpack(bytes).map_err(|_| Malformed::of(field))?;
    read_cbor(field, &plain)
}

pub(crate) fn flag(set: bool) -> &'static str {
    if set { "1" } else { "0" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    use onsale_tables::facts as fixtures;

    #[test]
    fn every_kind_of_fact_reads_back_as_it_was_written() {
        let mut kinds = BTreeSet::new();
        for fact in fixtures::all() {
            kinds.insert(fact.kind());
            assert_eq!(decode(&encode(&fact)).as_ref(), Ok(&fact));
        }
        assert_eq!(kinds.len(), Fact::kinds().count());
    }

    #[test]
    fn a_fact_with_a_field_missing_or_wrong_is_not_read() {
        for fact in fixtures::all() {
            let good = encode(&fact);
            for n in 0..good.len() {
                let mut bad = good.clone();
                let (name, _) = bad.remove(n);
                // Without these it is another, well-formed fact: the seats come free, it was no offer, there are no places.
                let other = matches!(fact.kind(), "hold_overridden" | "hold_expired") && name == "buyer"
                    || fact.kind() == "hold_placed" && matches!(name.as_str(), "areas" | "pieces");
                assert_eq!(decode(&bad).is_err(), !other, "{} without {name}", fact.kind());
            }
        }
    }
}
