//! Old journals open for ever: one fact of every kind, as bytes that were written once and are never written again.
//! A new kind is added at the end with `ONSALE_FIXTURE=append cargo test -p onsale-domain --test fact_fixture`.

use std::collections::BTreeSet;

use onsale_domain::Fact;
use onsale_domain::seats::EventFact;
use onsale_domain::seats::fact::ReleaseCause;
use onsale_tables::facts;

const BYTES: &[u8] = include_bytes!("fixtures/facts-v1.cbor");
const LISTING: &str = include_str!("fixtures/facts-v1.txt");

fn decoded() -> Vec<Fact> {
    let mut decoder = minicbor::Decoder::new(BYTES);
    let mut facts = Vec::new();
    while decoder.position() < BYTES.len() {
        let at = decoder.position();
        let fact = decoder.decode().unwrap_or_else(|error| panic!("the fact at byte {at} is lost: {error}"));
        facts.push(fact);
    }
    facts
}

fn listed(facts: &[Fact]) -> String {
    let number = |fact: &Fact| {
        let (kind, own) = fact.wire_numbers();
        format!("{kind}.{own}")
    };
    facts.iter().map(|fact| format!("{} {} {fact:?}\n", number(fact), fact.kind())).collect()
}

#[test]
fn every_fact_ever_written_reads_as_it_was_meant() {
    let (decoded, expected) = (decoded(), facts::all());
    append_if_asked(&decoded, &expected);
    for (n, fact) in decoded.iter().enumerate() {
        assert_eq!(Some(fact), expected.get(n), "fact {n} of the fixture means something else now");
    }
    assert_eq!(listed(&decoded), LISTING, "the listing beside the fixture tells another story");
}

#[test]
fn no_kind_is_missing_from_the_fixture() {
    let known: BTreeSet<&str> = decoded().iter().map(Fact::kind).collect();
    let missing: Vec<_> = Fact::kinds().filter(|kind| !known.contains(kind)).collect();
    assert!(missing.is_empty(), "add {missing:?} to fixtures/facts.rs and append them to the fixture");
}

#[test]
fn kinds_are_numbered_as_they_are_encoded() {
    for fact in facts::all() {
        let bytes = minicbor::to_vec(&fact).expect("memory takes it");
        let mut decoder = minicbor::Decoder::new(&bytes);
        let (kind, own) = fact.wire_numbers();
        decoder.array().expect("a variant is an array of its number and its fields");
        assert_eq!(decoder.u64().expect("its number"), kind as u64, "{}", fact.kind());
        decoder.array().expect("the only field of a kind");
        decoder.array().expect("a variant again");
        assert_eq!(decoder.u64().expect("its number"), own as u64, "{}", fact.kind());
    }
}

#[test]
fn fields_that_a_later_version_adds_are_passed_over() {
    // HoldReleased { hold, why } with a third field that this version does not know.
    let mut bytes = Vec::new();
    let mut encoder = minicbor::Encoder::new(&mut bytes);
    let written =
        (|| encoder.array(2)?.u8(0)?.array(1)?.array(2)?.u8(7)?.array(3)?.u64(7)?.u8(0)?.str("later")?.ok())(
        );
    written.expect("memory takes it");
    let fact: Fact = minicbor::decode(&bytes).expect("an unknown field is no damage");
    assert_eq!(
        fact,
        Fact::Event(EventFact::HoldReleased { hold: onsale_domain::HoldId(7), why: ReleaseCause::Buyer })
    );
}

/// Adds what is missing at the end; what is there is never touched.
#[expect(clippy::disallowed_methods, reason = "the one moment at which a fixture is written")]
fn append_if_asked(decoded: &[Fact], expected: &[Fact]) {
    if std::env::var("ONSALE_FIXTURE").as_deref() != Ok("append") {
        return;
    }
    let mut bytes = BYTES.to_vec();
    for fact in expected.iter().skip(decoded.len()) {
        bytes.extend(minicbor::to_vec(fact).expect("memory takes it"));
    }
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/facts-v1");
    std::fs::write(format!("{folder}.cbor"), bytes).expect("the fixture can be written");
    std::fs::write(format!("{folder}.txt"), listed(expected)).expect("the listing can be written");
    panic!("the fixture was written; run the test again without ONSALE_FIXTURE");
}
