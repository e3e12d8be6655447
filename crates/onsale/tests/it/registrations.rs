//! Registrations over HTTP: places, the waiting list, promotion in the step of a cancellation.

use onsale_edge::http::time::Time;
use std::sync::atomic::Ordering;

use onsale_engine::Engine;
use serde_json::{Value, json};

use crate::house::{Answer, House};

const DAY: i64 = 86_400_000;

pub(crate) struct Course {
    pub house: House,
    id: String,
}

impl Course {
    pub(crate) fn open(more: Value) -> Course {
        let house = House::open();
        let made = house.post("/v1/registrations", &[], asked(&house, more));
        assert_eq!(made.status, 201, "{made:?}");
        let id = made.json()["id"].as_str().expect("an id").to_owned();
        Course { house, id }
    }

    pub(crate) fn path(&self, rest: &str) -> String {
        format!("/v1/registrations/{}{rest}", self.id)
    }

    pub(crate) fn register(&self, buyer: &str) -> Answer {
        self.house.post(&self.path("/entries"), &[("onsale-buyer", buyer)], json!({}))
    }

    fn entry(&self, entry: &Value) -> String {
        format!("/v1/entries/{}", entry["id"].as_str().expect("an id"))
    }

    pub(crate) fn cancel(&self, entry: &Value, headers: &[(&str, &str)]) -> Answer {
        self.house.send("DELETE", &self.entry(entry), headers, None)
    }

    pub(crate) fn patch(&self, body: Value) -> Answer {
        self.house.send("PATCH", &self.path(""), &[], Some(&body.to_string()))
    }

    fn status(&self, entry: &Value) -> Value {
        self.house.get(&self.entry(entry)).json()["status"].clone()
    }
}

fn asked(house: &House, more: Value) -> Value {
    let now = house.engine.now();
    let mut course = json!({
        "name": "Evening run", "opens_at": Time(now - 1), "starts_at": Time(now + 30 * DAY), "capacity": 1, "currency": "EUR",
    });
    for (name, value) in more.as_object().expect("an object") {
        course[name] = value.clone();
    }
    course
}

#[test]
fn a_place_that_comes_free_goes_to_the_first_in_line_in_the_same_step() {
    let course = Course::open(json!({}));
    let ann = course.register("ann");
    assert_eq!((ann.status, &ann.json()["status"]), (201, &json!("confirmed")));
    let (bob, zoe) = (course.register("bob").json(), course.register("zoe").json());
    assert_eq!(
        (&bob["status"], &bob["place_in_line"], &zoe["place_in_line"]),
        (&json!("waiting"), &json!(1), &json!(2))
    );
    let again = course.register("bob");
    assert_eq!((again.status, &again.json()["id"]), (200, &bob["id"]), "one entry per buyer");
    let ann = ann.json();
    course.cancel(&ann, &[("onsale-buyer", "bob")]).problem(403, "not_yours");
    assert_eq!(course.cancel(&ann, &[("onsale-buyer", "ann")]).json()["amount_minor"], 0);
    assert_eq!((course.status(&bob), course.status(&zoe)), (json!("confirmed"), json!("waiting")));
    assert_eq!(course.house.get(&course.entry(&ann)).json()["status"], "released");
    let facts = course.house.get(&course.path("/facts")).json();
    let facts = facts["data"].as_array().expect("facts").clone();
    let kinds: Vec<_> = facts.iter().rev().take(2).map(|fact| fact["kind"].clone()).collect();
    assert_eq!(kinds, ["promoted", "entry_cancelled"]);
    assert_eq!(course.register("ann").json()["place_in_line"], 2, "who comes again is the last");
    assert_eq!(course.patch(json!({"capacity": 3})).json()["capacity"], 3);
    let shown = course.house.get(&course.path("")).json();
    assert_eq!((&shown["confirmed"], &shown["waiting"]), (&json!(3), &json!(0)));
    let page = course.house.get(&course.path("/entries?limit=2")).json();
    assert_eq!(page["data"].as_array().expect("entries").len(), 2);
    let rest = course
        .house
        .get(&course.path(&format!("/entries?after={}", page["next"].as_str().expect("more"))))
        .json();
    assert_eq!((rest["data"].as_array().expect("entries").len(), rest.get("next")), (1, None));
}

