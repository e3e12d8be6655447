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
    let hold = format!("/v1/holds/{}", hold["id"].as_str().expect("an id"));
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
    let path = format!("/v1/holds/{}/order", hold["id"].as_str().expect("an id"));
    let order = send(one, "POST", &path, &token, &json!({}));
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

#[test]
fn a_name_that_is_used_twice_at_once_on_two_servers_makes_one_listing() {
    let _alone = crate::alone();
    let redis = Redis::start(Brand::Redis);
    let deployment = Deployment::single(&redis.url());
    let servers = [deployment.start(), deployment.start()];
    for round in 0..10 {
        let name = format!("shop-{round}");
        let body = json!({"name": "Hourly", "currency": "EUR", "items": [{"price_minor": 900, "stock": 5}],
                          "from": "2096-10-02T07:00:00Z", "external_id": name, "metadata": {"round": round}});
        let told = std::thread::scope(|scope| {
            let asked = servers
                .each_ref()
                .map(|server| scope.spawn(|| send(server, "POST", "/v1/series", &[], &body)));
            asked.map(|asked| asked.join().expect("an answer"))
        });
        let mut statuses = told.each_ref().map(|told| told.status);
        statuses.sort_unstable();
        assert_eq!(statuses, [201, 409], "{} {}", told[0].json(), told[1].json());
        let [made, refused] = if told[0].status == 201 { [&told[0], &told[1]] } else { [&told[1], &told[0]] };
        let (made, refused) = (made.json(), refused.json());
        assert_eq!((&refused["code"], &refused["listing"]), (&json!("listing_exists"), &made["id"]));
        for server in &servers {
            let found = server.get(&format!("/v1/series?external_id={name}"));
            assert_eq!((&found["data"][0]["id"], &found["data"][1]), (&made["id"], &Value::Null), "{found}");
            assert_eq!(found["data"][0]["metadata"], json!({"round": round}));
        }
    }
    // Deleted by one, it is unknown to the other, and its name stays taken.
    let [one, other] = &servers;
    let series = format!(
        "/v1/series/{}",
        one.get("/v1/series?external_id=shop-0")["data"][0]["id"].as_str().expect("an id")
    );
    let gone = one.try_exchange(&request("DELETE", &series, &[], "")).expect("an answer");
    assert_eq!(gone.status, 204);
    other.until("the deletion is known", |it| it.get("/v1/series?external_id=shop-0")["data"] == json!([]));
    let unknown = other.try_exchange(&request("GET", &series, &[], "")).expect("an answer");
    assert_eq!(unknown.status, 404);
    let body = json!({"name": "Hourly", "currency": "EUR", "items": [{"price_minor": 900, "stock": 5}],
                      "external_id": "shop-0"});
    let told = send(other, "POST", "/v1/series", &[], &body);
    assert_eq!((told.status, &told.json()["code"]), (409, &json!("listing_exists")));
}
