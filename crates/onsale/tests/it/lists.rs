//! Lists: one shape and the same words everywhere, filters, and cursors that are places in one list and in no other.

use std::sync::atomic::Ordering;

use onsale_domain::ListingId;
use onsale_edge::http::document::document;
use onsale_edge::http::table::table;
use onsale_edge::http::time::Time;
use onsale_engine::Engine;
use serde_json::{Value, json};

use crate::house::{House, night};

const HOUR: i64 = 3_600_000;

fn id(house: &House, path: &str, body: Value) -> String {
    let answer = house.post(path, &[], body);
    assert_eq!(answer.status, 201, "{answer:?}");
    answer.json()["id"].as_str().expect("an id").to_owned()
}

fn ids(page: &Value) -> Vec<String> {
    let all = page["data"].as_array().expect("a list").iter();
    all.map(|one| one["id"].as_str().expect("an id").to_owned()).collect()
}

/// Everything that a list has, two by two.
fn all(house: &House, path: &str) -> Vec<Value> {
    let (mut seen, mut after) = (Vec::new(), String::new());
    let joint = if path.contains('?') { '&' } else { '?' };
    loop {
        let page = house.get(&format!("{path}{joint}limit=2{after}")).json();
        let data = page["data"].as_array().expect("a list");
        assert!(data.len() <= 2, "{page}");
        seen.extend(data.iter().cloned());
        match page["next"].as_str() {
            Some(next) => after = format!("&after={next}"),
            None => return seen,
        }
    }
}

