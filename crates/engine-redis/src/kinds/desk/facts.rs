//! Facts of a desk as one field: no script reads them, so the journal's own bytes carry them.

use onsale_domain::desk::DeskFact;

use crate::facts::{Fields, Malformed, cbor, read_cbor};

pub(super) fn encode(fact: &DeskFact, fields: &mut Fields) {
    fields.push("cbor", cbor(fact));
}

/// Reads what [`encode`] wrote.
pub(super) fn decode(name: &str, fields: &Fields) -> Result<DeskFact, Malformed> {
    let fact: DeskFact = read_cbor("cbor", fields.bytes("cbor")?)?;
    if fact.kind() == name { Ok(fact) } else { Err(Malformed::of("cbor")) }
}
