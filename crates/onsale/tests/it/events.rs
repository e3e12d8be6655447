//! Venues and events over HTTP.

use onsale_edge::http::time::Time;
use serde_json::{Value, json};

use crate::house::{House, layout};

fn venue(house: &House) -> String {
    let made = house.post("/v1/venues", &[], json!({"name": "Hall", "place": "Oslo", "layout": layout()}));
    assert_eq!(made.status, 201, "{made:?}");
    let body = made.json();
    assert_eq!((&body["seats"], &body["areas"], &body["layout_version"]), (&json!(20), &json!(1), &json!(1)));
    body["id"].as_str().expect("an id").to_owned()
}

fn wish(venue: &str) -> Value {
    json!({
        "name": "Night", "venue": venue, "starts_at": "2096-10-02T07:06:40Z", "ends_at": "2096-10-02T09:53:20Z",
        "currency": "EUR", "tiers": [{"name": "S", "price_minor": 1}, {"name": "F", "price_minor": 2}],
    })
}

#[test]
fn an_event_uses_a_venues_layout_and_later_a_newer_one() {
    let house = House::open();
    let venue = venue(&house);
    let shown = house.get(&format!("/v1/venues/{venue}")).json();
    assert_eq!(shown["layout"]["sections"][0]["rows"][0]["seats"][0]["id"], "A-1-1");
    let event = house.post("/v1/events", &[], wish(&venue));
    assert_eq!((event.status, &event.json()["status"]), (201, &json!("draft")), "{event:?}");
    let path = format!("/v1/events/{}", event.json()["id"].as_str().expect("an id"));

    let mut larger = layout();
    larger["areas"][0]["capacity"] = json!(80);
    let published = house.post(&format!("/v1/venues/{venue}/layouts"), &[], larger);
    assert_eq!((published.status, &published.json()["layout_version"]), (201, &json!(2)));
    let adopted = house.send("PATCH", &path, &[], Some("{\"layout_version\": 2}"));
    assert_eq!((adopted.status, &adopted.json()["places"]), (200, &json!(100)));
    assert_eq!(adopted.json(), house.get(&path).json());
    let told = house.send("PATCH", &path, &[], Some("{\"layout_version\": 9}"));
    assert_eq!(told.problem(422, "invalid")["field"], "layout_version");

    let changed = house.send(
        "PATCH",
        &path,
        &[],
        Some("{\"name\": \"Day\", \"sale_opens_at\": \"2027-03-01T20:30:00+01:00\"}"),
    );
    assert_eq!(changed.json()["name"], "Day");
    assert_eq!(changed.json()["sale_opens_at"], "2027-03-01T19:30:00.000Z");
    let taken_away = house.send("PATCH", &path, &[], Some("{\"sale_opens_at\": null}"));
    assert_eq!(taken_away.json()["sale_opens_at"], Value::Null);
    let same = house.send("PATCH", &path, &[], Some("{\"name\": \"Day\"}"));
    assert_eq!((same.status, same.json()), (200, taken_away.json()), "nothing had to change");
    let opened = house.send("PATCH", &path, &[], Some("{\"status\": \"on_sale\"}"));
    assert_eq!(opened.json()["status"], "on_sale");
    house.send("PATCH", &path, &[], Some("{\"status\": \"draft\"}")).problem(409, "status_conflict");
    let two = house.send("PATCH", &path, &[], Some("{\"status\": \"closed\", \"name\": \"X\"}"));
    assert_eq!(two.problem(422, "invalid")["field"], "status");
    house.send("PATCH", &path, &[], Some("{}")).problem(422, "invalid");
}

#[test]
fn the_same_key_creates_one_event() {
    let house = House::open();
    let venue = venue(&house);
    let key = [("idempotency-key", "opening-night")];
    let first = house.post("/v1/events", &key, wish(&venue));
    let again = house.post("/v1/events", &key, wish(&venue));
    assert_eq!((first.status, &first.body), (again.status, &again.body));
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    let mut other = wish(&venue);
    other["name"] = json!("Other");
    house.post("/v1/events", &key, other).problem(422, "key_reused");
    assert_eq!(house.get("/v1/events").json()["data"].as_array().map(Vec::len), Some(1));
}

#[test]
fn lists_have_cursors() {
    let house = House::open();
    let mut made: Vec<String> = (0..5).map(|_| house.event()).collect();
    made.sort();
    let (mut seen, mut path) = (Vec::new(), "/v1/events?limit=2".to_owned());
    loop {
        let page = house.get(&path).json();
        seen.extend(page["data"].as_array().expect("a list").iter().map(|event| event["id"].clone()));
        let Some(next) = page["next"].as_str() else { break };
        path = format!("/v1/events?limit=2&after={next}");
    }
    assert_eq!(json!(seen), json!(made));
    assert_eq!(house.get("/v1/events?limit=0").problem(422, "invalid")["field"], "limit");
    house.get("/v1/events?limit=x").problem(422, "invalid");
    house.get("/v1/events?colour=1").problem(422, "invalid");
    assert_eq!(house.get("/v1/venues?after=x").problem(422, "invalid")["field"], "after");
}

