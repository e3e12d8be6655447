//! What every request meets: the key, limits, and problems for whatever goes wrong.

use std::io::{BufReader, Read, Write};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::house::{Answer, House, KEY};

#[test]
fn what_is_on_sale_needs_no_key_and_a_wrong_one_is_refused_there_too() {
    let house = House::open();
    for authorization in ["Bearer", "Bearer wrong", "Basic dGVzdA==", &format!("Bearer {KEY}x")] {
        for path in ["/v1/events", "/v1/orders"] {
            let told = house.send("GET", path, &[("authorization", authorization)], None);
            told.problem(401, "unauthenticated");
            assert_eq!(told.header("www-authenticate"), Some("Bearer"));
        }
    }
    assert_eq!(house.send_bare("GET", "/v1/events", &[], None).status, 200);
    house.send_bare("GET", "/v1/orders", &[], None).problem(401, "unauthenticated");
    assert_eq!(
        house.send("GET", "/v1/events", &[("authorization", &format!("bearer {KEY}"))], None).status,
        200
    );
    for open in ["/v1/time", "/livez", "/readyz", "/metrics"] {
        assert_eq!(house.send("GET", open, &[("authorization", "none")], None).status, 200, "{open}");
    }
}

#[test]
fn what_is_not_there_is_a_problem_too() {
    let house = House::open();
    house.get("/nothing").problem(404, "route_unknown");
    house.get("/v1/nothing").problem(404, "route_unknown");
    let told = house.send("PUT", "/v1/events", &[], None);
    told.problem(405, "method_not_allowed");
    assert!(told.header("allow").is_some_and(|allow| allow.contains("POST")), "{told:?}");
    house.get("/v1/events/%ff/seats").problem(400, "malformed");
}

#[test]
fn bodies_that_cannot_be_read_are_told_apart_from_wrong_ones() {
    let house = House::open();
    for body in ["{", "", "nonsense", "{\"name\": \u{1}}", "[1,2", "{\"a\":1,}"] {
        let told = house.send("POST", "/v1/venues", &[], Some(body));
        // An empty body counts as `{}`, which lacks a name.
        let (status, code) = if body.is_empty() { (422, "invalid") } else { (400, "malformed") };
        told.problem(status, code);
    }
    let deep = "[".repeat(100_000);
    house.send("POST", "/v1/venues", &[], Some(&format!("{{\"name\":{deep}"))).problem(400, "malformed");
    house.send("POST", "/v1/venues", &[], Some("[\"Hall\", \"Oslo\", {}]")).problem(422, "invalid");
    let kind = [("authorization", &*format!("Bearer {KEY}")), ("content-type", "text/plain")];
    let text = format!(
        "POST /v1/venues HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {KEY}\r\ncontent-type: text/plain\r\n\
         content-length: 2\r\n\r\n{{}}"
    );
    house.raw(text.as_bytes()).problem(415, "media_type");
    let chunked =
        text.replace("content-length: 2\r\n\r\n{}", "transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n");
    house.raw(chunked.as_bytes()).problem(415, "media_type");
    // A body of nothing has no type to be wrong.
    house.send("POST", "/v1/venues", &kind, None).problem(422, "invalid");
    let empty = chunked.replace("2\r\n{}\r\n0", "0");
    house.raw(empty.as_bytes()).problem(422, "invalid");
    for (name, value) in [("onsale-buyer", ""), ("onsale-buyer", "\u{80}"), ("idempotency-key", "\"open")] {
        let told = house.send("POST", "/v1/venues", &[(name, value)], Some("{}")).problem(422, "invalid");
        assert!(told["field"].as_str().is_some_and(|field| field.eq_ignore_ascii_case(name)), "{told}");
    }
    let long = "x".repeat(256);
    house.send("POST", "/v1/venues", &[("idempotency-key", &long)], Some("{}")).problem(422, "invalid");
}

