//! Waiting for a seat: first come, first served, and nobody barges in.

use serde_json::json;

use crate::house::House;

#[test]
fn the_first_in_line_is_given_the_seat() {
    let house = House::open();
    let event = house.event();
    let hold = house.hold(&event, "ann", &["A-1-1"]);
    let path = format!("/v1/events/{event}/seats/A-1-1/queue");
    let join = |buyer: &str| house.send("POST", &path, &[("onsale-buyer", buyer)], None);
    let (bob, cat) = (join("bob"), join("cat"));
    assert_eq!((bob.status, &bob.json()["position"], &cat.json()["position"]), (201, &json!(1), &json!(2)));
    let again = join("bob");
    assert_eq!((again.status, &again.json()["place"]), (200, &bob.json()["place"]));
    join("ann").problem(409, "already_yours");
    let look = |buyer: &str| house.send("GET", &path, &[("onsale-buyer", buyer)], None);
    assert_eq!(look("cat").json()["waiting"]["position"], 2);
    look("dan").problem(404, "place_unknown");

    let token = hold["token"].as_str().expect("a token");
    let own = format!("/v1/events/{event}/holds/{}", hold["id"].as_str().expect("an id"));
    assert_eq!(house.send("DELETE", &own, &[("hold-token", token)], None).status, 200);
    let holds = format!("/v1/events/{event}/holds");
    let barging = house.post(&holds, &[("onsale-buyer", "dan")], json!({"seats": ["A-1-1"]}));
    barging.problem(409, "seat_held");
    let offer = look("bob").json()["offer"].clone();
    assert_eq!((&offer["offered"], &offer["id"]), (&json!(true), &bob.json()["place"]));
    let confirm = format!("{holds}/{}/confirm", offer["id"].as_str().expect("an id"));
    let token = offer["token"].as_str().expect("a token");
    assert_eq!(house.post(&confirm, &[("hold-token", token)], json!({})).status, 200);
    look("cat").problem(404, "place_unknown");
    join("cat").problem(409, "seat_sold");
}

#[test]
fn a_place_can_be_left_and_odd_seats_are_named_in_the_path() {
    let house = House::open();
    let seats =
        json!({"sections": [{"name": "A", "rows": [{"label": "1", "seats": [{"id": "a/b:🎭 \"x\"%"}]}]}]});
    let event = house.event_with(json!({"layout": seats}));
    house.hold(&event, "ann", &["a/b:🎭 \"x\"%"]);
    let path = format!("/v1/events/{event}/seats/a%2Fb%3A%F0%9F%8E%AD%20%22x%22%25/queue");
    let buyer = [("onsale-buyer", "bob")];
    let joined = house.send("POST", &path, &buyer, None);
    assert_eq!((joined.status, &joined.json()["seat"]), (201, &json!("a/b:🎭 \"x\"%")), "{joined:?}");
    let left = house.send("DELETE", &path, &buyer, None);
    assert_eq!((left.status, &left.json()["place"]), (200, &joined.json()["place"]));
    house.send("DELETE", &path, &buyer, None).problem(404, "place_unknown");
    for method in ["POST", "GET", "DELETE"] {
        let nowhere = format!("/v1/events/{event}/seats/Z-9/queue");
        house.send(method, &nowhere, &buyer, None).problem(404, "seat_unknown");
        assert_eq!(house.send(method, &path, &[], None).problem(422, "invalid")["field"], "Onsale-Buyer");
    }
}
