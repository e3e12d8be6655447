//! One key on one route is one request: whatever else is asked for under it is refused, whichever verb it turns into.

use onsale_edge::http::time::Time;
use std::sync::Arc;

use onsale_engine::Engine;
use onsale_engine::embedded::{EmbeddedEngine, Options};
use serde_json::{Value, json};

use crate::house::{Answer, House, night};

const DAY: i64 = 86_400_000;

/// A house with one listing of each kind.
struct All {
    house: House<EmbeddedEngine>,
    event: String,
    hold: Value,
    sale: String,
    series: String,
    registration: String,
}

fn id(answer: &Answer) -> String {
    assert_eq!(answer.status, 201, "{answer:?}");
    answer.json()["id"].as_str().expect("an id").to_owned()
}

impl All {
    fn open(engine: Arc<EmbeddedEngine>) -> All {
        let now = engine.now();
        let house = House::serve(|_| {}, engine);
        let event = house.event();
        let hold = house.hold(&event, "ann", &["A-1-1", "A-1-2"]);
        let sku = json!({"id": "tee", "name": "Shirt", "price_minor": 1900, "stock": 10});
        let sale = json!({"name": "Drop", "starts_at": Time(now - 1), "ends_at": Time(now + DAY), "currency": "EUR",
                          "skus": [sku]});
        let items = json!([{"price_minor": 900, "stock": 5}]);
        let series = json!({"name": "On the hour", "currency": "EUR", "items": items});
        let registration = json!({"name": "Run", "opens_at": Time(now - 1), "starts_at": Time(now + 30 * DAY),
                                  "capacity": 1, "currency": "EUR"});
        All {
            sale: id(&house.post("/v1/sales", &[], sale)),
            series: id(&house.post("/v1/series", &[], series)),
            registration: id(&house.post("/v1/registrations", &[], registration)),
            house,
            event,
            hold,
        }
    }
}

#[test]
fn another_body_under_the_same_key_is_refused_on_every_route_of_several_verbs() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = Arc::new(EmbeddedEngine::open(folder.path(), Options::default()).expect("opens"));
    let all = All::open(engine.clone());
    let event = format!("/v1/events/{}", all.event);
    let hold = format!("/v1/holds/{}", all.hold["id"].as_str().expect("an id"));
    let token = ("hold-token", all.hold["token"].as_str().expect("a token"));
    let sale = format!("/v1/sales/{}", all.sale);
    let series = format!("/v1/series/{}", all.series);
    let registration = format!("/v1/registrations/{}", all.registration);
    let pairs = [
        ("PATCH", hold, json!({"extend": true}), json!({"drop_seats": ["A-1-1"]})),
        (
            "POST",
            format!("{event}/blocks"),
            json!({"seats": ["A-2-1"], "reason": "camera"}),
            json!({"seats": ["A-2-1"], "unblock": true}),
        ),
        ("PATCH", event, json!({"name": "Late"}), json!({"status": "closed"})),
        ("PATCH", format!("{sale}/skus/tee"), json!({"add": 1}), json!({"withdraw": 1})),
        ("PATCH", format!("{sale}/skus/tee"), json!({"add": 2}), json!({"price_minor": 1800})),
        ("PATCH", sale.clone(), json!({"name": "Last drop"}), json!({"status": "ended"})),
        ("PATCH", sale, json!({"status": "ended"}), json!({"status": "cancelled"})),
        ("PATCH", series, json!({"status": "paused"}), json!({"status": "ended"})),
        ("PATCH", registration, json!({"capacity": 2}), json!({"status": "cancelled"})),
    ];
    for (number, (method, path, first, second)) in pairs.iter().enumerate() {
        let key = format!("pair-{number}");
        let headers = [token, ("idempotency-key", key.as_str())];
        let headers = if path.contains("/holds/") { &headers[..] } else { &headers[1..] };
        let send = |body: &Value| all.house.send(method, path, headers, Some(&body.to_string()));
        let done = send(first);
        assert_eq!(done.status, 200, "{path} {first}: {done:?}");
        send(second).problem(422, "key_reused");
        let again = send(first);
        assert_eq!((again.status, again.body), (200, done.body), "{path} {first}");
    }
    drop(all);
    engine.close();
}

#[test]
fn another_buyer_or_credential_under_the_same_key_is_refused() {
    let house = House::open();
    let event = house.event();
    let path = format!("/v1/events/{event}/holds");
    let key = ("idempotency-key", "one");
    let wish = json!({"best_available": {"count": 1}});
    let held = house.post(&path, &[("onsale-buyer", "ann"), key], wish.clone());
    assert_eq!(held.status, 201, "{held:?}");
    house.post(&path, &[("onsale-buyer", "bob"), key], wish).problem(422, "key_reused");
    // On another route the same key is another one.
    let hold = held.json();
    let inner = format!("/v1/holds/{}", hold["id"].as_str().expect("an id"));
    let token = ("hold-token", hold["token"].as_str().expect("a token"));
    let confirm = format!("{inner}/confirm");
    assert_eq!(house.post(&confirm, &[token, key], json!({"paid_elsewhere": true})).status, 200);
    house
        .post(&confirm, &[token, key, ("onsale-buyer", "ann")], json!({"paid_elsewhere": true}))
        .problem(422, "key_reused");
}

#[test]
fn taking_a_time_away_is_another_request_than_not_naming_it() {
    let house = House::open();
    let event = house.event();
    let path = format!("/v1/events/{event}");
    let key = [("idempotency-key", "one")];
    assert_eq!(house.send("PATCH", &path, &key, Some("{\"name\":\"Late\"}")).status, 200);
    let more = "{\"name\":\"Late\",\"sale_opens_at\":null}";
    house.send("PATCH", &path, &key, Some(more)).problem(422, "key_reused");
}

#[test]
fn a_listing_made_under_a_key_is_not_made_again_with_another_body() {
    let house = House::open();
    let key = [("idempotency-key", "night")];
    let made = house.post("/v1/events", &key, night());
    assert_eq!(made.status, 201, "{made:?}");
    let mut other = night();
    other["name"] = json!("Another night");
    house.post("/v1/events", &key, other).problem(422, "key_reused");
}
