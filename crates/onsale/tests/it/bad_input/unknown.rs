//! What is not known, or was used before, is named: where it stands in the body, or the header or the part of the path.

use serde_json::{Value, json};

use crate::house::House;

#[test]
fn the_first_unknown_seat_or_area_is_pointed_at() {
    let house = House::open();
    let event = house.event();
    let (holds, blocks) = (format!("/v1/events/{event}/holds"), format!("/v1/events/{event}/blocks"));
    for (path, body, code, field, pointer) in [
        (&holds, json!({"seats": ["A-1-1", "Z-1", "Z-2"]}), "seat_unknown", "seats[1]", "/seats/1"),
        (&holds, json!({"seats": ["Z-1"], "or_queue": true}), "seat_unknown", "seats[0]", "/seats/0"),
        (&blocks, json!({"seats": ["A-1-1", "Z-9"], "reason": "x"}), "seat_unknown", "seats[1]", "/seats/1"),
        (&blocks, json!({"seats": ["Z-9"], "unblock": true}), "seat_unknown", "seats[0]", "/seats/0"),
        (
            &blocks,
            json!({"areas": [{"area": "moon", "count": 1}], "reason": "x"}),
            "area_unknown",
            "areas[0].area",
            "/areas/0/area",
        ),
        (
            &holds,
            json!({"areas": [{"area": "moon", "count": 1}]}),
            "area_unknown",
            "areas[0].area",
            "/areas/0/area",
        ),
    ] {
        let told = house.post(path, &[("onsale-buyer", "ann")], body).problem(404, code);
        assert_eq!((&told["field"], &told["pointer"]), (&json!(field), &json!(pointer)), "{told}");
    }
    let hold = house.hold(&event, "ann", &["A-1-1"]);
    let (id, token) = (hold["id"].as_str().expect("an id"), hold["token"].as_str().expect("a token"));
    let body = json!({"add_seats": ["A-1-2", "Z-9"]}).to_string();
    let told = house.send("PATCH", &format!("/v1/holds/{id}"), &[("hold-token", token)], Some(&body));
    let told = told.problem(404, "seat_unknown");
    assert_eq!(
        (&told["field"], &told["pointer"]),
        (&json!("add_seats[1]"), &json!("/add_seats/1")),
        "{told}"
    );
}

#[test]
fn an_unknown_seat_in_the_path_is_named_as_that() {
    let house = House::open();
    let seat = format!("/v1/events/{}/seats/Z-1", house.event());
    let queue = format!("{seat}/queue");
    let ann = [("onsale-buyer", "ann")];
    for answer in [
        house.get(&seat),
        house.send("GET", &queue, &ann, None),
        house.send("POST", &queue, &ann, None),
        house.send("DELETE", &queue, &ann, None),
    ] {
        let told = answer.problem(404, "seat_unknown");
        assert_eq!((&told["field"], &told["pointer"]), (&json!("seat"), &Value::Null), "{told}");
        let detail = told["detail"].as_str().expect("a sentence");
        assert!(told["seats"].is_array() || !detail.contains("`seats`"), "{told}");
    }
}

#[test]
fn a_key_that_was_used_before_is_named_by_its_header() {
    let house = House::open();
    let path = format!("/v1/events/{}/holds", house.event());
    let headers = [("onsale-buyer", "ann"), ("idempotency-key", "one")];
    assert_eq!(house.post(&path, &headers, json!({"seats": ["A-1-1"]})).status, 201);
    let told = house.post(&path, &headers, json!({"seats": ["A-1-2"]})).problem(422, "key_reused");
    assert_eq!((&told["field"], &told["pointer"]), (&json!("Idempotency-Key"), &Value::Null), "{told}");
}
