//! Whatever Redis answers, reading it ends in an answer or an error: facts as fields, steps, and the replies of scripts. Needs no
//! server, and is alone in its program: memory is counted.

use onsale_domain::{ListingId, ListingKind, Tenant};
use onsale_engine_redis::facts::{self, Fields};
use onsale_engine_redis::layout::Layout;
use onsale_engine_redis::reply;
use onsale_tables::damage::{Decoder, try_all};
use onsale_tables::facts::all;
use redis::Value;

const EVENT: ListingId = ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Event, number: 7 };
/// Between names and values, and between the parts of a reply: longer than one byte, since charts have every byte in them.
const FIELD: &[u8] = b"\x1f\x1e\x1f";
const PART: &[u8] = b"\x1d\x1e\x1d";

#[test]
fn whatever_redis_answers_reading_it_ends_in_an_answer_or_an_error() {
    let known = all();
    let encoded: Vec<Vec<u8>> = known.iter().map(|fact| flat(&facts::encode(fact))).collect();
    let steps = known.iter().enumerate().map(|(number, fact)| {
        let mut fields = facts::encode(fact);
        fields.push("step", STEPS[number % STEPS.len()]);
        flat(&fields)
    });
    let steps: Vec<Vec<u8>> = steps.collect();
    let mut replies: Vec<Vec<u8>> = DETAILS.iter().map(|told| reply_of(told, b"")).collect();
    replies.extend(steps.iter().map(|step| reply_of(&("0", ""), step)));
    try_all(&[
        Decoder { name: "a fact", samples: encoded, read: is_fact },
        Decoder { name: "a step", samples: steps, read: is_step },
        Decoder { name: "a reply", samples: replies, read: is_reply },
        Decoder {
            name: "lines",
            samples: LINES.iter().map(|text| text.as_bytes().to_vec()).collect(),
            read: are_lines,
        },
        Decoder { name: "a layout", samples: vec![b"hash".to_vec(), b"compact".to_vec()], read: is_layout },
    ]);
}

/// Alone, under a key, and with who made it.
const STEPS: [&str; 3] = [
    "1763000000000|1",
    "1763000000000|1|0123456789abcdef0123456789abcdef",
    "1763000000000|1|0123456789abcdef0123456789abcdef:clock",
];
/// What a script decided, and the details that it tells.
const DETAILS: [(&str, &str); 5] = [
    ("1", ""),
    ("4", "10,,,,"),
    ("4", "22,s12:22;a0:24,limit,4,4"),
    ("5", "chart,7"),
    ("4", "30,,min_next,5000"),
];
const LINES: [&str; 3] = ["12:4200,13:4200", "3:2,4:1", "1:2:4200,2:1:900"];

fn flat(fields: &Fields) -> Vec<u8> {
    fields.flat().collect::<Vec<_>>().join(FIELD)
}

fn cut<'a>(bytes: &'a [u8], by: &[u8]) -> Vec<&'a [u8]> {
    let mut parts = Vec::new();
    let mut rest = bytes;
    while let Some(at) = rest.windows(by.len()).position(|piece| piece == by) {
        parts.push(&rest[..at]);
        rest = &rest[at + by.len()..];
    }
    parts.push(rest);
    parts
}

fn fields_of(bytes: &[u8]) -> Option<Fields> {
    Fields::from_flat(cut(bytes, FIELD).into_iter().map(<[u8]>::to_vec).collect()).ok()
}

fn is_fact(bytes: &[u8]) -> bool {
    fields_of(bytes).is_some_and(|fields| facts::decode(&fields).is_ok())
}

fn is_step(bytes: &[u8]) -> bool {
    let Some(fields) = fields_of(bytes) else { return false };
    let _ = (facts::begins_step(&fields), facts::length(&fields));
    facts::decode_step(EVENT, 1, 7, &[fields]).is_ok()
}

/// Outcome, details, epoch, offset, time, whether it was told before, facts.
fn reply_of((outcome, details): &(&str, &str), step: &[u8]) -> Vec<u8> {
    let details = details.replace(',', "\u{1f}\u{1e}\u{1f}").replace(';', ",");
    let parts: [&[u8]; 7] =
        [outcome.as_bytes(), details.as_bytes(), b"1", b"7", b"1763000000000", b"0", step];
    parts.join(PART)
}

fn is_reply(bytes: &[u8]) -> bool {
    let texts = |bytes: &[u8]| {
        let each = |text: &[u8]| Value::BulkString(text.to_vec());
        Value::Array(cut(bytes, FIELD).into_iter().filter(|_| !bytes.is_empty()).map(each).collect())
    };
    let value = |(place, part): (usize, &[u8])| match place {
        1 => texts(part),
        6 if part.is_empty() => Value::Array(Vec::new()),
        6 => Value::Array(vec![texts(part)]),
        _ => match std::str::from_utf8(part).ok().and_then(|text| text.parse().ok()) {
            Some(number) => Value::Int(number),
            None => Value::BulkString(part.to_vec()),
        },
    };
    let parts = Value::Array(cut(bytes, PART).into_iter().enumerate().map(value).collect());
    all().iter().take(1).for_each(|asked| drop(reply::read_plain(EVENT, &parts, asked, None)));
    reply::read(EVENT, parts, None).is_ok()
}

fn are_lines(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let read = [
        facts::read_seats(text).is_ok(),
        facts::read_seat_lines(text).is_ok(),
        facts::read_area_counts(text).is_ok(),
        facts::read_area_lines(text).is_ok(),
        facts::read_sku_counts(text).is_ok(),
        facts::read_sku_lines(text).is_ok(),
    ];
    read.contains(&true)
}

fn is_layout(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).ok().and_then(Layout::parse).is_some()
}
