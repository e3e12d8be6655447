//! Waiting for a seat: first come, first served, and nobody barges in.

use std::sync::atomic::Ordering;

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
    assert_eq!(
        (bob.status, &bob.json()["place_in_line"], &cat.json()["place_in_line"]),
        (201, &json!(1), &json!(2))
    );
    let again = join("bob");
    assert_eq!((again.status, &again.json()["place"]), (200, &bob.json()["place"]));
    join("ann").problem(409, "already_yours");
    let look = |buyer: &str| house.send("GET", &path, &[("onsale-buyer", buyer)], None);
    assert_eq!(look("cat").json()["waiting"]["place_in_line"], 2);
    look("dan").problem(404, "place_unknown");

    let token = hold["token"].as_str().expect("a token");
    let own = format!("/v1/holds/{}", hold["id"].as_str().expect("an id"));
    assert_eq!(house.send("DELETE", &own, &[("hold-token", token)], None).status, 200);
    let holds = format!("/v1/events/{event}/holds");
    let barging = house.post(&holds, &[("onsale-buyer", "dan")], json!({"seats": ["A-1-1"]}));
    barging.problem(409, "seat_held");
    let offer = look("bob").json()["offer"].clone();
    assert_eq!((&offer["offered"], &offer["id"]), (&json!(true), &bob.json()["place"]));
    let confirm = format!("/v1/holds/{}/confirm", offer["id"].as_str().expect("an id"));
    let token = offer["token"].as_str().expect("a token");
    assert_eq!(house.post(&confirm, &[("hold-token", token)], json!({"paid_elsewhere": true})).status, 200);
    look("cat").problem(404, "place_unknown");
    join("cat").problem(409, "seat_sold");
}

#[test]
fn who_asks_for_one_taken_seat_or_its_queue_waits_for_it() {
    let house = House::open();
    let event = house.event();
    let hold = house.hold(&event, "ann", &["A-1-1"]);
    let path = format!("/v1/events/{event}/holds");
    let wish = |seat: &str| json!({"seats": [seat], "or_queue": true});
    let ask = |buyer: &str, seat: &str| house.post(&path, &[("onsale-buyer", buyer)], wish(seat));

    let keyed = [("onsale-buyer", "bob"), ("idempotency-key", "one")];
    let waiting = house.post(&path, &keyed, wish("A-1-1"));
    assert_eq!((waiting.status, &waiting.json()["place_in_line"]), (202, &json!(1)), "{waiting:?}");
    assert_eq!(waiting.json()["seat"], "A-1-1");
    let queue = format!("/v1/events/{event}/seats/A-1-1/queue");
    assert_eq!(waiting.header("location"), Some(queue.as_str()));
    let again = ask("bob", "A-1-1");
    assert_eq!((again.status, &again.json()["place"]), (202, &waiting.json()["place"]));
    assert_eq!(ask("cat", "A-1-1").json()["place_in_line"], 2);
    assert_eq!(ask("dan", "A-1-2").status, 201);
    assert_eq!(ask("ann", "A-1-1").json()["id"], hold["id"]);

    let own = format!("/v1/holds/{}", hold["id"].as_str().expect("an id"));
    let token = hold["token"].as_str().expect("a token");
    assert_eq!(house.send("DELETE", &own, &[("hold-token", token)], None).status, 200);
    let offered = ask("bob", "A-1-1");
    assert_eq!((offered.status, &offered.json()["id"]), (200, &waiting.json()["place"]), "{offered:?}");
    let replayed = house.post(&path, &keyed, wish("A-1-1"));
    assert_eq!((replayed.status, replayed.header("idempotent-replayed")), (202, Some("true")));
    assert_eq!(replayed.json(), waiting.json());
    house.post(&path, &keyed, wish("A-1-3")).problem(422, "key_reused");

    for more in [
        json!({"seats": ["A-1-1", "A-1-2"]}),
        json!({"seats": []}),
        json!({"seats": ["A-1-1"], "areas": [{"area": "floor", "count": 1}]}),
        json!({"best_available": {"count": 1}}),
    ] {
        let mut body = more;
        body["or_queue"] = json!(true);
        let told = house.post(&path, &[("onsale-buyer", "eve")], body);
        assert_eq!(told.problem(422, "invalid")["field"], "or_queue");
    }
    ask("eve", "Z-9").problem(404, "seat_unknown");
}