#[test]
fn entries_are_found_by_where_they_stand() {
    let course = Course::open(json!({"capacity": 2}));
    let mut all = Vec::new();
    for buyer in ["ann", "bob", "cem", "dan", "eve"] {
        all.push(course.register(buyer).json()["id"].clone());
    }
    let found = |filter: &str| {
        let (mut seen, mut after) = (Vec::new(), String::new());
        loop {
            let page = course.house.get(&course.path(&format!("/entries?limit=2&{filter}{after}"))).json();
            let entries = page["data"].as_array().expect("entries");
            assert!(entries.len() <= 2, "{page}");
            seen.extend(entries.iter().map(|entry| entry["id"].clone()));
            let Some(next) = page["next"].as_str() else { return seen };
            after = format!("&after={next}");
        }
    };
    assert_eq!(found(""), all);
    assert_eq!(found("status=confirmed"), all[..2]);
    assert_eq!(found("status=waiting"), all[2..]);
    assert_eq!(found("status=offered"), [""; 0]);
    let wrong = course.house.get(&course.path("/entries?status=gone")).problem(422, "invalid");
    assert_eq!(wrong["field"], "status");
}

#[test]
fn a_paid_place_is_kept_until_it_is_paid_or_its_time_is_over() {
    let course = Course::open(json!({"price_minor": 500, "checkout_seconds": 30}));
    let ann = course.register("ann").json();
    assert_eq!((&ann["status"], &ann["price_minor"]), (&json!("offered"), &json!(500)));
    let bob = course.register("bob").json();
    let confirm = |entry: &Value, buyer: &str, body: Value| {
        course.house.post(&format!("{}/confirm", course.entry(entry)), &[("onsale-buyer", buyer)], body)
    };
    confirm(&bob, "bob", json!({})).problem(409, "not_offered");
    confirm(&ann, "bob", json!({})).problem(403, "not_yours");
    confirm(&ann, "ann", json!({})).problem(409, "payment_required");
    course.house.engine.ahead_ms.fetch_add(30_000, Ordering::Relaxed);
    confirm(&ann, "ann", json!({})).problem(410, "expired");
    assert_eq!(course.status(&bob), "offered", "it went on to the first in line");
    let paid = confirm(&bob, "bob", json!({"paid_elsewhere": true}));
    assert_eq!((paid.status, &paid.json()["status"]), (200, &json!("confirmed")));
    assert!(paid.json()["order"].as_str().expect("an order").starts_with("ord_0000"));
    assert_eq!(course.cancel(&bob, &[]).json()["amount_minor"], 500, "staff refunds");
    let told = course.house.get(&course.path("/attempts")).json();
    assert_eq!(told["counts"]["not_offered"], 1);
}

#[test]
fn nobody_registers_outside_its_hours() {
    let course = Course::open(json!({}));
    course.house.engine.ahead_ms.fetch_add(29 * DAY + 1_000, Ordering::Relaxed);
    course.register("ann").problem(409, "registration_closed");
    let early = Course::open(json!({}));
    assert_eq!(early.patch(json!({"status": "cancelled"})).json()["status"], "cancelled");
    early.register("ann").problem(409, "registration_cancelled");
    let now = early.house.engine.now();
    let later = asked(&early.house, json!({"opens_at": Time(now + DAY)}));
    let id =
        early.house.post("/v1/registrations", &[], later).json()["id"].as_str().expect("an id").to_owned();
    let path = format!("/v1/registrations/{id}/entries");
    early.house.post(&path, &[("onsale-buyer", "ann")], json!({})).problem(409, "registration_not_open");
    let listed = early.house.get("/v1/registrations").json();
    assert_eq!(listed["data"].as_array().expect("registrations").len(), 2);
}