#[test]
fn a_header_that_decides_may_come_once_only() {
    let house = House::open();
    let event = house.event();
    let holds = format!("/v1/events/{event}/holds");
    let key = format!("Bearer {KEY}");
    let twice = [
        ("onsale-buyer", "Onsale-Buyer", ["ann", "bob"]),
        ("idempotency-key", "Idempotency-Key", ["one", "two"]),
        ("authorization", "Authorization", [key.as_str(), "Bearer other"]),
        ("authorization", "Authorization", [key.as_str(), key.as_str()]),
        ("hold-token", "Hold-Token", ["a", "b"]),
        ("checkout-code", "Checkout-Code", ["a", "b"]),
        ("order-key", "Order-Key", ["a", "b"]),
    ];
    for (name, shown, [one, other]) in twice {
        let mut headers = vec![("onsale-buyer", "ann")];
        headers.retain(|(known, _)| *known != name);
        headers.extend([(name, one), (name, other)]);
        // The paths that go straight, those through the router, and one without a key of its own.
        for path in
            [holds.as_str(), &holds.replace("evt", "%65vt"), "/v1/venues", "/checkout?user_id=ann&id=x"]
        {
            let told = house.send("POST", path, &headers, Some("{\"seats\":[\"A-1-1\"]}"));
            let told = told.problem(400, "malformed");
            assert_eq!(told["field"], shown, "{path}: {told}");
        }
    }
    // Others may: they decide nothing.
    let more = [("onsale-buyer", "ann"), ("accept", "a/b"), ("accept", "c/d")];
    assert_eq!(house.post(&holds, &more, json!({"seats": ["A-1-1"]})).status, 201);
}

#[test]
fn a_request_of_http_1_1_names_its_host() {
    let house = House::open();
    let ask = |head: &str| house.raw(format!("GET /livez {head}connection: close\r\n\r\n").as_bytes());
    assert_eq!(ask("HTTP/1.1\r\n").problem(400, "malformed")["field"], "Host");
    assert_eq!(ask("HTTP/1.1\r\nhost: a\r\nhost: b\r\n").problem(400, "malformed")["field"], "Host");
    assert_eq!(ask("HTTP/1.1\r\nhost:\r\n").status, 200, "a host may be nothing");
    assert_eq!(ask("HTTP/1.0\r\n").status, 200);
}

#[test]
fn a_body_of_100_mb_is_refused_before_it_is_read() {
    let house = House::open();
    let event = house.event();
    let head = format!(
        "POST /v1/events/{event}/holds HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {KEY}\r\n\
         onsale-buyer: ann\r\ncontent-length: 100000000\r\n\r\n"
    );
    house.raw(head.as_bytes()).problem(413, "too_large");
    // Without a length it is cut at the limit.
    let mut stream = house.connect();
    let head = head.replace("content-length: 100000000", "transfer-encoding: chunked");
    stream.write_all(head.as_bytes()).expect("the head");
    let chunk = [b"1000\r\n".as_slice(), &[b' '; 0x1000], b"\r\n"].concat();
    let mut sent = 0;
    while sent < 100_000_000 && stream.write_all(&chunk).is_ok() {
        sent += 0x1000;
        if sent > 80 << 10 {
            std::thread::sleep(Duration::from_millis(20));
            break;
        }
    }
    Answer::read(&mut BufReader::new(stream)).problem(413, "too_large");
}

#[test]
fn headers_have_a_limit() {
    let house = House::open();
    let long = "x".repeat(20_000);
    house.send("GET", "/v1/time", &[("x-long", &long)], None).problem(431, "headers_too_large");
    for enormous in [100_000, 1_000_000].map(|length| "x".repeat(length)) {
        let told = house.send("GET", "/v1/time", &[("x-long", &enormous)], None);
        assert!(
            told.problem(431, "headers_too_large")["detail"].as_str().is_some_and(|d| d.contains("16384"))
        );
        assert_eq!(told.header("connection"), Some("close"));
    }
    let many = vec![("x-one", "1"); 101];
    house.send("GET", "/v1/time", &many, None).problem(431, "headers_too_large");
    assert_eq!(house.get("/livez").status, 200);
    let page = String::from_utf8(house.get("/metrics").body).expect("text");
    assert!(page.contains("onsale_requests_total{route=\"unknown\",status=\"431\"} 3"), "{page}");
}

