//! Orders found again: all of a listing in one list, with those that were confirmed or purchased directly; what is over is told for
//! an hour; asked twice it is answered the same; and a conflict names the order it speaks of.

use std::sync::atomic::Ordering;

use onsale_edge::http::time::Time;
use onsale_engine::Engine;
use serde_json::{Value, json};

use crate::house::{Answer, House};
use crate::orders::{key, ordered, pay, shown, to_order};

const HOUR_MS: i64 = 3_600_000;

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_else(|| panic!("{name} in {value}"))
}

fn bearer(hold: &Value) -> [(&str, &str); 1] {
    [("hold-token", text(hold, "token"))]
}

fn confirm(house: &House, hold: &Value, paid_elsewhere: bool) -> Answer {
    let path = format!("/v1/holds/{}/confirm", text(hold, "id"));
    house.post(&path, &bearer(hold), json!({"paid_elsewhere": paid_elsewhere}))
}

fn hold_of(house: &House, hold: &Value) -> Value {
    house.get(&format!("/v1/holds/{}", text(hold, "id"))).json()
}

/// A sale with a shirt for 2500 and a pin for nothing, and one of its checkouts for ann.
fn sale(house: &House) -> (String, impl Fn(&str) -> Value) {
    let sale = json!({"name": "Drop", "starts_at": Time(0), "ends_at": Time(4_000_000_000_000), "currency": "EUR",
                      "skus": [{"id": "tee", "name": "Tee", "price_minor": 2500, "stock": 50},
                               {"id": "pin", "name": "Pin", "price_minor": 0, "stock": 50}]});
    let sale = text(&house.post("/v1/sales", &[], sale).json(), "id").to_owned();
    let path = format!("/v1/sales/{sale}/checkouts");
    let check_out = move |sku: &str| {
        let lines = json!({"lines": [{"sku": sku, "count": 2}]});
        let answer = house.post(&path, &[("onsale-buyer", "ann")], lines);
        assert_eq!(answer.status, 201, "{answer:?}");
        answer.json()
    };
    (sale, check_out)
}

fn with_code(house: &House, checkout: &Value, verb: &str, body: Value) -> Answer {
    let path = format!("/v1/checkouts/{}/{verb}", text(checkout, "id"));
    house.post(&path, &[("checkout-code", text(checkout, "code"))], body)
}

fn run(house: &House, price_minor: i64) -> String {
    let now = house.engine.now();
    let run = json!({"name": "Run", "opens_at": Time(now - 1), "starts_at": Time(now + 30 * 24 * HOUR_MS),
                     "capacity": 1, "currency": "EUR", "price_minor": price_minor, "checkout_seconds": 60});
    text(&house.post("/v1/registrations", &[], run).json(), "id").to_owned()
}

fn register(house: &House, run: &str, buyer: &str) -> Value {
    house.post(&format!("/v1/registrations/{run}/entries"), &[("onsale-buyer", buyer)], json!({})).json()
}

fn ids(list: &Value) -> Vec<&str> {
    list["data"].as_array().expect("a list").iter().map(|one| text(one, "id")).collect()
}

