//! The access log of the real binary: a line for each request if it is wanted, and none if not.

use serde_json::Value;

use crate::demo::Demo;

fn served(environment: &[(&str, &str)]) -> (Demo, usize) {
    let demo = Demo::started(&["serve"], &[&[("ONSALE_API_KEY", "demo-key")], environment].concat());
    let bytes = demo.get("/livez").body.len();
    assert_eq!(demo.get("/v1/events/evt_none").status, 404);
    (demo, bytes)
}

#[test]
fn each_request_is_a_line_with_its_route_status_time_bytes_and_id() {
    let (demo, bytes) = served(&[("ONSALE_LOG__ACCESS", "true"), ("ONSALE_LOG__FORMAT", "json")]);
    let id = demo.get("/readyz").header("x-request-id").expect("an id").to_owned();
    let told = demo.stop();
    let lines: Vec<Value> = told.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let lines: Vec<&Value> = lines.iter().filter(|line| line["target"] == "access").collect();
    let routes: Vec<&str> = lines.iter().filter_map(|line| line["route"].as_str()).collect();
    assert_eq!(routes, ["/livez", "/v1/events/{event}", "/readyz"], "{told}");
    assert_eq!((&lines[0]["method"], &lines[0]["status"]), (&"GET".into(), &200.into()), "{told}");
    assert_eq!(lines[0]["bytes"], bytes, "{told}");
    assert_eq!(lines[1]["status"], 404, "{told}");
    assert_eq!(lines[2]["request"], id.as_str(), "{told}");
    assert!(lines.iter().all(|line| line["ms"].as_f64().is_some_and(|ms| ms > 0.0)), "{told}");
}

#[test]
fn no_line_is_written_unless_it_is_wanted() {
    let (demo, _) = served(&[("ONSALE_LOG__LEVEL", "debug,hyper=info")]);
    let told = demo.stop();
    assert!(told.contains("serving"), "{told}");
    assert!(!told.contains("GET /livez 200"), "{told}");
}

#[test]
fn a_request_that_nobody_can_read_is_a_line_with_the_id_that_it_was_told() {
    let (demo, _) = served(&[("ONSALE_LOG__ACCESS", "true"), ("ONSALE_LOG__FORMAT", "json")]);
    let wrong = "POST /v1/events HTTP/1.1\r\nhost: x\r\ncontent-length: many\r\n\r\n";
    let ids = ["nonsense\r\n\r\n", wrong].map(|text| {
        let answer = demo.raw(text);
        assert_eq!(answer.status, 400);
        answer.header("x-request-id").expect("an id").to_owned()
    });
    let told = demo.stop();
    for id in ids {
        let line = told.lines().find(|line| line.contains(&id)).unwrap_or_else(|| panic!("{id}: {told}"));
        let line: Value = serde_json::from_str(line).expect("JSON");
        assert_eq!((&line["target"], &line["route"]), (&"access".into(), &"unknown".into()), "{line}");
        assert_eq!((&line["status"], &line["request"]), (&400.into(), &id.as_str().into()), "{line}");
        assert!(line["bytes"].as_u64().is_some_and(|bytes| bytes > 100), "{line}");
    }
}