#[test]
fn what_is_not_http_is_a_problem_too() {
    let house = House::open();
    for bytes in [
        "nonsense\r\n\r\n",
        "GET\r\n\r\n",
        "GET /livez HTTP/9.9\r\n\r\n",
        "GET /livez HTTP/1.1\r\nno colon\r\n\r\n",
        "GET /livez HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n",
    ] {
        house.raw(bytes.as_bytes()).problem(400, "malformed");
    }
    // On a connection that has been served before as well.
    let mut stream = BufReader::new(house.connect());
    stream.get_mut().write_all(b"GET /livez HTTP/1.1\r\nhost: x\r\n\r\n").expect("sent");
    assert_eq!(Answer::read(&mut stream).status, 200);
    stream.get_mut().write_all(b"nonsense\r\n\r\n").expect("sent");
    Answer::read(&mut stream).problem(400, "malformed");
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).expect("the end");
    assert!(rest.is_empty());
}

#[test]
fn a_busy_engine_is_told_at_once_and_a_silent_one_in_time() {
    let house = House::open_with(|config| config.limits.request_timeout_ms = 200);
    let event = house.event();
    let hold = |house: &House| {
        let path = format!("/v1/events/{event}/holds");
        house.post(&path, &[("onsale-buyer", "ann")], json!({"seats": ["A-1-1"]}))
    };
    house.engine.busy.store(true, Ordering::Relaxed);
    let started = Instant::now();
    let told = hold(&house);
    told.problem(503, "busy");
    assert_eq!(told.header("retry-after"), Some("1"));
    assert!(started.elapsed() < Duration::from_millis(150));
    house.get("/readyz").problem(503, "disk_full");
    house.engine.busy.store(false, Ordering::Relaxed);
    house.engine.stuck.store(true, Ordering::Relaxed);
    let told = hold(&house).problem(503, "timed_out");
    assert!(told["detail"].as_str().is_some_and(|detail| detail.contains("same Idempotency-Key")), "{told}");
    // Whoever only reads has sent no command whose end could be unknown.
    for path in [format!("/v1/events/{event}/facts"), format!("/v1/events/{event}/attempts")] {
        let answer = house.get(&path);
        let told = answer.problem(503, "timed_out");
        assert_eq!(
            told["detail"],
            "The store does not answer in time. Reading changes nothing: try again in a moment."
        );
        assert_eq!(answer.header("retry-after"), Some("1"));
    }
}

#[test]
fn a_request_id_is_echoed_or_made() {
    let house = House::open();
    let own = house.send("GET", "/livez", &[("x-request-id", "mine-1")], None);
    assert_eq!(own.header("x-request-id"), Some("mine-1"));
    let (one, two) = (house.get("/livez"), house.get("/livez"));
    assert_eq!(one.header("x-request-id").map(str::len), Some(16));
    assert_ne!(one.header("x-request-id"), two.header("x-request-id"));
    let wild = house.send("GET", "/livez", &[("x-request-id", &"y".repeat(200))], None);
    assert_eq!(wild.header("x-request-id").map(str::len), Some(16));
}