#[test]
fn all_orders_of_a_listing_stand_in_one_list_the_direct_ones_too() {
    let house = House::open();
    let event = house.event();
    let first = ordered(&house, &event, "A-1-1");
    let direct = house.hold(&event, "bob", &["A-1-2", "A-1-3"]);
    let direct = confirm(&house, &direct, true).json();
    let settled = ordered(&house, &event, "A-1-4");
    assert_eq!(pay(&house, &settled, json!({"paid_elsewhere": true})).status, 200);
    let cancelled = ordered(&house, &event, "A-1-5");
    let path = format!("/v1/orders/{}/cancel", text(&cancelled, "id"));
    assert_eq!(house.post(&path, &[key(&cancelled)], json!({})).status, 200);

    let list = |more: &str| house.get(&format!("/v1/orders?listing={event}{more}")).json();
    let all = [text(&first, "id"), text(&direct, "order"), text(&settled, "id"), text(&cancelled, "id")];
    let listed = list("");
    assert_eq!(ids(&listed), all, "in the order in which they were made");
    for (told, own) in listed["data"].as_array().expect("a list").iter().zip(all) {
        assert_eq!(*told, house.get(&format!("/v1/orders/{own}")).json(), "as it is shown");
    }
    assert_eq!(ids(&list("&status=confirmed")), all[1..3]);
    assert_eq!(ids(&list("&status=pending")), all[..1]);
    assert_eq!(ids(&list("&status=cancelled")), all[3..]);
    assert_eq!(ids(&list("&status=completed")), [""; 0]);

    let (mut seen, mut after) = (Vec::new(), String::new());
    loop {
        let page = list(&format!("&limit=1{after}"));
        seen.extend(ids(&page).into_iter().map(str::to_owned));
        let Some(next) = page["next"].as_str() else { break };
        after = format!("&after={next}");
    }
    assert_eq!(seen, all, "page by page the same");

    let told = house.get("/v1/orders").problem(422, "invalid");
    assert_eq!(told["field"], "listing");
    assert!(text(&told, "detail").contains("all listings"), "{told}");
    house.get("/v1/orders?listing=x").problem(404, "listing_unknown");
    house.get("/v1/orders?listing=evt_0000000000000000").problem(404, "listing_unknown");
    let other = house.event();
    let page = list("&limit=1");
    let wrong = format!("/v1/orders?listing={other}&after={}", text(&page, "next"));
    assert_eq!(house.get(&wrong).problem(422, "invalid")["field"], "after");
}

#[test]
fn purchases_and_paid_places_are_orders_and_are_refunded_as_orders() {
    let house = House::open();
    let (sale, check_out) = sale(&house);
    let (tee, pin) = (check_out("tee"), check_out("pin"));
    let bought = with_code(&house, &tee, "purchase", json!({"paid_elsewhere": true})).json();
    let free = with_code(&house, &pin, "purchase", json!({})).json();
    let orders = house.get(&format!("/v1/orders?listing={sale}")).json();
    assert_eq!(ids(&orders), [text(&bought, "order"), text(&free, "order")]);
    let back = json!({"lines": [{"sku": "tee", "count": 1}], "reason": "too small"});
    let refund = format!("/v1/orders/{}/refund", text(&bought, "order"));
    assert_eq!(house.post(&refund, &[], back).json()["returned_minor"], 2500);
    let order = house.get(&format!("/v1/orders/{}", text(&bought, "order"))).json();
    assert_eq!((&order["total_minor"], &order["returned_minor"]), (&json!(5000), &json!(2500)));

    let run = run(&house, 500);
    let entry = register(&house, &run, "ann");
    let path = format!("/v1/entries/{}/confirm", text(&entry, "id"));
    let paid = house.post(&path, &[("onsale-buyer", "ann")], json!({"paid_elsewhere": true})).json();
    assert_eq!(ids(&house.get(&format!("/v1/orders?listing={run}")).json()), [text(&paid, "order")]);
    let refund = format!("/v1/orders/{}/refund", text(&paid, "order"));
    let back = house.post(&refund, &[], json!({"reason": "ill"}));
    assert_eq!((back.status, &back.json()["returned_minor"]), (200, &json!(500)), "{back:?}");
}

#[test]
fn an_order_of_a_place_is_known_after_the_place_was_given_up() {
    let house = House::open();
    let run = run(&house, 500);
    let entry = register(&house, &run, "ann");
    let path = format!("/v1/entries/{}/confirm", text(&entry, "id"));
    let paid = house.post(&path, &[("onsale-buyer", "ann")], json!({"paid_elsewhere": true})).json();
    let own = format!("/v1/orders/{}", text(&paid, "order"));
    let before = house.get(&own).json();
    assert_eq!(
        (&before["status"], &before["placed_at"]),
        (&json!("confirmed"), &before["closed_at"]),
        "{before}"
    );
    let back = house.post(&format!("{own}/refund"), &[], json!({"reason": "ill"}));
    assert_eq!(back.status, 200, "{back:?}");
    let after = house.get(&own).json();
    assert_eq!((&after["status"], &after["returned_minor"]), (&json!("refunded"), &json!(500)), "{after}");
    assert_eq!(after["placed_at"], before["placed_at"]);
    assert_eq!(house.get(&format!("/v1/orders?listing={run}")).json()["data"], json!([after]));
    house.send("DELETE", &format!("/v1/registrations/{run}"), &[], None).problem(409, "listing_in_use");
}