/// What the entries of a list are, by the list's schema.
fn items(schema: &'static Value) -> Option<&'static Value> {
    let name = schema["$ref"].as_str().and_then(|name| name.rsplit('/').next());
    let schema = name.map_or(schema, |name| &document()["components"]["schemas"][name]);
    let own = schema["properties"]["data"].get("items");
    own.or_else(|| schema["allOf"].as_array()?.iter().find_map(items))
}

/// Whatever lists is of the one shape and is asked with the same words, and no list is bounded otherwise.
#[test]
fn every_list_has_data_and_next_and_takes_after_and_limit() {
    let mut lists = Vec::new();
    for route in table().routes.iter().filter(|route| route.described && route.method == "GET") {
        let told = &document()["paths"][&route.path]["get"];
        let named = |name: &str| {
            let all = told["parameters"].as_array().into_iter().flatten();
            all.into_iter().find(|one| one["name"] == name).map(|one| one["schema"].clone())
        };
        let Some(limit) = named("limit") else { continue };
        let bounds = json!({"type": "integer", "minimum": 1, "maximum": 500, "default": 50});
        assert_eq!(limit, bounds, "{}", route.operation);
        assert_eq!(named("after"), Some(json!({"type": "string"})), "{}", route.operation);
        for other in ["from", "before", "page", "cursor", "offset"] {
            assert_eq!(named(other), None, "{}", route.operation);
        }
        let schema = &told["responses"]["200"]["content"]["application/json"]["schema"];
        let items = items(schema).unwrap_or_else(|| panic!("{} is no list: {schema}", route.operation));
        assert!(items["$ref"].is_string(), "{}: an entry has a schema of its own: {items}", route.operation);
        let example = &told["responses"]["200"]["content"]["application/json"]["example"];
        assert!(example["data"].is_array(), "{}: {example}", route.operation);
        assert!(example["next"].is_null() || example["next"].is_string(), "{}: {example}", route.operation);
        lists.push(route.operation);
    }
    assert_eq!(lists.len(), 28, "{lists:?}");
}

#[test]
fn a_cursor_of_another_list_or_a_changed_one_is_refused_by_name() {
    let house = House::open();
    let mut made: Vec<String> = (0..3).map(|_| house.event()).collect();
    made.sort();
    let next = |path: &str| {
        let page = house.get(path).json();
        page["next"].as_str().map(str::to_owned).unwrap_or_else(|| panic!("{path} has more: {page}"))
    };
    let events = next("/v1/events?limit=1");
    assert_eq!(ids(&house.get(&format!("/v1/events?after={events}")).json()), made[1..]);
    for event in &made {
        for seat in ["A-1-1", "A-1-3"] {
            house.hold(event, "ann", &[seat]);
            let body = json!({"seats": [seat]});
            let path = format!("/v1/events/{event}/holds");
            house.post(&path, &[("onsale-buyer", "bob")], body).problem(409, "seat_held");
        }
    }
    let attempts = next(&format!("/v1/events/{}/attempts?limit=1", made[0]));
    let holds = next("/v1/buyers/ann/holds?limit=1");
    let wrong = |path: &str, cursor: &str| {
        let told = house.get(&format!("{path}?after={cursor}")).problem(422, "invalid");
        assert_eq!(told["field"], "after", "{path}: {told}");
    };
    for path in ["/v1/venues", "/v1/sales", "/v1/series", "/v1/registrations", "/v1/auctions"] {
        wrong(path, &events);
    }
    wrong(&format!("/v1/events/{}/attempts", made[1]), &attempts);
    wrong("/v1/buyers/bob/holds", &holds);
    wrong("/v1/buyers/ann/checkouts", &holds);
    wrong("/v1/buyers/ann/orders", &holds);
    wrong("/v1/buyers/ann/bids", &holds);
    wrong("/v1/events", &made[0]);
    for at in 0..events.len() {
        let mut changed = events.clone().into_bytes();
        changed[at] = if changed[at] == b'a' { b'b' } else { b'a' };
        wrong("/v1/events", std::str::from_utf8(&changed).expect("text"));
        wrong("/v1/events", &events[..at]);
    }
    // Of a person it is a place like any other: the same page as long as it is the same list.
    assert_eq!(all(&house, "/v1/buyers/ann/holds").len(), 6);
    assert_eq!(all(&house, &format!("/v1/events/{}/attempts", made[0])).len(), 2);
}

#[test]
fn a_name_goes_with_what_else_is_asked_of_a_list() {
    let house = House::open();
    for (path, _, mut body) in crate::about::kinds() {
        body["external_id"] = json!("e1");
        let named = id(&house, path, body.clone());
        body["external_id"] = Value::Null;
        let mut made = [named.clone(), id(&house, path, body.clone()), id(&house, path, body)];
        made.sort();
        let ask = |more: &str| house.get(&format!("{path}?external_id={more}"));
        assert_eq!(ids(&ask("e1&limit=1").json()), std::slice::from_ref(&named), "{path}");
        for cursor in ["zzz", "", "000000000000"] {
            let told = ask(&format!("e1&after={cursor}")).problem(422, "invalid");
            assert_eq!((&told["field"], &told["pointer"]), (&json!("after"), &Value::Null), "{path}: {told}");
        }
        assert_eq!(ask("e1&limit=0").problem(422, "invalid")["field"], "limit", "{path}");
        // It is found behind a place in the list or before it, as in the whole list.
        let next = house.get(&format!("{path}?limit=1")).json()["next"].as_str().expect("more").to_owned();
        let expected: Vec<String> = made[1..].iter().filter(|one| **one == named).cloned().collect();
        assert_eq!(ids(&ask(&format!("e1&after={next}")).json()), expected, "{path}");
        for wrong in ["", &"x".repeat(256), "a%00b"] {
            let told = ask(wrong).problem(422, "invalid");
            assert_eq!(
                (&told["field"], &told["pointer"]),
                (&json!("external_id"), &Value::Null),
                "{path}: {told}"
            );
        }
        assert_eq!(ask(&"%C3%A9".repeat(255)).json(), json!({"data": []}), "{path}");
    }
}

#[test]
fn a_cursor_outlives_the_server_where_its_place_does() {
    let (one, other) = (House::open(), House::open());
    let mut made = [one.event(), one.event()];
    made.sort();
    let page = one.get("/v1/events?limit=1").json();
    let next = page["next"].as_str().expect("there is another");
    // The id of a listing is a place anywhere: what comes behind it is found, here and on a server that never saw it.
    assert_eq!(ids(&one.get(&format!("/v1/events?after={next}")).json()), made[1..]);
    let another = other.event();
    let expected = if another > made[0] { vec![another] } else { Vec::new() };
    assert_eq!(ids(&other.get(&format!("/v1/events?after={next}")).json()), expected);

    let event = &made[0];
    one.hold(event, "ann", &["A-1-1"]);
    let refuse = |times: usize| {
        for _ in 0..times {
            let path = format!("/v1/events/{event}/holds");
            let body = json!({"seats": ["A-1-1"]});
            one.post(&path, &[("onsale-buyer", "bob")], body).problem(409, "seat_held");
        }
    };
    let attempts = format!("/v1/events/{event}/attempts");
    refuse(2);
    let page = one.get(&format!("{attempts}?limit=1")).json();
    let next = format!("{attempts}?after={}", page["next"].as_str().expect("there is another"));
    assert_eq!(one.get(&next).json()["data"].as_array().map(Vec::len), Some(1));
    // Attempts are counted anew by a server that begins anew: the same number is nobody's, and then another's.
    one.engine.restart(&ListingId::parse(event).expect("an id"));
    assert_eq!(one.get(&next).problem(422, "invalid")["field"], "after");
    one.engine.ahead_ms.fetch_add(1_000, Ordering::Relaxed);
    refuse(3);
    assert_eq!(one.get(&next).problem(422, "invalid")["field"], "after");
}

#[test]
fn events_are_found_by_status_and_start() {
    let house = House::open();
    let now = house.engine.now();
    let event = |hours: i64, status: &str| {
        let (starts_at, ends_at) = (Time(now + hours * HOUR), Time(now + (hours + 1) * HOUR));
        house.event_with(json!({"starts_at": starts_at, "ends_at": ends_at, "status": status}))
    };
    let (soon, draft, late) = (event(2, "on_sale"), event(3, "draft"), event(4, "on_sale"));
    let found = |filter: &str| {
        let found = all(&house, &format!("/v1/events?{filter}"));
        found.iter().map(|one| one["id"].as_str().expect("an id").to_owned()).collect::<Vec<_>>()
    };
    let sorted = |mut all: Vec<&String>| {
        all.sort();
        all.into_iter().cloned().collect::<Vec<_>>()
    };
    assert_eq!(found("status=draft"), sorted(vec![&draft]));
    assert_eq!(found("status=on_sale"), sorted(vec![&soon, &late]));
    assert_eq!(found("status=cancelled"), Vec::<String>::new());
    let at = |hours: i64| Time(now + hours * HOUR);
    assert_eq!(found(&format!("starts_after={}", at(3))), sorted(vec![&draft, &late]), "then or later");
    assert_eq!(found(&format!("starts_before={}", at(3))), [soon], "before then");
    assert_eq!(found(&format!("starts_after={}&starts_before={}&status=draft", at(2), at(9))), [draft]);
    for wrong in ["status=gone", "status=", "starts_after=1", "starts_before=2027-01-01", "created_after=x"] {
        house.get(&format!("/v1/events?{wrong}")).problem(422, "invalid");
    }
    house.get("/v1/venues?status=draft").problem(422, "invalid");
}

#[test]
fn every_kind_that_starts_is_found_the_same_way() {
    let house = House::open();
    let now = house.engine.now();
    let at = |hours: i64| Time(now + hours * HOUR);
    for hours in [1, 3] {
        let (starts_at, ends_at) = (at(hours), at(hours + 1));
        let skus = json!([{"id": "tee", "name": "Tee", "price_minor": 100, "stock": 1}]);
        let sale = json!({"name": "Drop", "starts_at": starts_at, "ends_at": ends_at, "currency": "EUR", "skus": skus});
        id(&house, "/v1/sales", sale);
        let auction = json!({"name": "Vase", "seller": "sam", "currency": "EUR", "starts_at": starts_at,
                             "ends_at": ends_at, "start_minor": 100, "increment": 10});
        id(&house, "/v1/auctions", auction);
        let run = json!({"name": "Run", "opens_at": at(0), "starts_at": at(hours + 48), "capacity": 1, "currency": "EUR"});
        id(&house, "/v1/registrations", run);
        let series = json!({"name": "Hours", "currency": "EUR", "from": starts_at, "items": [{"price_minor": 1, "stock": 1}]});
        id(&house, "/v1/series", series);
    }
    for (kind, status, none, shift) in [
        ("sales", "scheduled", "open", 0),
        ("auctions", "scheduled", "open", 0),
        ("registrations", "open", "started", 48),
        ("series", "running", "paused", 0),
    ] {
        let count = |filter: &str| all(&house, &format!("/v1/{kind}?{filter}")).len();
        assert_eq!((count(&format!("status={status}")), count(&format!("status={none}"))), (2, 0), "{kind}");
        let middle = at(shift + 2);
        assert_eq!(count(&format!("starts_after={middle}")), 1, "{kind}");
        assert_eq!(count(&format!("starts_before={middle}&status={status}")), 1, "{kind}");
        house.get(&format!("/v1/{kind}?status=gone")).problem(422, "invalid");
    }
}

#[test]
fn a_buyers_orders_are_told_latest_first_and_page_by_page() {
    let house = House::open();
    let mut placed = Vec::new();
    for seat in ["A-1-1", "A-1-3", "A-1-5"] {
        let event = house.event_with(night());
        let hold = house.hold(&event, "ann", &[seat]);
        let token = hold["token"].as_str().expect("a token");
        let order = house.post(&crate::orders::to_order(&hold), &[("hold-token", token)], json!({}));
        assert_eq!(order.status, 201, "{order:?}");
        placed.insert(0, order.json()["id"].clone());
    }
    let told: Vec<Value> = all(&house, "/v1/buyers/ann/orders").iter().map(|one| one["id"].clone()).collect();
    let times = |orders: &[Value]| orders.iter().map(|one| one["placed_at"].clone()).collect::<Vec<_>>();
    let seen = all(&house, "/v1/buyers/ann/orders");
    assert!(times(&seen).windows(2).all(|pair| pair[0].as_str() >= pair[1].as_str()), "{seen:?}");
    assert_eq!(told.len(), placed.len());
    assert!(placed.iter().all(|order| told.contains(order)), "each once: {told:?}");
}
