//! Blocks, overrides, refunds, orders and a buyer's inventory.

use serde_json::{Value, json};

use crate::house::House;

fn confirmed(house: &House, hold: &Value) -> String {
    let path = format!("/v1/holds/{}/confirm", hold["id"].as_str().expect("an id"));
    let answer = house.post(
        &path,
        &[("hold-token", hold["token"].as_str().expect("a token"))],
        json!({"paid_elsewhere": true}),
    );
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()["order"].as_str().expect("an order").to_owned()
}

#[test]
fn rows_sections_seats_and_places_are_blocked_and_put_back() {
    let house = House::open();
    let event = house.event();
    let path = format!("/v1/events/{event}/blocks");
    let body = json!({"rows": [{"section": "A", "row": "1"}], "seats": ["A-2-1"],
                      "areas": [{"area": "floor", "count": 5}], "reason": "cameras"});
    let blocked = house.post(&path, &[], body).json();
    assert_eq!(
        (blocked["seats"].as_array().map(Vec::len), &blocked["reason"]),
        (Some(11), &json!("cameras"))
    );
    let left = house.get(&format!("/v1/events/{event}/availability")).json();
    assert_eq!((&left["totals"]["blocked"], &left["areas"][0]["blocked"]), (&json!(16), &json!(5)));
    let holds = format!("/v1/events/{event}/holds");
    let told = house.post(&holds, &[("onsale-buyer", "ann")], json!({"seats": ["A-1-1"]}));
    told.problem(409, "seat_blocked");
    let again = house.post(&path, &[], json!({"seats": ["A-2-1"], "reason": "cameras"}));
    assert_eq!((again.status, &again.json()["changed"]), (200, &json!(false)));
    let back = house.post(&path, &[], json!({"sections": ["A"], "unblock": true}));
    assert_eq!(back.json()["seats"].as_array().map(Vec::len), Some(11));
    house.hold(&event, "ann", &["A-1-1"]);
    for (body, field) in [
        (json!({"seats": ["A-1-1"]}), "reason"),
        (json!({"reason": "x"}), "seats"),
        (json!({"rows": [{"section": "A", "row": "9"}], "reason": "x"}), "rows[0]"),
        (json!({"sections": ["B"], "reason": "x"}), "sections[0]"),
        (json!({"areas": [{"area": "floor", "count": 9}], "unblock": true}), "areas[0].count"),
    ] {
        assert_eq!(house.post(&path, &[], body.clone()).problem(422, "invalid")["field"], field, "{body}");
    }
}

#[test]
fn an_override_raises_the_fence_and_the_old_token_is_stale() {
    let house = House::open();
    let event = house.event();
    let hold = house.hold(&event, "ann", &["A-1-1"]);
    let id = hold["id"].as_str().expect("an id");
    let path = format!("/v1/events/{event}/overrides");
    let body = json!({"hold": id, "reason": "group", "to": {"buyer": "bob"}});
    let done = house.post(&path, &[], body).json();
    assert!(done["to"]["fence"].as_u64() > hold["fence"].as_u64(), "{done}");
    let own = format!("/v1/holds/{id}");
    let token = hold["token"].as_str().expect("a token");
    let old = [("hold-token", token), ("onsale-buyer", "ann")];
    house.send("DELETE", &own, &old, None).problem(412, "stale_fence");
    house.send("DELETE", &own, &old[..1], None).problem(412, "wrong_token");
    let seen = house.send("GET", &own, &[("onsale-buyer", "bob")], None).json();
    let token = seen["token"].as_str().expect("bob's token");
    assert_eq!(house.send("DELETE", &own, &[("hold-token", token)], None).status, 200);
    let taken = house.hold(&event, "ann", &["A-1-2"]);
    let body = json!({"hold": taken["id"], "reason": "technical"});
    assert_eq!(house.post(&path, &[], body.clone()).status, 200);
    house.post(&path, &[], body).problem(410, "overridden");
    let unknown = json!({"hold": "hld_x", "reason": "x"});
    house.post(&path, &[], unknown).problem(404, "hold_unknown");
}

#[test]
fn sold_seats_return_only_by_refund() {
    let house = House::open();
    let event = house.event();
    let order = confirmed(&house, &house.hold(&event, "ann", &["A-1-1", "A-1-2"]));
    let own = format!("/v1/orders/{order}");
    let shown = house.get(&own).json();
    assert_eq!((&shown["total_minor"], &shown["buyer"]), (&json!(9000), &json!("ann")));
    let path = format!("{own}/refund");
    let part = house.post(&path, &[], json!({"seats": ["A-1-2"], "reason": "ill"})).json();
    assert_eq!((&part["returned_minor"], &part["payments"]), (&json!(4500), &json!([])));
    let told = house.post(&path, &[], json!({"seats": ["A-1-2"], "reason": "ill"}));
    told.problem(409, "not_refundable");
    let shown = house.get(&own).json();
    assert_eq!((&shown["total_minor"], &shown["returned_minor"]), (&json!(9000), &json!(4500)));
    assert_eq!(shown["seats"], json!([{"seat": "A-1-1", "price_minor": 4500}]), "what is left of it");
    let rest = house.post(&path, &[], json!({"reason": "ill"})).json();
    assert_eq!((&rest["returned_minor"], &rest["status"]), (&json!(9000), &json!("refunded")));
    assert_eq!(house.get(&own).json()["status"], "refunded");
    house.get("/v1/orders/ord_x").problem(404, "order_unknown");
    house.post("/v1/orders/ord_x/refund", &[], json!({"reason": "x"})).problem(404, "order_unknown");
}

#[test]
fn a_buyer_sees_all_holds_and_only_he_the_tokens() {
    let house = House::open();
    let (one, two) = (house.event(), house.event());
    house.hold(&one, "ann", &["A-1-1"]);
    house.hold(&two, "ann", &["A-1-1"]);
    house.hold(&two, "bob", &["A-1-2"]);
    for buyer in ["ann", "%61nn"] {
        let seen = house.get(&format!("/v1/buyers/{buyer}/holds")).json();
        assert_eq!(seen["data"].as_array().map(Vec::len), Some(2));
        for held in seen["data"].as_array().expect("a list") {
            // The other event has a hold of somebody else's as well.
            let position = if held["event"] == one { "1-4" } else { "1-5" };
            assert_eq!((&held["position"], held.get("token")), (&json!(position), None), "{held}");
        }
    }
    let own = house.send("GET", "/v1/buyers/ann/holds", &[("onsale-buyer", "ann")], None).json();
    assert!(own["data"][0]["token"].is_string());
    assert_eq!(house.get("/v1/buyers/nobody/holds").json()["data"], json!([]));
}
