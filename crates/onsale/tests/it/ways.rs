//! Two ways lead to the buying handlers: straight, and through the router when a path must be decoded. Nobody may be
//! able to tell which one a request took.

use serde_json::{Value, json};

use crate::house::{Answer, House};

/// The same request first straight, then with a percent sign in its path.
fn both(house: &House, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> [Answer; 2] {
    let odd = path.replacen("/evt_", "/%65vt_", 1).replacen("/hld_", "/%68ld_", 1);
    assert_ne!(odd, path);
    [path, &odd].map(|path| house.send(method, path, headers, Some(body)))
}

/// Method, path, headers and body.
type WireRequest<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)], &'a str);

/// What both must have in common: everything but what is made anew for each request.
fn told(answer: &Answer) -> (u16, Vec<(String, String)>, Value) {
    let own = ["date", "x-request-id", "idempotent-replayed"];
    let mut headers = answer.headers.clone();
    headers.retain(|(name, _)| !own.contains(&name.as_str()));
    headers.sort();
    let mut body = answer.json();
    if let Some(fields) = body.as_object_mut() {
        fields.remove("request_id");
    }
    (answer.status, headers, body)
}

#[test]
fn a_yes_on_one_way_is_repeated_on_the_other() {
    let house = House::open();
    let event = house.event();
    let check = |method: &str, path: &str, headers: &[(&str, &str)], body: Value| {
        let [straight, routed] = both(&house, method, path, headers, &body.to_string());
        assert!(straight.status < 300, "{straight:?}");
        assert_eq!(told(&straight), told(&routed));
        assert_eq!(routed.header("idempotent-replayed"), Some("true"));
        straight.json()
    };
    let path = format!("/v1/events/{event}/holds");
    for (buyer, end) in [("ann", "confirm"), ("bob", "release")] {
        let key = |name: &'static str| [("onsale-buyer", buyer), ("idempotency-key", name)];
        let place = format!("place-{buyer}");
        let placing = [("onsale-buyer", buyer), ("idempotency-key", place.as_str())];
        let hold = check("POST", &path, &placing, json!({"best_available": {"count": 2}}));
        let inner = format!("/v1/holds/{}", hold["id"].as_str().expect("an id"));
        let token = ("hold-token", hold["token"].as_str().expect("a token"));
        let with = |name| [&key(name)[..], &[token]].concat();
        check("PATCH", &inner, &with("extend"), json!({"extend": true}));
        match end {
            "confirm" => {
                check("POST", &format!("{inner}/confirm"), &with("end"), json!({"paid_elsewhere": true}))
            }
            _ => check("DELETE", &inner, &with("end"), json!({})),
        };
    }
}

#[test]
fn a_no_is_the_same_on_both_ways() {
    let house = House::open();
    let event = house.event();
    let hold = house.hold(&event, "ann", &["A-1-1"]);
    let path = format!("/v1/events/{event}/holds");
    let inner = format!("/v1/holds/{}", hold["id"].as_str().expect("an id"));
    let large = format!("{{\"seats\":[\"{}\"]}}", "x".repeat(70_000));
    let ann = ("onsale-buyer", "ann");
    let requests: [WireRequest<'_>; 18] = [
        ("POST", &path, &[], "{\"seats\":[\"A-1-2\"]}"),
        ("POST", &path, &[ann], ""),
        ("POST", &path, &[ann], "{"),
        ("POST", &path, &[ann], "[]"),
        ("POST", &path, &[ann], "{\"seats\":[1]}"),
        ("POST", &path, &[ann], &large),
        ("POST", &path, &[("onsale-buyer", "bob")], "{\"seats\":[\"A-1-1\"]}"),
        ("POST", &path, &[("onsale-buyer", "")], "{"),
        ("POST", &path, &[ann, ("idempotency-key", "\"open")], "{"),
        ("POST", &path, &[ann, ("onsale-buyer", "bob")], "{\"seats\":[\"A-1-2\"]}"),
        (
            "POST",
            &path,
            &[ann, ("idempotency-key", "a"), ("idempotency-key", "a")],
            "{\"seats\":[\"A-1-2\"]}",
        ),
        ("DELETE", &inner, &[("hold-token", "a"), ("hold-token", "b")], "{}"),
        ("POST", &path, &[("content-type", "text/plain"), ann], "{\"seats\":[\"A-1-2\"]}"),
        ("POST", &format!("{path}x"), &[ann], "{}"),
        ("POST", "/v1/events/evt_nobody/holds", &[], "{"),
        ("PATCH", &inner, &[ann], "{\"extend\":true}"),
        ("DELETE", &inner, &[("hold-token", "wrong")], "{}"),
        ("POST", &format!("{inner}/confirm"), &[ann], "{\"order\":\"ord_x\"}"),
    ];
    for (method, path, headers, body) in requests {
        let [straight, routed] = both(&house, method, path, headers, body);
        assert!(straight.status >= 400, "{method} {path}: {straight:?}");
        assert_eq!(told(&straight), told(&routed), "{method} {path} {body:.40}");
    }
}
