//! One listing whose keys another program has written over: an operator is told which one by log, `/readyz`, `/metrics` and
//! doctor, and every other listing is sold meanwhile.

use onsale_edge::http::time::Time;
use serde_json::{Value, json};

use crate::server::{Deployment, Server};
use crate::wire::{Answer, request};
use onsale_redis_servers::{Brand, Server as Redis, Setup};

fn hold(server: &Server, event: &str, seat: usize) -> Answer {
    let body = json!({"seats": [format!("A-{seat}")]}).to_string();
    let path = format!("/v1/events/{event}/holds");
    server.try_exchange(&request("POST", &path, &[("onsale-buyer", "ann")], &body)).expect("an answer")
}

fn sells(server: &Server, event: &str, seat: usize) {
    server.until("it sells", |one| {
        let told = hold(one, event, seat);
        assert!(told.status == 201 || told.status == 503, "{:?}", told.json());
        told.status == 201
    });
}

fn is_damaged(told: &Answer) -> bool {
    (told.status, told.json()["code"].as_str()) == (500, Some("store_damaged"))
}

fn damaged_in_readyz(server: &Server) -> Value {
    server.get("/readyz")["damaged"].clone()
}

#[test]
fn a_damaged_listing_answers_500_is_named_everywhere_and_stops_no_other() {
    let _alone = crate::alone();
    let redis = Redis::with(Brand::Redis, Setup::default().with("appendonly yes"));
    let deployment = Deployment::single(&redis.url());
    let server = deployment.start();
    let (broken, healthy) = (server.create_event(10), server.create_event(10));
    let key = format!("onsale:seat:locks:{{{broken}}}");
    assert!(damaged_in_readyz(&server).is_null() && deployment.doctor().1, "all is well before");
    redis.tell(&format!("RENAME {key} aside:{{{broken}}}"));
    redis.tell(&format!("SET {key} foreign"));
    redis.tell("SCRIPT FLUSH");
    sells(&server, &healthy, 1);

    let named = json!([{"listing": broken, "key": key, "what": "is a string and should be a hash"}]);
    // Nobody needs to ask for it first.
    server.until("it is named", |one| damaged_in_readyz(one) == named);
    assert!(server.log().contains(&key), "{}", server.log());
    assert!(is_damaged(&hold(&server, &broken, 2)));
    let metrics = server.try_get("/metrics").expect("an answer");
    assert!(String::from_utf8_lossy(&metrics.body).contains("onsale_engine_damaged_listings 1"));
    let (report, sound) = deployment.doctor();
    let findings = report["findings"].as_array().expect("a list");
    let told = findings.iter().find(|finding| finding["code"] == "damaged").expect("it is told");
    assert!(!sound && told["what"].as_str().is_some_and(|what| what.contains(&key)), "{told}");

    let second = deployment.start();
    sells(&second, &healthy, 2);
    assert!(is_damaged(&second.try_get(&format!("/v1/events/{broken}")).expect("an answer")));
    assert_eq!(damaged_in_readyz(&second), named);

    redis.tell(&format!("RENAME aside:{{{broken}}} {key}"));
    for (server, seat) in [(&server, 3), (&second, 4)] {
        server.until("it is whole again", |one| hold(one, &broken, seat).status == 201);
        server.until("nothing is damaged", |one| damaged_in_readyz(one).is_null());
    }
    assert!(deployment.doctor().1);
}

/// Everything that stands under a listing's id, by key.
fn kept(redis: &Redis, listing: &str) -> Vec<(String, Option<Vec<u8>>)> {
    let mut names: Vec<String> = redis.say(&format!("KEYS onsale:*{{{listing}}}*")).expect("an answer");
    // Only a hint, and a marker ends by itself.
    names.retain(|name| !name.contains(":marker:") && !name.contains(":stats:"));
    names.sort();
    names.iter().map(|name| (name.clone(), redis.say(&format!("DUMP {name}")).expect("an answer"))).collect()
}

#[test]
fn a_create_repeated_when_its_record_and_the_head_are_gone_is_500_and_the_orders_stay() {
    let _alone = crate::alone();
    let redis = Redis::with(Brand::Redis, Setup::default().with("appendonly yes"));
    let deployment = Deployment::single(&redis.url());
    let server = deployment.start();
    let time: (i64, i64) = redis.say("TIME").expect("a time");
    let now = time.0 * 1_000;
    let sku = json!({"id": "tee", "name": "Shirt", "price_minor": 0, "stock": 9});
    let body = json!({"name": "Drop", "starts_at": Time(now - 1_000), "ends_at": Time(now + 86_400_000), "currency": "EUR",
                      "skus": [sku]});
    let create = request("POST", "/v1/sales", &[("idempotency-key", "drop-1")], &body.to_string());
    let made = server.try_exchange(&create).expect("an answer");
    let sale = made.json()["id"].as_str().expect("an id").to_owned();
    let lines = json!({"lines": [{"sku": "tee", "count": 1}]}).to_string();
    let path = format!("/v1/sales/{sale}/checkouts");
    let bought = server.try_exchange(&request("POST", &path, &[("onsale-buyer", "ann")], &lines));
    assert_eq!(bought.expect("an answer").status, 201);
    let other = server.create_event(10);

    let records: Vec<String> = redis.say(&format!("KEYS onsale:idem:v1:{{{sale}}}:*")).expect("an answer");
    records.iter().for_each(|record| redis.tell(&format!("DEL {record}")));
    redis.tell(&format!("RENAME onsale:sale:codes:{{{sale}}} aside:{{{sale}}}"));
    let before = kept(&redis, &sale);
    let told = server.try_exchange(&create).expect("an answer");
    assert!(is_damaged(&told), "{} {}", told.status, told.json());
    assert_eq!(kept(&redis, &sale).len(), before.len());
    assert!(kept(&redis, &sale) == before, "what is left of the sale was changed");
    assert_eq!(hold(&server, &other, 1).status, 201, "another listing is sold meanwhile");

    redis.tell(&format!("RENAME aside:{{{sale}}} onsale:sale:codes:{{{sale}}}"));
    let told = server.try_exchange(&create).expect("an answer");
    assert_eq!((told.status, &told.json()["code"]), (409, &json!("listing_exists")));
    let level = &server.get(&format!("/v1/sales/{sale}"))["skus"][0];
    assert_eq!(level["reserved"], 1, "{level}");
}