#[test]
fn a_problem_names_its_request_and_points_at_the_field_in_plain_words() {
    let house = House::open();
    let told = |path: &str, headers: &[(&str, &str)], body: &str| {
        let told = house.send("POST", path, headers, Some(body));
        let json = told.json();
        assert_eq!(json["request_id"].as_str(), told.header("x-request-id"), "{json}");
        json
    };
    let event = house.event();
    let holds = format!("/v1/events/{event}/holds");
    let ann = [("onsale-buyer", "ann"), ("x-request-id", "mine-2")];
    let wrong = told(&holds, &ann, r#"{"seats": ["A-1", 7]}"#);
    assert_eq!((&wrong["request_id"], &wrong["pointer"]), (&json!("mine-2"), &json!("/seats/1")));
    assert_eq!(wrong["detail"], "must be a text, not the number 7");
    let wrong = told(&holds, &ann, r#"{"seats": ["A-1"], "hold_seconds": "long"}"#);
    assert_eq!(wrong["pointer"], "/hold_seconds");
    assert!(
        wrong["detail"].as_str().is_some_and(|detail| detail.starts_with("must be a whole number")),
        "{wrong}"
    );
    // A rule's refusal points at it as well; a header is no part of the body.
    let wrong = told(&holds, &ann, r#"{"seats": ["A-1"], "hold_seconds": 1}"#);
    assert_eq!((&wrong["field"], &wrong["pointer"]), (&json!("hold_seconds"), &json!("/hold_seconds")));
    let wrong = told(&holds, &[("onsale-buyer", "")], r#"{"seats": ["A-1"]}"#);
    assert_eq!((&wrong["field"], &wrong["pointer"]), (&json!("Onsale-Buyer"), &json!(null)));
    // Also of a route that is none, and of a request that is no request.
    assert!(house.get("/nothing").json()["request_id"].is_string());
}

#[test]
fn one_connection_too_many_is_turned_away() {
    let house = House::open_with(|config| config.limits.connections_max = 2);
    let (_one, _two) = (house.connect(), house.connect());
    std::thread::sleep(Duration::from_millis(50));
    let told = Answer::read(&mut BufReader::new(house.connect()));
    told.problem(503, "busy");
    assert_eq!(told.header("retry-after"), Some("1"));
}

#[test]
fn metrics_count_what_happened() {
    let house = House::open();
    let event = house.event();
    house.hold(&event, "ann", &["A-1-1"]);
    let path = format!("/v1/events/{event}/holds");
    house.post(&path, &[("onsale-buyer", "bob")], json!({"seats": ["A-1-1"]})).problem(409, "seat_held");
    let page = String::from_utf8(house.get("/metrics").body).expect("text");
    for line in [
        "onsale_requests_total{route=\"/v1/events/{event}/holds\",status=\"201\"} 1",
        "onsale_requests_total{route=\"/v1/events/{event}/holds\",status=\"409\"} 1",
        "onsale_commands_total{verb=\"place_hold\",outcome=\"done\"} 1",
        "onsale_commands_total{verb=\"place_hold\",outcome=\"refused\"} 1",
        "onsale_refusals_total{code=\"seat_held\"} 1",
        "onsale_request_duration_seconds_bucket{route=\"/v1/events/{event}/holds\",le=\"+Inf\"} 2",
        "onsale_engine_poisoned 0",
        "process_start_time_seconds",
    ] {
        assert!(page.contains(line), "{line} in\n{page}");
    }
    for silent in ["verb=\"place_bid\"", "/v1/auctions", "status=\"503\"", "code=\"seat_sold\""] {
        assert!(!page.contains(silent), "{silent} has not happened\n{page}");
    }
}

/// What is counted as something else is looked for in vain.
#[test]
fn every_status_that_is_sent_is_counted_as_itself() {
    let house = House::open();
    let event = house.event();
    let hold = house.hold(&event, "ann", &["A-1-1"]);
    let token = [("hold-token", hold["token"].as_str().expect("a token"))];
    let order = house.post(&crate::orders::to_order(&hold), &token, json!({})).json();
    let key = ("order-key", order["key"].as_str().expect("a key"));
    let pay = format!("/v1/orders/{}/pay", order["id"].as_str().expect("an id"));
    assert_eq!(house.post(&pay, &[key], json!({})).status, 202);
    assert_eq!(house.get("/").status, 303);
    let page = String::from_utf8(house.get("/metrics").body).expect("text");
    for line in [
        "onsale_requests_total{route=\"/v1/orders/{order}/pay\",status=\"202\"} 1",
        "onsale_requests_total{route=\"/\",status=\"303\"} 1",
    ] {
        assert!(page.contains(line), "{line} in\n{page}");
    }
    assert_eq!(page.lines().find(|line| line.contains("status=\"other\"")), None);
}

#[test]
fn who_asks_nothing_more_or_too_slowly_is_cut() {
    /// Long enough that a busy machine asks again in time.
    const PATIENCE: Duration = Duration::from_secs(2);
    let patience_ms = u64::try_from(PATIENCE.as_millis()).expect("seconds");
    let house = House::open_with(|config| config.limits.idle_timeout_ms = patience_ms);
    let ask = |stream: &mut std::net::TcpStream| {
        stream.write_all(b"GET /livez HTTP/1.1\r\nhost: x\r\n\r\n").expect("asks");
        Answer::read(&mut BufReader::new(stream)).status
    };
    let mut quiet = house.connect();
    let started = Instant::now();
    for _ in 0..4 {
        assert_eq!(ask(&mut quiet), 200);
        std::thread::sleep(PATIENCE / 3);
    }
    assert_eq!(quiet.read(&mut [0]).expect("an end"), 0);
    assert!(started.elapsed() > PATIENCE * 2, "each request begins a new patience");
    let mut slow = house.connect();
    assert_eq!(ask(&mut slow), 200);
    let cut = (0..400).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        // Each byte comes in time, the head does not.
        slow.write_all(b"G").is_err()
    });
    assert!(cut);
}
