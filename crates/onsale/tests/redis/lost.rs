//! What Redis forgot after it was answered: its owner is told that it is lost, not that it never was.

use serde_json::{Value, json};

use crate::server::{Deployment, Server};
use crate::wire::{Answer, request};
use onsale_redis_servers::{Brand, Server as Redis, Setup};

fn ask(server: &Server, method: &str, path: &str, headers: &[(&str, &str)], body: &Value) -> Answer {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    server.try_exchange(&request(method, path, headers, &body)).expect("an answer")
}

fn told(answer: &Answer) -> (u16, String) {
    (answer.status, answer.json()["code"].as_str().unwrap_or_default().to_owned())
}

fn text(answer: &Answer, field: &str) -> String {
    let body = answer.json();
    assert_eq!(answer.status, 201, "{body}");
    body[field].as_str().unwrap_or_else(|| panic!("{field} in {body}")).to_owned()
}

#[test]
fn holds_and_codes_of_a_lost_tail_answer_410_lost() {
    let _alone = crate::alone();
    let mut redis = Redis::with(Brand::Redis, Setup::default().with("appendonly no"));
    let server = Deployment::single(&redis.url()).start();
    let event = server.create_event(10);
    let sale = json!({
        "name": "Drop", "starts_at": "2001-09-09T01:46:40Z", "ends_at": "2096-10-02T07:06:40Z", "currency": "EUR",
        "buyer_limit": 9, "checkout_seconds": 600,
        "skus": [{"id": "S", "name": "Shirt", "price_minor": 1000, "stock": 50}],
    });
    let sale = text(&ask(&server, "POST", "/v1/sales", &[], &sale), "id");
    let ann = [("onsale-buyer", "ann")];
    let holds = format!("/v1/events/{event}/holds");
    let checkouts = format!("/v1/sales/{sale}/checkouts");
    let hold = |seat: &str| ask(&server, "POST", &holds, &ann, &json!({"seats": [seat]}));
    let check_out = || ask(&server, "POST", &checkouts, &ann, &json!({"lines": [{"sku": "S", "count": 1}]}));
    // Released before the loss: what ended long ago is unknown, not lost.
    let (kept, kept_code) = (hold("A-1"), check_out());
    redis.tell("SAVE");
    let (lost, lost_code) = (hold("A-2"), check_out());
    let (token, code) = (text(&lost, "token"), text(&lost_code, "code"));
    redis.kill();
    redis.start_again();
    server.until("it goes on", |_| hold("A-3").status == 201);
    server.until("it goes on", |_| check_out().status == 201);
    let path = format!("/v1/holds/{}", text(&lost, "id"));
    let owner = [("onsale-buyer", "ann"), ("hold-token", token.as_str())];
    let bearer = [("hold-token", token.as_str())];
    let gone = (410, "lost".to_owned());
    for headers in [&owner[..], &bearer[..]] {
        let shown = ask(&server, "GET", &path, headers, &Value::Null);
        assert_eq!((shown.status, &shown.json()["status"]), (200, &json!("lost")));
        assert_eq!(told(&ask(&server, "PATCH", &path, headers, &json!({"extend": true}))), gone);
        assert_eq!(told(&ask(&server, "POST", &format!("{path}/confirm"), headers, &json!({}))), gone);
        assert_eq!(told(&ask(&server, "DELETE", &path, headers, &Value::Null)), gone);
        assert_eq!(told(&ask(&server, "POST", &format!("{path}/order"), headers, &json!({}))), gone);
    }
    let (id, code) = (text(&lost_code, "id"), ("checkout-code", code.as_str()));
    let path = format!("/v1/checkouts/{id}");
    for headers in [&[ann[0], code][..], &[code]] {
        let shown = ask(&server, "GET", &path, headers, &Value::Null);
        assert_eq!((shown.status, &shown.json()["status"]), (200, &json!("lost")));
        assert_eq!(told(&ask(&server, "POST", &format!("{path}/purchase"), headers, &json!({}))), gone);
        assert_eq!(told(&ask(&server, "POST", &format!("{path}/cancel"), headers, &json!({}))), gone);
        assert_eq!(told(&ask(&server, "POST", &format!("{path}/order"), headers, &json!({}))), gone);
    }
    // What was there before the loss is still there, and what never was is unknown.
    let (token, code) = (text(&kept, "token"), text(&kept_code, "code"));
    let owner = [("onsale-buyer", "ann"), ("hold-token", token.as_str())];
    let path = format!("/v1/holds/{}", text(&kept, "id"));
    assert_eq!(ask(&server, "DELETE", &path, &owner, &Value::Null).status, 200);
    let cancel = format!("/v1/checkouts/{}/cancel", text(&kept_code, "id"));
    let cancelled = ask(&server, "POST", &cancel, &[ann[0], ("checkout-code", &code)], &json!({}));
    assert_eq!(cancelled.status, 200);
    let never = path.replace(&path[path.len() - 4..], "0000");
    assert_eq!(told(&ask(&server, "GET", &never, &owner, &Value::Null)), (404, "hold_unknown".to_owned()));
}

