//! Whatever a client writes in place of an id, a token, a cursor, a time or a signature: it is read or refused. Alone in its program:
//! memory is counted. Whole requests are tried in `crates/onsale/tests/it/bad_input/bytes.rs`.

use onsale_domain::field::FieldPath;
use onsale_domain::id::{
    PaymentName, read_base32, read_id, read_inside, write_base32, write_id, write_inside,
};
use onsale_domain::money::Currency;
use onsale_domain::{BuyerId, By, HoldId, ListingId, ListingKind, Tenant};
use onsale_edge::http::list::Cursors;
use onsale_edge::http::time::Time;
use onsale_edge::idempotency;
use onsale_edge::token::{Token, Tokens};
use onsale_edge::zone::Clocks;
use onsale_payments::signature;
use onsale_tables::damage::{Decoder, try_all};

const EVENT: ListingId = ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Event, number: 7 };
const BODY: &[u8] = b"{\"id\":\"evt\"}";
const SECRET: &[u8] = b"a secret";
const SECOND: i64 = 1_763_000_000;

#[test]
fn whatever_stands_in_place_of_an_id_or_a_token_is_read_or_refused() {
    let ann = BuyerId::parse("ann").expect("a buyer");
    let token = Tokens::new(b"house").make(&EVENT, HoldId(9), 8191 << 40 | 5, &ann);
    let ids: Vec<String> =
        ListingKind::ALL.iter().map(|kind| ListingId { kind: *kind, ..EVENT }.text()).collect();
    let hold = write_inside("hld", &EVENT, 9);
    let payment = write_inside("pay", &EVENT, 9);
    let (number, wide) = (write_id(u64::MAX), write_base32(u128::MAX));
    let signed = signature::header(SECOND, BODY, SECRET);
    let written = [cursors().write("evt_1-2"), cursors().write("é")];
    let of = |name, samples: &[&[u8]], read| {
        let samples = samples.iter().map(|sample| sample.to_vec()).collect();
        Decoder { name, samples, read }
    };
    try_all(&[
        Decoder { samples: ids.into_iter().map(String::into_bytes).collect(), ..of("an id", &[], is_id) },
        of("an id inside another", &[hold.as_bytes()], |it| is(it, |it| read_inside("hld", it).is_some())),
        of("a payment's name", &[payment.as_bytes()], |it| is(it, |it| PaymentName::parse(it).is_some())),
        of("a number of an id", &[&number], |it| is(it, |it| read_id(it).is_some())),
        of("128 bits", &[&wide], |it| is(it, |it| read_base32(it).is_some())),
        of("a token", &[token.as_bytes()], |it| is(it, |it| Token::parse(it).is_some())),
        of("a cursor", &[written[0].as_bytes(), written[1].as_bytes()], |it| is(it, is_cursor)),
        of("a time", &[b"2027-03-01T19:30:00Z", b"9999-12-31T23:59:59.999999+23:59"], |it| is(it, is_time)),
        of("a zone", &[b"Europe/Berlin", b"UTC"], |it| is(it, |it| Clocks::named(it).is_some())),
        of("a key", &[b"one", b"\"two\""], |it| is(it, |it| idempotency::parse(it).is_some())),
        of("a buyer", &[b"ann"], |it| is(it, |it| BuyerId::parse(it).is_some())),
        of("who did it", &[b"clock", b"staff:usr_7"], |it| is(it, |it| By::parse(it).is_some())),
        of("a currency", &[b"EUR"], |it| is(it, |it| Currency::parse(it).is_some())),
        of("a field", &[b"seats[3]"], |it| is(it, |it| FieldPath::parse(it).is_some())),
        of("a signature", &[signed.as_bytes()], |it| is(it, is_signed)),
    ]);
}

/// What is no text never comes so far: it is refused where headers and paths are read.
fn is(bytes: &[u8], read: fn(&str) -> bool) -> bool {
    read(&String::from_utf8_lossy(bytes))
}

fn is_id(bytes: &[u8]) -> bool {
    is(bytes, |text| ListingId::parse(text).is_some())
}

fn cursors() -> Cursors<'static> {
    Cursors::new("events.list", "")
}

fn is_cursor(text: &str) -> bool {
    cursors().read(Some(text), |place| Some(place.len())).is_ok()
}

/// One that is read is written again, as the same instant.
fn is_time(text: &str) -> bool {
    let Some(time) = Time::parse(text) else { return false };
    let again = String::from_utf8_lossy(&time.write()).into_owned();
    assert!(Time::parse(&again).is_some(), "{text:?} is written as {again}");
    true
}

fn is_signed(text: &str) -> bool {
    signature::check(Some(text), BODY, SECRET, SECOND * 1_000).is_ok()
}