#[test]
fn a_place_is_found_by_its_own_id_before_it_becomes_a_hold_and_after() {
    let house = House::open();
    let event = house.event();
    let hold = house.hold(&event, "ann", &["A-1-1"]);
    let path = format!("/v1/events/{event}/seats/A-1-1/queue");
    let join = |buyer: &str| house.post(&path, &[("onsale-buyer", buyer)], json!({})).json();
    let (bob, cat) = (join("bob"), join("cat"));
    let show = |place: &serde_json::Value| {
        house.get(&format!("/v1/holds/{}", place["place"].as_str().expect("an id"))).json()
    };
    for (place, in_line) in [(&bob, 1), (&cat, 2)] {
        let told = show(place);
        assert_eq!(
            (&told["id"], &told["event"], &told["status"]),
            (&place["place"], &json!(event), &json!("waiting")),
            "{told}"
        );
        for same in ["place", "seat", "expires_at"] {
            assert_eq!(told[same], place[same], "{told}");
        }
        assert_eq!(told["place_in_line"], in_line);
        assert!(told["expires_in_seconds"].as_u64().is_some_and(|left| left <= 300), "{told}");
    }
    let own = format!("/v1/holds/{}", hold["id"].as_str().expect("an id"));
    let token = hold["token"].as_str().expect("a token");
    assert_eq!(house.send("DELETE", &own, &[("hold-token", token)], None).status, 200);
    assert_eq!((&show(&bob)["status"], &show(&cat)["place_in_line"]), (&json!("held"), &json!(1)));
    house.engine.ahead_ms.fetch_add(300_000, Ordering::Relaxed);
    assert_eq!(show(&cat)["status"], "expired");
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

#[test]
fn what_becomes_of_a_place_names_its_buyer_and_seat() {
    let house = House::open();
    let event = house.event();
    let hold = house.hold(&event, "ann", &["A-1-1"]);
    let path = format!("/v1/events/{event}/seats/A-1-1/queue");
    let ask = |method: &str, buyer: &str| house.send(method, &path, &[("onsale-buyer", buyer)], None);
    let places: Vec<_> =
        ["bob", "cat", "dan"].iter().map(|buyer| ask("POST", buyer).json()["place"].clone()).collect();
    assert_eq!(ask("DELETE", "cat").status, 200);
    let own = format!("/v1/holds/{}", hold["id"].as_str().expect("an id"));
    let token = hold["token"].as_str().expect("a token");
    assert_eq!(house.send("DELETE", &own, &[("hold-token", token)], None).status, 200);
    // Bob's offer lapses, and with the sale of nobody's seat Dan's would, too.
    house.engine.ahead_ms.fetch_add(60_000, Ordering::Relaxed);
    house
        .post(&format!("/v1/events/{event}/holds"), &[("onsale-buyer", "eve")], json!({"seats": ["A-1-1"]}))
        .problem(409, "seat_held");
    let facts = house.get(&format!("/v1/events/{event}/facts")).json();
    let told = |kind: &str| {
        let mut of_kind = facts["data"].as_array().expect("facts").iter().filter(|fact| fact["kind"] == kind);
        of_kind.next().cloned().unwrap_or_else(|| panic!("no {kind} in {facts}"))
    };
    let of =
        |fact: &serde_json::Value, id: &str| [fact[id].clone(), fact["buyer"].clone(), fact["seat"].clone()];
    assert_eq!(of(&told("queue_left"), "place"), [places[1].clone(), json!("cat"), json!("A-1-1")]);
    assert_eq!(of(&told("seat_offered"), "hold"), [places[0].clone(), json!("bob"), json!("A-1-1")]);
    let lapsed = told("hold_expired");
    assert_eq!(
        (&lapsed["hold"], &lapsed["buyer"], &lapsed["seats"]),
        (&places[0], &json!("bob"), &json!(["A-1-1"]))
    );
}

#[test]
fn a_hold_that_was_no_offer_expires_without_a_name() {
    let house = House::open();
    let event = house.event();
    house.hold(&event, "ann", &["A-1-1"]);
    house.engine.ahead_ms.fetch_add(120_000, Ordering::Relaxed);
    house.hold(&event, "bob", &["A-1-1"]);
    let facts = house.get(&format!("/v1/events/{event}/facts")).json();
    let lapsed = facts["data"].as_array().expect("facts").iter().find(|fact| fact["kind"] == "hold_expired");
    let lapsed = lapsed.expect("the hold expired");
    assert_eq!((lapsed.get("buyer"), lapsed.get("seats")), (None, None), "{lapsed}");
}