#[test]
fn what_costs_something_is_confirmed_only_if_it_was_paid_elsewhere() {
    let house = House::open();
    let event = house.event();
    let hold = house.hold(&event, "ann", &["A-1-1"]);
    confirm(&house, &hold, false).problem(409, "payment_required");
    let path = format!("/v1/holds/{}/confirm", text(&hold, "id"));
    house.post(&path, &bearer(&hold), json!({})).problem(409, "payment_required");
    let wrong = house.post(&path, &bearer(&hold), json!({"settled": true})).problem(422, "invalid");
    assert_eq!(wrong["field"], "settled");
    assert_eq!(confirm(&house, &hold, true).status, 200);
    let free = json!([{"name": "Stalls", "price_minor": 0}, {"name": "Floor", "price_minor": 0}]);
    let event = house.event_with(json!({"tiers": free}));
    assert_eq!(confirm(&house, &house.hold(&event, "ann", &["A-1-1"]), false).status, 200);
}

#[test]
fn what_is_over_is_told_for_an_hour_and_changed_by_nobody() {
    let house = House::open();
    let event = house.event();
    let hold = |seat: &str| house.hold(&event, "ann", &[seat]);
    let (released, sold, paid, taken, lapsed) =
        (hold("A-1-1"), hold("A-1-2"), hold("A-1-3"), hold("A-1-4"), hold("A-1-5"));
    let path = |hold: &Value| format!("/v1/holds/{}", text(hold, "id"));
    let waiting =
        house.post(&format!("/v1/events/{event}/seats/A-1-2/queue"), &[("onsale-buyer", "bob")], json!({}));
    assert_eq!(house.send("DELETE", &path(&released), &bearer(&released), None).status, 200);
    let direct = confirm(&house, &sold, true).json();
    let order = house.post(&to_order(&paid), &bearer(&paid), json!({})).json();
    assert_eq!(hold_of(&house, &paid)["order"], order["id"], "while it lives, too");
    assert_eq!(pay(&house, &order, json!({"paid_elsewhere": true})).status, 200);
    let away = json!({"hold": taken["id"], "reason": "group"});
    assert_eq!(house.post(&format!("/v1/events/{event}/overrides"), &[], away).status, 200);
    house.engine.ahead_ms.store(120_000, Ordering::Relaxed);

    let over = [
        (&released, "released", 410, "released", None),
        (&sold, "confirmed", 409, "hold_confirmed", Some(text(&direct, "order"))),
        (&paid, "confirmed", 409, "hold_confirmed", Some(text(&order, "id"))),
        (&taken, "overridden", 410, "overridden", None),
        (&lapsed, "expired", 410, "expired", None),
    ];
    for (hold, status, refused, code, order) in over {
        let mut told = json!({"id": hold["id"], "listing": event, "status": status});
        if let Some(order) = order {
            told["order"] = json!(order);
        }
        let token = bearer(hold)[0];
        for headers in [&[][..], &[token], &[token, ("onsale-buyer", "ann")]] {
            let answer = house.send("GET", &path(hold), headers, None);
            assert_eq!((answer.status, answer.json()), (200, told.clone()), "{headers:?}");
        }
        for headers in [&[token][..], &[token, ("onsale-buyer", "ann")]] {
            for (method, body) in [("PATCH", Some("{\"extend\":true}")), ("DELETE", None)] {
                let answer = house.send(method, &path(hold), headers, body).problem(refused, code);
                assert_eq!(answer["order"].as_str(), order, "{method} {answer}");
            }
        }
    }
    // A place in a queue has an id of its own, by which a hold would have been offered.
    let place = text(&waiting.json(), "place").to_owned();
    let told = house.get(&format!("/v1/holds/{place}")).json();
    assert_eq!(told, json!({"id": place, "listing": event, "status": "dissolved"}));

    let (_, check_out) = sale(&house);
    let (cancelled, kept) = (check_out("tee"), check_out("tee"));
    assert_eq!(with_code(&house, &cancelled, "cancel", json!({})).status, 200);
    let entry = register(&house, &run(&house, 500), "ann");
    house.engine.ahead_ms.store(120_000 + 600_000, Ordering::Relaxed);
    let checkout = |of: &Value| house.get(&format!("/v1/checkouts/{}", text(of, "id")));
    assert_eq!(checkout(&cancelled).json()["status"], "released");
    assert_eq!(checkout(&kept).json()["status"], "expired");
    with_code(&house, &kept, "purchase", json!({"paid_elsewhere": true})).problem(410, "expired");
    let entry = format!("/v1/entries/{}", text(&entry, "id"));
    assert_eq!(house.get(&entry).json()["status"], "expired");

    house.engine.ahead_ms.store(2 * HOUR_MS, Ordering::Relaxed);
    for (hold, ..) in over {
        house.send("GET", &path(hold), &bearer(hold), None).problem(404, "hold_unknown");
    }
    checkout(&cancelled).problem(404, "checkout_unknown");
}

