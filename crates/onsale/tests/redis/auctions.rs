//! Auctions over HTTP on Redis, two servers of them: what one is told the other shows.

use onsale_edge::http::time::Time;
use serde_json::{Value, json};

use crate::server::{Deployment, Server};
use crate::wire::{Answer, request};
use onsale_redis_servers::{Brand, Server as Redis};

fn ask(server: &Server, method: &str, path: &str, buyer: &str, body: &Value) -> Answer {
    let headers: &[(&str, &str)] = if buyer.is_empty() { &[] } else { &[("onsale-buyer", buyer)] };
    let body = if body.is_null() { String::new() } else { body.to_string() };
    server.try_exchange(&request(method, path, headers, &body)).expect("an answer")
}

fn get(server: &Server, path: &str) -> Value {
    let told = ask(server, "GET", path, "", &Value::Null);
    assert_eq!(told.status, 200, "GET {path}: {}", told.json());
    told.json()
}

fn auction(server: &Server, now: i64, more: &Value) -> String {
    let mut wish = json!({
        "name": "Station clock", "seller": "sam", "currency": "EUR", "start_minor": 1_000,
        "increment": 100, "starts_at": Time(now - 1_000), "ends_at": Time(now + 3_600_000),
    });
    for (name, value) in more.as_object().expect("an object") {
        wish[name] = value.clone();
    }
    let made = ask(server, "POST", "/v1/auctions", "", &wish);
    assert_eq!(made.status, 201, "{}", made.json());
    made.json()["id"].as_str().expect("an id").to_owned()
}

fn bid(server: &Server, auction: &str, bidder: &str, max_minor: i64) -> Answer {
    let body = json!({"max_minor": max_minor, "currency": "EUR"});
    ask(server, "POST", &format!("/v1/auctions/{auction}/bids"), bidder, &body)
}

#[test]
fn auctions_are_held_over_http_on_redis() {
    let _alone = crate::alone();
    let redis = Redis::start(Brand::Redis);
    let time: (i64, i64) = redis.say("TIME").expect("a time");
    let now = time.0 * 1_000;
    let deployment = Deployment::single(&redis.url());
    let servers = [deployment.start(), deployment.start()];
    let [one, other] = &servers;

    let clock = auction(one, now, &json!({}));
    let path = format!("/v1/auctions/{clock}");
    other.until("it knows the auction", |it| it.try_get(&path).is_some_and(|told| told.status == 200));
    let first = bid(one, &clock, "ann", 5_000);
    assert_eq!(first.status, 201, "{}", first.json());
    assert_eq!((&first.json()["standing"], &first.json()["price_minor"]), (&json!("leading"), &json!(1_000)));
    let second = bid(other, &clock, "bob", 3_000);
    assert_eq!(
        (&second.json()["standing"], &second.json()["price_minor"]),
        (&json!("outbid"), &json!(3_100))
    );
    let low = bid(other, &clock, "bob", 3_199);
    assert_eq!((low.status, &low.json()["code"]), (409, &json!("bid_too_low")));
    assert_eq!(low.json()["min_next_minor"], 3_200);
    let third = bid(other, &clock, "bob", 6_000);
    assert_eq!((&third.json()["standing"], &third.json()["price_minor"]), (&json!("leading"), &json!(5_100)));
    one.until("it has heard of all bids", |it| get(it, &path)["bids"] == 3);
    let history = get(one, &format!("{path}/history"));
    let amounts: Vec<_> = (0..3).map(|n| history["data"][n]["amount_minor"].clone()).collect();
    assert_eq!(json!(amounts), json!([5_100, 3_000, 5_000]), "the living maximum is not told");

    // Bought at once: it is over everywhere.
    let chair =
        auction(one, now, &json!({"name": "Chair", "buy_now": {"price_minor": 9_000, "policy": "always"}}));
    let of_chair = format!("/v1/auctions/{chair}");
    let bought = ask(one, "POST", &format!("{of_chair}/buy-now"), "cem", &json!({"currency": "EUR"}));
    assert_eq!((bought.status, &bought.json()["standing"]), (201, &json!("bought")), "{}", bought.json());
    other.until("it knows that it is over", |it| {
        it.try_get(&of_chair).is_some_and(|told| told.json()["status"] == "closed")
    });
    let late = bid(other, &chair, "ann", 9_999);
    assert_eq!((late.status, &late.json()["code"]), (409, &json!("over")));

    let soon = get(other, &format!("/v1/auctions?ending_before={}", Time(now + 7_200_000)));
    let ids: Vec<_> = soon["data"].as_array().expect("a list").iter().map(|one| one["id"].clone()).collect();
    assert_eq!(json!(ids), json!([clock]));
    let sooner = get(other, &format!("/v1/auctions?ending_before={}", Time(now)));
    assert_eq!(sooner["data"], json!([]));
    let own = ask(other, "GET", "/v1/buyers/bob/bids", "bob", &Value::Null);
    assert_eq!(own.status, 200, "{}", own.json());
    assert_eq!(own.json()["data"][0]["auction"], json!(clock), "{}", own.json());
}
