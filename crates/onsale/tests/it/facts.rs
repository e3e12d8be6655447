//! The log as pages and as a live stream.

use std::io::{BufReader, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::document::schema;
use crate::house::{House, KEY, read_chunk, read_head};

/// A fact is what the document describes, in a stream as in a page.
fn check_fact(fact: &Value) {
    let schema = json!({"$ref": "#/components/schemas/Fact"});
    let told = schema::check(onsale_edge::http::document::document(), &schema, fact);
    assert_eq!(told, Ok(()), "a fact that the document does not describe: {fact}");
}

/// A reader of one event stream.
struct Reader {
    reader: BufReader<TcpStream>,
    text: String,
}

#[derive(Debug, PartialEq)]
struct Event {
    id: Option<String>,
    kind: String,
    data: Value,
}

impl Reader {
    fn open(house: &House, event: &str, query: &str, headers: &str) -> Reader {
        let mut stream = house.connect();
        let head = format!(
            "GET /v1/events/{event}/stream{query} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {KEY}\r\n{headers}\r\n"
        );
        stream.write_all(head.as_bytes()).expect("sent");
        let mut reader = BufReader::new(stream);
        let (status, headers) = read_head(&mut reader);
        assert_eq!(status, 200);
        assert!(
            headers.contains(&("content-type".to_owned(), "text/event-stream".to_owned())),
            "{headers:?}"
        );
        Reader { reader, text: String::new() }
    }

    /// The next block between blank lines; `None` when the stream has ended.
    fn block(&mut self) -> Option<String> {
        loop {
            if let Some((block, rest)) = self.text.split_once("\n\n") {
                let (block, rest) = (block.to_owned(), rest.to_owned());
                self.text = rest;
                return Some(block);
            }
            let chunk = read_chunk(&mut self.reader)?;
            self.text.push_str(std::str::from_utf8(&chunk).expect("text"));
        }
    }

    fn next(&mut self) -> Option<Event> {
        let block = self.block()?;
        let field = |name: &str| {
            block.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ").map(str::to_owned))
        };
        let (kind, data) = (field("event")?, serde_json::from_str(&field("data")?).expect("JSON"));
        // All others are about the stream itself.
        if !matches!(kind.as_str(), "position" | "reload") {
            check_fact(&data);
        }
        Some(Event { id: field("id"), kind, data })
    }
}

#[test]
fn facts_come_in_pages_that_lose_nothing() {
    let house = House::open();
    let event = house.event();
    for n in 1..=5 {
        house.hold(&event, "ann", &[&format!("A-1-{n}")]);
    }
    let (mut kinds, mut after) = (Vec::new(), "0".to_owned());
    loop {
        let page = house.get(&format!("/v1/events/{event}/facts?limit=2&after={after}")).json();
        for fact in page["data"].as_array().expect("a list") {
            assert_eq!(fact["offset"], kinds.len() + 1);
            kinds.push(fact["kind"].as_str().expect("a kind").to_owned());
        }
        after = page["next"].as_str().expect("a cursor").to_owned();
        if page["more"] == false {
            break;
        }
    }
    assert_eq!(kinds[..4], ["event_created", "chart_adopted", "status_changed", "hold_placed"]);
    assert_eq!((kinds.len(), after.as_str()), (8, "1-8"));
    let last = house.get(&format!("/v1/events/{event}/facts?after=1-7")).json()["data"][0].clone();
    assert_eq!(last["seats"], json!([{"seat": "A-1-5", "price_minor": 4500}]));
    assert!(last["hold"].as_str().is_some_and(|hold| hold.starts_with("hld_0000")), "{last}");
    assert!(last.get("token").is_none());
    house.get(&format!("/v1/events/{event}/facts?after=1-99")).problem(410, "reload");
    let gone = house.get(&format!("/v1/events/{event}/facts?after=7-1")).problem(410, "reload");
    assert_eq!(gone["position"], "1-8", "the position to go on from");
    assert_eq!(
        house.get(&format!("/v1/events/{event}/facts?after=x")).problem(422, "invalid")["field"],
        "after"
    );
}

#[test]
fn a_stream_tells_every_fact_and_resumes_with_all_that_was_missed() {
    let house = House::open();
    let event = house.event();
    let mut live = Reader::open(&house, &event, "", "");
    let first = live.next().expect("a first event");
    assert_eq!((first.kind.as_str(), first.id.as_deref()), ("position", Some("1-3")));
    house.hold(&event, "ann", &["A-1-1"]);
    let placed = live.next().expect("a fact");
    assert_eq!((placed.kind.as_str(), placed.id.as_deref()), ("hold_placed", Some("1-4")));
    drop(live);
    house.hold(&event, "ann", &["A-1-2"]);
    house.hold(&event, "ann", &["A-1-3"]);
    for (query, headers) in [("", "last-event-id: 1-4\r\n"), ("?after=1-4", ""), ("?after=4", "")] {
        let mut resumed = Reader::open(&house, &event, query, headers);
        assert_eq!(resumed.next().expect("a first event").data, json!({"after": "1-4", "position": "1-6"}));
        for (id, seat) in [("1-5", "A-1-2"), ("1-6", "A-1-3")] {
            let fact = resumed.next().expect("a missed fact");
            assert_eq!((fact.id.as_deref(), &fact.data["seats"][0]["seat"]), (Some(id), &json!(seat)));
        }
    }
    let mut lost = Reader::open(&house, &event, "?after=1-77", "");
    let reload = lost.next().expect("an event");
    assert_eq!((reload.kind.as_str(), reload.id.as_deref()), ("reload", Some("1-6")));
    assert_eq!(reload.data, json!({"position": "1-6"}));
    assert_eq!(lost.next(), None);
    house.get(&format!("/v1/events/{event}/stream?after=x")).problem(422, "invalid");
}

#[test]
fn a_quiet_stream_shows_that_it_lives_and_a_stop_ends_it() {
    let house = House::open_with(|config| config.limits.stream_heartbeat_ms = 100);
    let event = house.event();
    let mut live = Reader::open(&house, &event, "", "");
    live.next().expect("a first event");
    assert_eq!(live.block().as_deref(), Some(": still here"));
    let started = Instant::now();
    house.stop();
    while live.block().is_some() {}
    assert!(started.elapsed() < Duration::from_secs(3));
}

#[test]
fn streams_have_a_limit_and_give_their_place_back() {
    let house = House::open_with(|config| {
        config.limits.streams_max = 1;
        config.limits.stream_heartbeat_ms = 100;
    });
    let event = house.event();
    let one = Reader::open(&house, &event, "", "");
    let told = house.get(&format!("/v1/events/{event}/stream"));
    told.problem(503, "streams_full");
    assert_eq!(told.header("retry-after"), Some("5"));
    drop(one);
    let free = || house.get("/metrics").body.windows(17).any(|text| text == b"onsale_streams 0\n".as_slice());
    let started = Instant::now();
    while !free() && started.elapsed() < Duration::from_secs(5) {
        std::thread::sleep(Duration::from_millis(20));
    }
    Reader::open(&house, &event, "", "");
}

#[test]
fn a_reader_who_takes_nothing_is_cut() {
    let house = House::open_with(|config| config.limits.write_timeout_ms = 300);
    let event = house.event_with(json!({"buyer_limit": 50}));
    // A reader who never reads; the log is repeated to them until every buffer on the way is full.
    let seats: Vec<String> = (1..=10).map(|n| format!("A-1-{n}")).collect();
    let _slow = Reader::open(&house, &event, "?after=0", "");
    let open = || {
        let page = String::from_utf8(house.get("/metrics").body).expect("text");
        page.lines()
            .find_map(|line| line.strip_prefix("onsale_streams ")?.parse::<f64>().ok())
            .expect("a gauge")
    };
    assert_eq!(open() as u32, 1);
    let started = Instant::now();
    while open() > 0.0 {
        for _ in 0..200 {
            let seats: Vec<&str> = seats.iter().map(String::as_str).collect();
            let hold = house.hold(&event, "ann", &seats);
            let own = format!("/v1/holds/{}", hold["id"].as_str().expect("an id"));
            house.send("DELETE", &own, &[("hold-token", hold["token"].as_str().expect("a token"))], None);
        }
        assert!(started.elapsed() < Duration::from_secs(60), "the slow reader was never cut");
    }
}

#[test]
fn a_fact_says_who_made_it_if_that_was_not_the_buyer() {
    let house = House::open();
    let event = house.event();
    house.hold(&event, "ann", &["A-1-1"]);
    let block = json!({"seats": ["A-2-1"], "reason": "a pillar"});
    assert_eq!(house.post(&format!("/v1/events/{event}/blocks"), &[], block).status, 200);
    let facts = house.get(&format!("/v1/events/{event}/facts")).json();
    let by = |kind: &str| {
        let facts = facts["data"].as_array().expect("facts");
        facts.iter().find(|fact| fact["kind"] == kind).expect("such a fact")["by"].clone()
    };
    assert_eq!(by("event_created"), "staff:house");
    assert_eq!(by("hold_placed"), Value::Null, "the buyer's own");
    assert_eq!(by("seats_blocked"), "staff:house");
}