#[test]
fn confirming_twice_is_answered_the_same() {
    let house = House::open();
    let event = house.event();
    let hold = house.hold(&event, "ann", &["A-1-1"]);
    let first = confirm(&house, &hold, true);
    // By the token alone, with the buyer, and without a word about the money.
    let path = format!("/v1/holds/{}/confirm", text(&hold, "id"));
    let named = [bearer(&hold)[0], ("onsale-buyer", "ann")];
    for answer in [
        confirm(&house, &hold, true),
        confirm(&house, &hold, false),
        house.post(&path, &named, json!({"paid_elsewhere": true})),
    ] {
        assert_eq!((answer.status, answer.body), (200, first.body.clone()));
    }
    let other = [bearer(&hold)[0], ("onsale-buyer", "bob")];
    assert_ne!(house.post(&path, &other, json!({})).status, 200);

    let (_, check_out) = sale(&house);
    let code = check_out("tee");
    let buy = || with_code(&house, &code, "purchase", json!({"paid_elsewhere": true}));
    let (first, again) = (buy(), buy());
    assert_eq!((first.status, again.status, first.body), (200, 200, again.body));
    let told = with_code(&house, &code, "cancel", json!({})).problem(409, "checkout_purchased");
    assert_eq!(told["order"], again_order(&house, &code));

    let entry = register(&house, &run(&house, 500), "ann");
    let path = format!("/v1/entries/{}/confirm", text(&entry, "id"));
    let confirm = || house.post(&path, &[("onsale-buyer", "ann")], json!({"paid_elsewhere": true}));
    let (first, again) = (confirm(), confirm());
    assert_eq!((first.status, again.status, first.body), (200, 200, again.body));
}

fn again_order(house: &House, checkout: &Value) -> Value {
    house.get(&format!("/v1/checkouts/{}", text(checkout, "id"))).json()["order"].clone()
}

#[test]
fn a_conflict_names_the_order_it_speaks_of() {
    let house = House::open();
    let event = house.event();
    let hold = house.hold(&event, "ann", &["A-1-1"]);
    let order = house.post(&to_order(&hold), &bearer(&hold), json!({})).json();
    let told = house.post(&to_order(&hold), &bearer(&hold), json!({})).problem(409, "already_ordered");
    assert_eq!(told["order"], order["id"]);
    assert_eq!(confirm(&house, &hold, true).problem(409, "already_ordered")["order"], order["id"]);
    assert_eq!(pay(&house, &order, json!({"method": "silent"})).status, 202);
    shown(&house, &order, "paying");
    let path = format!("/v1/holds/{}", text(&hold, "id"));
    let told = house.send("DELETE", &path, &bearer(&hold), None).problem(409, "hold_paying");
    assert_eq!(told["order"], order["id"]);

    let (_, check_out) = sale(&house);
    let code = check_out("tee");
    let order = with_code(&house, &code, "order", json!({})).json();
    for (verb, refused) in
        [("order", "already_ordered"), ("purchase", "checkout_ordered"), ("cancel", "checkout_ordered")]
    {
        let told = with_code(&house, &code, verb, json!({})).problem(409, refused);
        assert_eq!(told["order"], order["id"], "{verb}");
    }
}
