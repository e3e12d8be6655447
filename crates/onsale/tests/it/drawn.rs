//! A number that was drawn for something new may be taken: another one is drawn, on every engine, and nobody hears of it.

mod unlucky;

use onsale_edge::http::time::Time;
use onsale_engine::Engine;
use onsale_engine::embedded::{EmbeddedEngine, Options};
use onsale_engine_redis::link::{Config, Link};
use onsale_engine_redis::live::{self, RedisEngine};
use onsale_redis_servers::{Brand, Server, Setup};
use serde_json::{Value, json};
use std::sync::Arc;

use self::unlucky::Unlucky;
use crate::house::{Answer, House, layout, night};

const DAY: i64 = 86_400_000;

#[test]
fn a_number_that_is_taken_is_drawn_again_on_the_embedded_engine() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = EmbeddedEngine::open(folder.path(), Options::default()).expect("opens");
    draws_again(&House::serve(|_| {}, Arc::new(Unlucky::new(engine))));
}

#[test]
fn a_number_that_is_taken_is_drawn_again_on_redis() {
    let redis = Server::with(Brand::Redis, Setup::default());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.expect("a runtime");
    let engine: RedisEngine = runtime.block_on(async {
        let config = Config { url: vec![redis.url()], ..Config::default() };
        let link = Link::open(config).await.expect("a way to redis");
        RedisEngine::open(link, live::Options::default()).await.expect("an engine")
    });
    draws_again(&House::serve(|_| {}, Arc::new(Unlucky::new(engine))));
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_else(|| panic!("{name} in {value}"))
}

/// Every route that draws a number is first given one that is taken, several times over.
fn draws_again<E: Engine>(house: &House<Unlucky<E>>) {
    listings(house);
    seats(house);
    stock(house);
    places(house);
}

/// A listing's id is drawn like any other number, unless it follows from the caller's key.
fn listings<E: Engine>(house: &House<Unlucky<E>>) {
    let at = |ms: i64| Time(house.engine.now() + ms);
    let skus = json!([{"id": "tee", "name": "Shirt", "price_minor": 1900, "stock": 10}]);
    for (path, body) in [
        ("/v1/venues", json!({"name": "Hall", "layout": layout()})),
        ("/v1/events", night()),
        ("/v1/sales", json!({"name": "Drop", "ends_at": at(DAY), "currency": "EUR", "skus": skus})),
        (
            "/v1/series",
            json!({"name": "Hours", "currency": "EUR", "from": at(DAY), "items": [{"price_minor": 1, "stock": 1}]}),
        ),
        (
            "/v1/registrations",
            json!({"name": "Run", "starts_at": at(30 * DAY), "capacity": 1, "currency": "EUR"}),
        ),
        (
            "/v1/auctions",
            json!({"name": "Vase", "seller": "sam", "currency": "EUR", "ends_at": at(DAY), "start_minor": 100,
                   "increment": 10}),
        ),
    ] {
        let make = |bad: u32, headers: &[(&str, &str)]| {
            house.engine.draw_badly(bad);
            let answer = house.post(path, headers, body.clone());
            (answer.status, answer)
        };
        let (_, first) = make(0, &[]);
        // Drawn again twice, and the third is free.
        let (status, second) = make(2, &[]);
        assert_eq!((status, house.engine.bad_draws_left()), (201, 0), "{path}: {second:?}");
        differ(&[first.json(), second.json()], "id");
        let (_, unlucky) = make(1_000, &[]);
        unlucky.problem(500, "internal");
        assert_eq!(house.engine.bad_draws_left(), 997, "{path}: no more than three are drawn");
        // Under a key the id is the caller's own, whatever is drawn.
        let (status, keyed) = make(1_000, &[("idempotency-key", "mine")]);
        assert_eq!((status, house.engine.bad_draws_left()), (201, 1_000), "{path}: {keyed:?}");
    }
    house.engine.draw_badly(0);
}

/// Asks twice; the second time every number that is drawn first is that of the first answer. Both must be granted.
fn twice<E: Engine>(house: &House<Unlucky<E>>, ask: impl Fn(usize) -> Answer) -> [Value; 2] {
    [0, 1].map(|n| {
        house.engine.draw_badly(if n == 0 { 0 } else { 3 });
        let answer = ask(n);
        assert!((200..300).contains(&answer.status), "{answer:?}");
        assert_eq!(house.engine.bad_draws_left(), 0, "the number is taken each time");
        answer.json()
    })
}

fn differ(answers: &[Value; 2], name: &str) {
    assert_ne!(text(&answers[0], name), text(&answers[1], name));
}