#[test]
fn wrong_registrations_are_refused_by_field() {
    let house = House::open();
    for (change, field) in [
        (json!({"capacity": 0}), "capacity"),
        (json!({"capacity": 100_001}), "capacity"),
        (json!({"capacity": -1}), "capacity"),
        (json!({"capacity": 1.5}), "capacity"),
        (json!({"price_minor": -1}), "price_minor"),
        (json!({"price_minor": 1_000_000_000_001i64}), "price_minor"),
        (json!({"price_minor": 0.5}), "price_minor"),
        (json!({"cut_off_seconds": -1}), "cut_off_seconds"),
        (json!({"checkout_seconds": 29}), "checkout_seconds"),
        (json!({"starts_at": Time(5)}), "starts_at"),
        (json!({"name": "a\nb"}), "name"),
        (json!({"currency": "eur"}), "currency"),
        (json!({"places": 5}), "places"),
    ] {
        let told =
            house.post("/v1/registrations", &[], asked(&house, change.clone())).problem(422, "invalid");
        assert_eq!(told["field"], field, "{change}: {told}");
    }
    let course = Course::open(json!({}));
    assert_eq!(
        course.patch(json!({"capacity": 2, "name": "x"})).problem(422, "invalid")["field"],
        "capacity"
    );
    assert_eq!(course.patch(json!({"capacity": 0})).problem(422, "invalid")["field"], "capacity");
    course.house.post(&course.path("/entries"), &[], json!({})).problem(422, "invalid");
    course.house.get("/v1/entries/ent_0").problem(404, "entry_unknown");
    course.house.get("/v1/registrations/x").problem(404, "listing_unknown");
}

#[test]
fn a_registration_may_belong_to_an_event_and_take_place_somewhere() {
    let house = House::open();
    let event = house.event();
    let hall = json!({"name": "Hall", "place": "Oslo", "layout": crate::house::layout()});
    let venue = house.post("/v1/venues", &[], hall).json()["id"].clone();
    let ends_at = json!(Time(house.engine.now() + 31 * DAY));
    let named = json!({"event": event, "venue": venue, "ends_at": ends_at});
    let made = house.post("/v1/registrations", &[], asked(&house, named));
    assert_eq!(made.status, 201, "{made:?}");
    let id = made.json()["id"].as_str().expect("an id").to_owned();
    let path = format!("/v1/registrations/{id}");
    let shown = house.get(&path).json();
    for told in [&made.json(), &shown, &house.get("/v1/registrations").json()["data"][0]] {
        assert_eq!(
            (&told["event"], &told["venue"], &told["venue_name"]),
            (&json!(event), &venue, &json!("Hall"))
        );
        assert_eq!(told["ends_at"], ends_at);
    }
    let created = house.get(&format!("{path}/facts")).json()["data"][0].clone();
    assert_eq!(
        (&created["event"], &created["venue"], &created["ends_at"]),
        (&json!(event), &venue, &ends_at)
    );

    let patch = |body: Value| house.send("PATCH", &path, &[], Some(&body.to_string()));
    assert_eq!(patch(json!({"venue": null, "ends_at": null})).status, 200);
    let shown = house.get(&path).json();
    assert_eq!(
        (&shown["venue"], &shown["venue_name"], &shown["ends_at"]),
        (&json!(null), &json!(null), &json!(null))
    );
    assert_eq!(shown["event"], json!(event), "what is not named stays");
    let early = json!({"ends_at": Time(house.engine.now())});
    let other = "evt_0000000000000009";
    for (change, field) in [
        (json!({"event": "x"}), "event"),
        (json!({"event": venue}), "event"),
        (json!({"event": other}), "event"),
        (json!({"venue": "ven_0000000000000009"}), "venue"),
        (json!({"venue": event}), "venue"),
        (early, "ends_at"),
    ] {
        let told =
            house.post("/v1/registrations", &[], asked(&house, change.clone())).problem(422, "invalid");
        assert_eq!(told["field"], field, "{change}: {told}");
        assert_eq!(patch(change.clone()).problem(422, "invalid")["field"], field, "{change}");
    }
}
