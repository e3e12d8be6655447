//! A hold that must not grow, at the instant where it could have; and one key in the hands of two buyers.

use onsale_engine::Engine;
use serde_json::{Value, json};

use crate::auctions::hall::{Hall, START};
use crate::house::{Answer, House};
use crate::orders::to_order;

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_else(|| panic!("{name} in {value}"))
}

fn grow(hall: &Hall, hold: &Value, seats: &[&str]) -> Answer {
    let path = format!("/v1/holds/{}", text(hold, "id"));
    let body = json!({"add_seats": seats}).to_string();
    hall.house.send("PATCH", &path, &[("hold-token", text(hold, "token"))], Some(&body))
}

/// A clock that stands still: the hold is placed at its start and lives for two minutes.
fn open(rules: Value) -> (Hall, Value) {
    let hall = Hall::open();
    let event = hall.house.event_with(rules);
    let hold = hall.house.hold(&event, "ann", &["A-1-1"]);
    (hall, hold)
}

#[test]
fn a_hold_grows_in_its_last_millisecond_and_not_at_its_deadline() {
    let (hall, hold) = open(json!({}));
    hall.clock.set(START + 119_999);
    let grown = grow(&hall, &hold, &["A-1-2"]);
    assert_eq!((grown.status, &grown.json()["expires_in_seconds"]), (200, &json!(0)), "{grown:?}");
    hall.clock.set(START + 120_000);
    grow(&hall, &grown.json(), &["A-1-3"]).problem(410, "expired");
    grow(&hall, &hold, &["A-1-3"]).problem(410, "expired");
    hall.house.hold(text(&hold, "event"), "bob", &["A-1-1", "A-1-2", "A-1-3"]);
}

#[test]
fn a_hold_that_an_order_has_taken_does_not_grow_and_the_order_is_named() {
    let (hall, hold) = open(json!({}));
    let token = [("hold-token", text(&hold, "token"))];
    let order = hall.house.post(&to_order(&hold), &token, json!({})).json();
    let told = grow(&hall, &hold, &["A-1-2"]).problem(409, "already_ordered");
    assert_eq!(told["order"], order["id"]);
    let shown = hall.house.get(&format!("/v1/orders/{}", text(&order, "id"))).json();
    assert_eq!((&shown["total_minor"], shown["seats"].as_array().map(Vec::len)), (&json!(4500), Some(1)));
    // Given back, it may.
    let cancel = format!("/v1/orders/{}/cancel", text(&order, "id"));
    let key = [("order-key", text(&order, "key"))];
    assert_eq!(hall.house.post(&cancel, &key, json!({})).status, 200);
    assert_eq!(grow(&hall, &hold, &["A-1-2"]).status, 200);
}

#[test]
fn a_hold_does_not_grow_past_the_limit_of_its_buyer() {
    let (hall, hold) = open(json!({"buyer_limit": 3}));
    hall.house.hold(text(&hold, "event"), "ann", &["A-2-1"]);
    let told = grow(&hall, &hold, &["A-1-2", "A-1-3"]).problem(409, "buyer_limit");
    assert_eq!((&told["limit"], &told["taken"]), (&json!(3), &json!(2)));
    let grown = grow(&hall, &hold, &["A-1-2"]).json();
    grow(&hall, &grown, &["A-1-3"]).problem(409, "buyer_limit");
}

#[test]
fn a_hold_does_not_grow_so_that_one_seat_is_left_alone() {
    let (hall, hold) = open(json!({"refuse_single_seats": true}));
    let told = grow(&hall, &hold, &["A-1-3"]).problem(409, "leaves_single_seat");
    assert_eq!(told["seats"], json!([{"seat": "A-1-2", "code": "leaves_single_seat"}]));
    let grown = grow(&hall, &hold, &["A-1-3", "A-1-2"]);
    assert_eq!((grown.status, grown.json()["seats"].as_array().map(Vec::len)), (200, Some(3)), "{grown:?}");
}

/// Asks for something new under one key, first ann, then bob: nobody is told what is the other's.
fn one_key_for_two(house: &House, path: &str, body: &Value, secret: &str) {
    let key = ("idempotency-key", "the-shops-only-key");
    let ask = |buyer| house.post(path, &[("onsale-buyer", buyer), key], body.clone());
    let own = ask("ann");
    assert_eq!(own.status, 201, "{own:?}");
    let told = ask("bob").problem(422, "key_reused");
    for name in ["id", secret] {
        let word = own.json()[name].as_str().unwrap_or("ann").to_owned();
        assert!(!told.to_string().contains(&word), "{name} of ann's in bob's answer: {told}");
    }
    let again = ask("ann");
    assert_eq!((again.status, again.body), (201, own.body), "ann's answer stays ann's");
    // Under another key bob has an answer of bob's own.
    let other = house.post(path, &[("onsale-buyer", "bob"), ("idempotency-key", "another")], body.clone());
    assert!(other.status == 201 && other.json()["buyer"] == "bob", "{other:?}");
}

#[test]
fn one_key_of_a_merchant_never_tells_one_buyer_what_is_anothers() {
    let house = House::open();
    let event = house.event();
    let best = json!({"best_available": {"count": 2}});
    one_key_for_two(&house, &format!("/v1/events/{event}/holds"), &best, "token");
    let now = house.engine.now();
    let at = |ms: i64| json!(onsale_edge::http::time::Time(now + ms));
    let sale = json!({"name": "Drop", "starts_at": at(-1_000), "ends_at": at(3_600_000), "currency": "EUR",
                      "skus": [{"id": "tee", "name": "Tee", "price_minor": 2500, "stock": 9}]});
    let sale = text(&house.post("/v1/sales", &[], sale).json(), "id").to_owned();
    let lines = json!({"lines": [{"sku": "tee", "count": 1}]});
    one_key_for_two(&house, &format!("/v1/sales/{sale}/checkouts"), &lines, "code");
    let run = json!({"name": "Run", "opens_at": at(-1_000), "starts_at": at(30 * 86_400_000), "capacity": 9,
                     "currency": "EUR"});
    let run = text(&house.post("/v1/registrations", &[], run).json(), "id").to_owned();
    one_key_for_two(&house, &format!("/v1/registrations/{run}/entries"), &json!({}), "id");
}

#[test]
fn two_buyers_who_come_at_once_under_one_key_get_one_answer_and_one_refusal() {
    let house = House::open();
    let event = house.event();
    let path = format!("/v1/events/{event}/holds");
    let ask = |buyer: &str| {
        let headers = [("onsale-buyer", buyer), ("idempotency-key", "same")];
        house.post(&path, &headers, json!({"best_available": {"count": 1}}))
    };
    let answers = std::thread::scope(|scope| {
        let both = ["ann", "bob"].map(|buyer| scope.spawn(move || (buyer, ask(buyer))));
        both.map(|one| one.join().expect("an answer"))
    });
    let held: Vec<_> = answers.iter().filter(|(_, answer)| answer.status == 201).collect();
    let [(buyer, answer)] = held.as_slice() else { panic!("{answers:?}") };
    assert_eq!(answer.json()["buyer"], *buyer);
    for (other, refused) in answers.iter().filter(|(other, _)| other != buyer) {
        assert!(matches!(refused.status, 409 | 422), "{other}: {refused:?}");
        assert!(!refused.json().to_string().contains(text(&answer.json(), "token")), "{refused:?}");
    }
}
