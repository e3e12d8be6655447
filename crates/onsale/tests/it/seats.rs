//! The chart, the seats' status and what is left.

use serde_json::json;

use crate::house::House;

#[test]
fn the_status_of_all_seats_comes_as_json_and_as_two_bits_a_seat() {
    let house = House::open();
    let event = house.event();
    house.hold(&event, "ann", &["A-1-2"]);
    let path = format!("/v1/events/{event}/seats");
    let shown = house.get(&path);
    assert_eq!(
        (&shown.json()["seats"]["A-1-1"], &shown.json()["seats"]["A-1-2"]),
        (&json!("available"), &json!("held"))
    );
    assert_eq!(shown.header("onsale-position"), shown.json()["position"].as_str());

    let binary = house.send("GET", &path, &[("accept", "application/octet-stream")], None);
    assert_eq!(binary.header("content-type"), Some("application/octet-stream"));
    assert_eq!((binary.body.len(), binary.body[0]), (5, 0b0000_0100));
    assert_eq!(binary.header("onsale-seats"), Some("20"));
    assert_eq!(house.get(&format!("{path}?format=binary")).body, binary.body);
    house.get(&format!("{path}?format=xml")).problem(422, "invalid");

    let etag = shown.header("etag").expect("an etag").to_owned();
    let same = house.send("GET", &path, &[("if-none-match", &etag)], None);
    assert_eq!((same.status, same.body.len()), (304, 0));
    house.hold(&event, "ann", &["A-1-3"]);
    assert_eq!(house.send("GET", &path, &[("if-none-match", &etag)], None).status, 200);
}

#[test]
fn the_chart_is_known_by_its_version() {
    let house = House::open();
    let event = house.event();
    let path = format!("/v1/events/{event}/chart");
    let chart = house.get(&path);
    let seat = &chart.json()["sections"][0]["rows"][1]["seats"][2];
    assert_eq!(
        seat,
        &json!({"index": 12, "id": "A-2-3", "label": "3", "tier": 0, "price_minor": 4500, "x": 3, "y": 2})
    );
    assert_eq!(chart.json()["areas"][0]["capacity"], 50);
    let etag = chart.header("etag").expect("an etag").to_owned();
    assert_eq!(chart.header("cache-control"), Some("no-cache"));
    let version = etag.trim_start_matches("W/").trim_matches('"').to_owned();
    let kept = house.get(&format!("{path}?version={version}"));
    assert_eq!(kept.header("cache-control"), Some("private, max-age=31536000, immutable"));
    house.hold(&event, "ann", &["A-1-3"]);
    assert_eq!(house.send("GET", &path, &[("if-none-match", &etag)], None).status, 304);
    let dearer = json!({"tiers": [{"name": "S", "price_minor": 9}, {"name": "F", "price_minor": 9}]});
    house.send("PATCH", &format!("/v1/events/{event}"), &[], Some(&dearer.to_string()));
    assert_eq!(house.send("GET", &path, &[("if-none-match", &etag)], None).status, 200);
}

#[test]
fn one_seat_tells_where_it_is_what_it_costs_and_whether_it_is_free() {
    let house = House::open();
    let event = house.event();
    house.hold(&event, "ann", &["A-2-3"]);
    let path = format!("/v1/events/{event}/seats/A-2-3");
    let told = house.get(&path);
    let seat = told.json();
    assert_eq!((told.status, &seat["id"], &seat["status"]), (200, &json!("A-2-3"), &json!("held")));
    assert_eq!((&seat["section"], &seat["row"], &seat["label"]), (&json!("A"), &json!("2"), &json!("3")));
    assert_eq!((&seat["tier"], &seat["price_minor"]), (&json!("Stalls"), &json!(4500)));
    assert_eq!((&seat["currency"], &seat["x"], &seat["y"]), (&json!("EUR"), &json!(3), &json!(2)));
    assert_eq!(seat.get("buyer"), None, "who holds it is nobody's business");
    let etag = told.header("etag").expect("a tag").to_owned();
    assert_eq!(house.send("GET", &path, &[("if-none-match", &etag)], None).status, 304);
    house.hold(&event, "ann", &["A-2-4"]);
    assert_eq!(house.send("GET", &path, &[("if-none-match", &etag)], None).status, 200);
    house.get(&format!("/v1/events/{event}/seats/Z-9")).problem(404, "seat_unknown");
    house.get("/v1/events/nowhere/seats/A-1-1").problem(404, "listing_unknown");
}

#[test]
fn what_is_left_adds_up() {
    let house = House::open();
    let event = house.event();
    let body = json!({"seats": ["A-1-1", "A-1-2"], "areas": [{"area": "floor", "count": 5}]});
    house.post(&format!("/v1/events/{event}/holds"), &[("onsale-buyer", "ann")], body);
    let left = house.get(&format!("/v1/events/{event}/availability")).json();
    let totals = json!({"available": 63, "held": 7, "sold": 0, "blocked": 0, "total": 70});
    assert_eq!(left["totals"], totals);
    assert_eq!(left["sections"][0]["held"], 2);
    assert_eq!(left["sections"][0]["tiers"][0]["tier"], "Stalls");
    assert_eq!(left["tiers"].as_array().map(Vec::len), Some(1));
    assert_eq!((&left["areas"][0]["held"], &left["areas"][0]["price_minor"]), (&json!(5), &json!(2000)));
}

#[test]
fn large_answers_are_compressed_when_asked() {
    let house = House::open();
    let event = house.event();
    for (path, asked) in [("seats", "gzip"), ("chart", "br")] {
        let path = format!("/v1/events/{event}/{path}");
        let plain = house.get(&path);
        let packed = house.send("GET", &path, &[("accept-encoding", asked)], None);
        assert_eq!(packed.header("content-encoding"), Some(asked));
        assert!(packed.body.len() < plain.body.len());
    }
}
