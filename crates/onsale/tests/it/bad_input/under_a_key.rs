//! The same key while the first request is still on its way: whoever's body is whole first is answered, and the other is
//! told the same, or that the key was used for something else.

use std::io::{BufReader, Write};
use std::net::TcpStream;

use serde_json::json;

use crate::house::{Answer, House, KEY};

/// A request of which only the first half was sent.
struct Running {
    stream: TcpStream,
    rest: Vec<u8>,
}

impl Running {
    fn begin(house: &House, path: &str, key: &str, body: &str) -> Running {
        let (first, rest) = body.split_at(body.len() / 2);
        let mut stream = house.connect();
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {KEY}\r\nonsale-buyer: ann\r\n\
             idempotency-key: {key}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{first}",
            body.len()
        );
        stream.write_all(head.as_bytes()).expect("sent");
        Running { stream, rest: rest.as_bytes().to_vec() }
    }

    fn finish(mut self) -> Answer {
        self.stream.write_all(&self.rest).expect("sent");
        Answer::read(&mut BufReader::new(self.stream))
    }
}

#[test]
fn a_body_that_still_runs_under_the_same_key_is_answered_as_the_one_that_was_whole_first() {
    let house = House::open();
    let path = format!("/v1/events/{}/holds", house.event());
    let headers = [("onsale-buyer", "ann"), ("idempotency-key", "slow")];
    let wish = json!({"seats": ["A-1-1", "A-1-2"]});
    let running = Running::begin(&house, &path, "slow", &wish.to_string());
    let whole = house.post(&path, &headers, wish);
    assert_eq!(whole.status, 201, "{whole:?}");
    assert_eq!(whole.header("idempotent-replayed"), None);
    let late = running.finish();
    assert_eq!((late.status, &late.body), (201, &whole.body), "one hold, told twice");
    assert_eq!(late.header("idempotent-replayed"), Some("true"));
}

#[test]
fn another_body_that_still_runs_under_the_same_key_is_refused_when_it_is_whole() {
    let house = House::open();
    let path = format!("/v1/events/{}/holds", house.event());
    let headers = [("onsale-buyer", "ann"), ("idempotency-key", "slow")];
    let running = Running::begin(&house, &path, "slow", r#"{"seats": ["A-2-1"]}"#);
    let cut = Running::begin(&house, &path, "slow", r#"{"seats": ["A-2-3"]}"#);
    assert_eq!(house.post(&path, &headers, json!({"seats": ["A-1-1"]})).status, 201);
    running.finish().problem(422, "key_reused");
    // One that breaks off has asked for nothing.
    drop(cut);
    let free = house.post(&path, &[("onsale-buyer", "bob")], json!({"seats": ["A-2-1", "A-2-3"]}));
    assert_eq!(free.status, 201, "{free:?}");
}
