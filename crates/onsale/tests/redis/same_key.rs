//! One key on one route is one request on Redis, too, whichever of two servers is asked; and what one server has just made or
//! refused is known to the other.

use onsale_edge::http::time::Time;
use serde_json::{Value, json};

use crate::server::{Deployment, Server};
use crate::wire::{Answer, request};
use onsale_redis_servers::{Brand, Server as Redis};

const DAY: i64 = 86_400_000;

fn send(server: &Server, method: &str, path: &str, headers: &[(&str, &str)], body: &Value) -> Answer {
    server.try_exchange(&request(method, path, headers, &body.to_string())).expect("an answer")
}

/// What must be made; its id.
fn made(server: &Server, path: &str, body: &Value) -> String {
    let told = send(server, "POST", path, &[], body);
    assert_eq!(told.status, 201, "POST {path}: {}", told.json());
    told.json()["id"].as_str().expect("an id").to_owned()
}

#[test]
fn another_body_under_the_same_key_is_refused_on_redis_whichever_server_is_asked() {
    let _alone = crate::alone();
    let redis = Redis::start(Brand::Redis);
    let time: (i64, i64) = redis.say("TIME").expect("a time");
    let now = time.0 * 1_000;
    let deployment = Deployment::single(&redis.url());
    let servers = [deployment.start(), deployment.start()];
    let [one, other] = &servers;
    let event = format!("/v1/events/{}", one.create_event(6));
    let wish = json!({"seats": ["A-1", "A-2"]});
    let hold = send(one, "POST", &format!("{event}/holds"), &[("onsale-buyer", "ann")], &wish).json();
    let token = ("hold-token", hold["token"].as_str().expect("a token"));
    let hold = format!("{event}/holds/{}", hold["id"].as_str().expect("an id"));
    let sku = json!({"id": "tee", "name": "Shirt", "price_minor": 1900, "stock": 10});
    let sale = json!({"name": "Drop", "starts_at": Time(now - 1_000), "ends_at": Time(now + DAY), "currency": "EUR",
                      "skus": [sku]});
    let sale = format!("/v1/sales/{}", made(one, "/v1/sales", &sale));
    let items = json!([{"price_minor": 900, "stock": 5}]);
    let series = json!({"name": "On the hour", "currency": "EUR", "items": items});
    let series = format!("/v1/series/{}", made(one, "/v1/series", &series));
    let run = json!({"name": "Run", "opens_at": Time(now - 1_000), "starts_at": Time(now + 30 * DAY), "capacity": 1,
                     "currency": "EUR"});
    let run = format!("/v1/registrations/{}", made(one, "/v1/registrations", &run));
    let (blocks, tee) = (format!("{event}/blocks"), format!("{sale}/skus/tee"));
    let pairs = [
        ("PATCH", &hold, json!({"extend": true}), json!({"drop_seats": ["A-1"]})),
        (
            "POST",
            &blocks,
            json!({"seats": ["A-4"], "reason": "x"}),
            json!({"seats": ["A-4"], "unblock": true}),
        ),
        ("PATCH", &event, json!({"name": "Late"}), json!({"status": "closed"})),
        ("PATCH", &tee, json!({"add": 1}), json!({"withdraw": 1})),
        ("PATCH", &tee, json!({"add": 2}), json!({"price_minor": 1800})),
        ("PATCH", &sale, json!({"name": "Last drop"}), json!({"status": "ended"})),
        ("PATCH", &sale, json!({"status": "ended"}), json!({"status": "cancelled"})),
        ("PATCH", &series, json!({"status": "paused"}), json!({"status": "ended"})),
        ("PATCH", &run, json!({"capacity": 2}), json!({"status": "cancelled"})),
    ];
    for (number, (method, path, first, second)) in pairs.iter().enumerate() {
        let key = format!("pair-{number}");
        let headers = [token, ("idempotency-key", key.as_str())];
        let headers = if path.contains("/holds/") { &headers[..] } else { &headers[1..] };
        let done = send(one, method, path, headers, first);
        assert_eq!(done.status, 200, "{path} {first}: {}", done.json());
        for server in &servers {
            let told = send(server, method, path, headers, second);
            assert_eq!((told.status, &told.json()["code"]), (422, &json!("key_reused")), "{path} {second}");
        }
        let again = send(other, method, path, headers, first);
        assert_eq!((again.status, again.json()), (200, done.json()), "{path} {first}");
    }
}

#[test]
fn a_refused_hold_is_noted_and_a_new_order_is_found_by_the_other_server() {
    let _alone = crate::alone();
    let redis = Redis::start(Brand::Redis);
    let deployment = Deployment::single(&redis.url());
    let servers = [deployment.start(), deployment.start()];
    let [one, other] = &servers;
    let id = one.create_event(6);
    let event = format!("/v1/events/{id}");
    let wish = json!({"seats": ["A-1"]});
    let hold = send(one, "POST", &format!("{event}/holds"), &[("onsale-buyer", "ann")], &wish).json();
    let token = [("hold-token", hold["token"].as_str().expect("a token"))];
    let order = send(one, "POST", "/v1/orders", &token, &json!({"hold": hold["id"]}));
    assert_eq!(order.status, 201, "{}", order.json());
    // The other server has not been asked for this event before.
    let shown = other.get(&format!("/v1/orders/{}", order.json()["id"].as_str().expect("an id")));
    assert_eq!(shown["status"], "pending", "{shown}");

    let told = send(one, "POST", &format!("{event}/holds"), &[("onsale-buyer", "bob")], &wish);
    assert_eq!((told.status, &told.json()["code"]), (409, &json!("seat_held")));
    let attempts = format!("{event}/attempts");
    other.until("the attempt is noted", |it| it.get(&attempts)["counts"] == json!({"seat_held": 1}));
    let attempt = &other.get(&attempts)["data"][0];
    assert_eq!(
        (&attempt["buyer"], &attempt["verb"], &attempt["seats"]),
        (&json!("bob"), &json!("place_hold"), &json!([{"seat": "A-1", "code": "seat_held"}]))
    );
}