#[test]
fn every_fact_of_an_older_epoch_is_read_by_pages_streamed_and_printed() {
    /// More than a page of facts has, and more than a stream gives at once.
    const TURNS: usize = 520;
    let _alone = crate::alone();
    let redis = Redis::with(Brand::Redis, Setup::default().with("appendonly yes"));
    let deployment = Deployment::single(&redis.url()).with("ONSALE_REDIS__HISTORY_MB", "64");
    let server = deployment.start();
    let event = server.create_event(10);
    let holds = format!("/v1/events/{event}/holds");
    let ann = [("onsale-buyer", "ann")];
    let hold = |seat: &str| ask(&server, "POST", &holds, &ann, &json!({"seats": [seat]}));
    for _ in 0..TURNS {
        let held = hold("A-1");
        let (path, token) = (format!("/v1/holds/{}", text(&held, "id")), text(&held, "token"));
        let owner = [("onsale-buyer", "ann"), ("hold-token", token.as_str())];
        assert_eq!(ask(&server, "DELETE", &path, &owner, &Value::Null).status, 200);
    }
    redis.tell("SCRIPT FLUSH");
    server.until("it goes on under a new epoch", |_| hold("A-2").status == 201);
    let (mut numbers, mut epochs, mut after) = (Vec::new(), Vec::new(), "0".to_owned());
    loop {
        let page = server.get(&format!("/v1/events/{event}/facts?limit=500&after={after}"));
        for fact in page["data"].as_array().expect("facts") {
            numbers.push(fact["offset"].as_u64().expect("a number"));
            epochs.push(fact["epoch"].as_u64().expect("an epoch"));
        }
        after = page["next"].as_str().expect("where to go on").to_owned();
        if page["more"] == json!(false) {
            break;
        }
    }
    assert!(numbers.len() > 2 * TURNS, "{} facts", numbers.len());
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
    epochs.dedup();
    assert_eq!(epochs.len(), 2, "the facts of both epochs: {epochs:?}");
    assert_eq!(deployment.facts(&server, &event).len(), numbers.len());
    // What they take is told, with how much it may be, and that nothing was forgotten before its time.
    let page = || {
        let told = server.try_get("/metrics").expect("an answer").body;
        String::from_utf8_lossy(&told).into_owned()
    };
    let metric = |name: &str| {
        page().lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse::<f64>().ok())
    };
    let is_much = |bytes: Option<f64>| bytes.is_some_and(|bytes| bytes > 100_000.0);
    server.until("facts are measured", |_| is_much(metric("onsale_engine_history_bytes")));
    assert_eq!(metric("onsale_engine_history_max_bytes"), Some(f64::from(64 << 20)));
    assert_eq!(metric("onsale_engine_dedup_forgotten_total"), Some(0.0));
    assert_eq!(metric("onsale_engine_dedup_window_seconds"), None, "there is no such window yet");
}