#[test]
fn every_currency_with_a_minor_unit_is_taken() {
    let house = House::open();
    let venue = venue(&house);
    for code in ["EUR", "USD", "JPY", "KWD", "CHF", "INR", "BRL", "VES", "SLE"] {
        let mut body = wish(&venue);
        body["currency"] = json!(code);
        let made = house.post("/v1/events", &[], body);
        assert_eq!((made.status, &made.json()["currency"]), (201, &json!(code)), "{made:?}");
    }
}

#[test]
fn a_wrong_event_is_named_by_its_field() {
    let house = House::open();
    let venue = venue(&house);
    let table = [
        ("name", json!(""), "name"),
        ("name", json!("a\nb"), "name"),
        ("currency", json!("euro"), "currency"),
        ("currency", json!("eur"), "currency"),
        ("currency", json!("EUX"), "currency"),
        ("currency", json!("XXX"), "currency"),
        ("currency", json!("XAU"), "currency"),
        ("tiers", json!([]), "tiers"),
        (
            "tiers",
            json!([{"name": "S", "price_minor": -1}, {"name": "F", "price_minor": 1}]),
            "tiers[0].price_minor",
        ),
        ("tiers", json!([{"name": "S", "price_minor": 1.5}]), "tiers[0].price_minor"),
        ("ends_at", json!(Time(1)), "ends_at"),
        ("starts_at", json!("1969-12-31T23:59:59Z"), "starts_at"),
        ("hold_seconds", json!(i64::MIN), "hold_seconds"),
        ("buyer_limit", json!(0), "buyer_limit"),
        ("buyer_limit", json!(51), "buyer_limit"),
        ("status", json!("sold"), "status"),
        ("venue", json!("ven_x"), "venue"),
        ("layout_version", json!(7), "layout_version"),
        ("layout", layout(), "layout"),
        ("surprise", json!(1), "surprise"),
    ];
    for (name, value, field) in table {
        let mut body = wish(&venue);
        body[name] = value.clone();
        assert_eq!(
            house.post("/v1/events", &[], body).problem(422, "invalid")["field"],
            field,
            "{name}={value}"
        );
    }
    house.get("/v1/events/evt_0000000000000000").problem(404, "listing_unknown");
    house.get(&format!("/v1/events/{venue}")).problem(404, "listing_unknown");
    house.get("/v1/venues/x").problem(404, "listing_unknown");
}

#[test]
fn a_time_is_rfc_3339_with_its_offset_and_anything_else_is_told_how_it_is_written() {
    let house = House::open();
    let venue = venue(&house);
    let tell = |value: &Value| {
        let mut body = wish(&venue);
        body["starts_at"] = value.clone();
        let told = house.post("/v1/events", &[], body).problem(422, "invalid");
        assert_eq!(told["field"], "starts_at", "{value}");
        told["detail"].as_str().expect("a sentence").to_owned()
    };
    for wrong in [
        json!("2096-10-02T07:06:40"),
        json!("2096-10-02"),
        json!("2096-10-02T24:00:00Z"),
        json!("2096-12-31T23:59:60Z"),
        json!("2096-10-02 07:06:40Z"),
        json!("tomorrow"),
        json!(null),
        json!(true),
    ] {
        assert!(tell(&wrong).contains("2027-03-01T19:30:00Z"), "{wrong}");
    }
    assert!(tell(&json!(4_000_000_000_000_i64)).contains("write \"2096-10-02T07:06:40.000Z\""));
    assert!(tell(&json!("2262-04-12T00:00:00Z")).contains("2200"), "beyond what the rules take");
    assert!(tell(&json!("1970-01-01T00:00:00+00:01")).contains("1970"));

    let mut body = wish(&venue);
    body["starts_at"] = json!("2096-10-02T09:06:40.1239+02:00");
    let made = house.post("/v1/events", &[], body);
    assert_eq!((made.status, &made.json()["starts_at"]), (201, &json!("2096-10-02T07:06:40.123Z")));
}

#[test]
fn labels_may_be_anything_printable_up_to_64_characters() {
    let house = House::open();
    let odd = ["a:b_c-d", "\"quoted\"", "it's", "🎭🎟️", "日本", "a/b c%d?e#f", "é".repeat(64).leak()];
    let seats: Vec<Value> = odd.iter().map(|id| json!({"id": id})).collect();
    let layout =
        |seats: Vec<Value>| json!({"sections": [{"name": "A", "rows": [{"label": "1", "seats": seats}]}]});
    let event = house.event_with(json!({"layout": layout(seats), "buyer_limit": 20}));
    let hold = house.hold(&event, "ann", &odd);
    assert_eq!(hold["seats"].as_array().map(Vec::len), Some(odd.len()));
    let shown = house.get(&format!("/v1/events/{event}/seats")).json();
    for id in odd {
        assert_eq!(shown["seats"][id], "held", "{id}");
    }
    for bad in ["é".repeat(65), String::new(), "a\u{7}".to_owned()] {
        let body = json!({"name": "Hall", "layout": layout(vec![json!({"id": bad})])});
        let told = house.post("/v1/venues", &[], body).problem(422, "invalid");
        assert_eq!(told["field"], "layout.sections[0].rows[0].seats[0].id");
    }
}