fn seats<E: Engine>(house: &House<Unlucky<E>>) {
    let event = house.event();
    let path = format!("/v1/events/{event}/holds");
    let buyers = ["ann", "bob"].map(|name| ("onsale-buyer", name));
    let hold =
        |seats: [&str; 2]| twice(house, |n| house.post(&path, &[buyers[n]], json!({"seats": [seats[n]]})));
    let (sold, ordered) = (hold(["A-1-1", "A-1-2"]), hold(["A-1-3", "A-1-4"]));
    differ(&sold, "id");
    // What is refused for another reason is refused for that.
    house.engine.draw_badly(1);
    house.post(&path, &[("onsale-buyer", "cem")], json!({"seats": ["A-1-1"]})).problem(409, "seat_held");
    house.engine.draw_badly(0);
    let token = |hold: &Value| text(hold, "token").to_owned();
    let confirmed = twice(house, |n| {
        let confirm = format!("/v1/holds/{}/confirm", text(&sold[n], "id"));
        house.post(&confirm, &[("hold-token", &token(&sold[n]))], json!({"paid_elsewhere": true}))
    });
    differ(&confirmed, "order");
    let places = twice(house, |n| {
        let queue = format!("/v1/events/{event}/seats/A-1-3/queue");
        let name = ["dan", "eva"][n];
        house.send("POST", &queue, &[("onsale-buyer", name)], None)
    });
    differ(&places, "place");
    let orders = twice(house, |n| {
        let path = format!("/v1/holds/{}/order", text(&ordered[n], "id"));
        house.post(&path, &[("hold-token", &token(&ordered[n]))], json!({}))
    });
    differ(&orders, "id");
    let paying = twice(house, |n| {
        let pay = format!("/v1/orders/{}/pay", text(&orders[n], "id"));
        house.post(&pay, &[("order-key", text(&orders[n], "key"))], json!({"method": "silent"}))
    });
    differ(&paying, "payment");
    // Nobody has such bad luck by chance: it is told as what it is, and nothing has happened.
    house.engine.draw_badly(1_000);
    let wish = json!({"seats": ["A-2-1"]});
    let key = [("onsale-buyer", "fay"), ("idempotency-key", "unlucky")];
    house.post(&path, &key, wish.clone()).problem(500, "internal");
    house.engine.draw_badly(2);
    let held = house.post(&path, &key, wish.clone());
    assert_eq!(held.status, 201, "{held:?}");
    assert_eq!(house.post(&path, &key, wish).json(), held.json(), "the same key, the same hold");
    house.engine.draw_badly(0);
}

fn stock<E: Engine>(house: &House<Unlucky<E>>) {
    let now = house.engine.now();
    let sale = house.post(
        "/v1/sales",
        &[],
        json!({
            "name": "Drop", "starts_at": Time(now - 1_000), "ends_at": Time(now + DAY), "currency": "EUR",
            "skus": [{"id": "tee", "name": "Shirt", "price_minor": 1900, "stock": 10}],
        }),
    );
    let path = format!("/v1/sales/{}/checkouts", text(&sale.json(), "id"));
    let lines = json!({"lines": [{"sku": "tee", "count": 1}]});
    let checkouts = twice(house, |_| house.post(&path, &[("onsale-buyer", "ann")], lines.clone()));
    differ(&checkouts, "id");
    let bought = twice(house, |n| {
        let buy = format!("/v1/checkouts/{}/purchase", text(&checkouts[n], "id"));
        let code = [("checkout-code", text(&checkouts[n], "code"))];
        house.post(&buy, &code, json!({"paid_elsewhere": true}))
    });
    differ(&bought, "order");
    let aliases = twice(house, |_| house.send("POST", "/checkout?user_id=bob&id=tee", &[], None));
    differ(&aliases, "id");
    let bought = twice(house, |n| {
        house.send("POST", &format!("/purchase?code={}", text(&aliases[n], "code")), &[], None)
    });
    differ(&bought, "order");
}

fn places<E: Engine>(house: &House<Unlucky<E>>) {
    let now = house.engine.now();
    let course = house.post(
        "/v1/registrations",
        &[],
        json!({
            "name": "Evening run", "opens_at": Time(now - 1_000), "starts_at": Time(now + 30 * DAY), "capacity": 2,
            "currency": "EUR", "price_minor": 500,
        }),
    );
    let path = format!("/v1/registrations/{}/entries", text(&course.json(), "id"));
    let buyers = ["ann", "bob"].map(|name| ("onsale-buyer", name));
    let entries = twice(house, |n| house.post(&path, &[buyers[n]], json!({})));
    differ(&entries, "id");
    let confirmed = twice(house, |n| {
        let confirm = format!("/v1/entries/{}/confirm", text(&entries[n], "id"));
        house.post(&confirm, &[buyers[n]], json!({"paid_elsewhere": true}))
    });
    differ(&confirmed, "order");
}
