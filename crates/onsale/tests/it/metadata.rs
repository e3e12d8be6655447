//! What a merchant keeps with a listing comes back as it was written: in every answer, every fact and on the command line.

use std::io::{BufReader, Write};
use std::process::Command;
use std::sync::Arc;

use onsale_engine::embedded::{EmbeddedEngine, Options};
use serde_json::{Value, json};

use crate::about::kinds;
use crate::house::{Answer, House, KEY};

/// Sends a body that may say what no value here can, and reads the answer without looking into it.
fn ask<E>(house: &House<E>, method: &str, path: &str, headers: &str, body: &str) -> (Answer, String)
where
    E: onsale_engine::Engine,
{
    let mut stream = house.connect();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer {KEY}\r\n{headers}\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).expect("sent");
    let answer = Answer::read(&mut BufReader::new(stream));
    let text = String::from_utf8(answer.body.clone()).expect("text");
    (answer, text)
}

/// The body of a new listing with this metadata.
fn with(body: &Value, metadata: &str) -> String {
    let body = body.to_string();
    format!("{{\"metadata\":{metadata},{}", &body[1..])
}

/// The place of what was made.
fn location(answer: &Answer) -> String {
    assert_eq!(answer.status, 201, "{answer:?}");
    answer.header("location").expect("a place").to_owned()
}

/// What is sent, and what is told back.
fn texts() -> Vec<(String, String)> {
    let same = [
        r#"{"big":18446744073709551616,"least":-9223372036854775809}"#.to_owned(),
        r#"{"pi":3.14159265358979323846264338327950288,"a":1E5,"b":-0,"c":1e400,"d":0.10}"#.to_owned(),
        r#"{"z":1,"a":2,"z":3,"":{}}"#.to_owned(),
        r#"{"\u0041":"\/ \ud834\udd1e é 席 \" \\"}"#.to_owned(),
        // Half of a pair is no character, and yet JSON.
        r#"{"half":"\ud800"}"#.to_owned(),
        format!("{{\"deep\":{}{}}}", "[".repeat(200), "]".repeat(200)),
        format!("{{\"deep\":{}{}}}", "{\"a\":".repeat(300), "1".to_owned() + &"}".repeat(300)),
        format!("{{\"a\":\"{}\"}}", "x".repeat(2_048 - 8)),
    ];
    let mut all: Vec<_> = same.into_iter().map(|text| (text.clone(), text)).collect();
    all.push(("{ \"a b\" :\t[ 1 ,\n 2 ] }".into(), r#"{"a b":[1,2]}"#.into()));
    // White space between the parts does not count.
    all.push((format!("{{{}}}", " ".repeat(4_000)), "{}".into()));
    all
}

#[test]
fn metadata_comes_back_as_it_was_written_wherever_the_listing_is_told() {
    let house = House::open();
    for (path, _, body) in kinds() {
        for (number, (sent, kept)) in texts().into_iter().enumerate() {
            let told = format!("\"metadata\":{kept}");
            let key = format!("idempotency-key: {number}\r\n");
            let (made, text) = ask(&house, "POST", path, &key, &with(&body, &sent));
            let one = location(&made);
            assert!(text.contains(&told), "{path}: {text}");
            let (again, same) = ask(&house, "POST", path, &key, &with(&body, &kept));
            assert_eq!((again.status, again.header("idempotent-replayed")), (201, Some("true")), "{same}");
            assert_eq!(same, text);
            let mut told_by = vec![one.clone(), format!("{path}?limit=500")];
            told_by.extend((path != "/v1/venues").then(|| format!("{one}/facts")));
            for place in told_by {
                let (_, text) = ask(&house, "GET", &place, "", "");
                assert!(text.contains(&told), "{place}: {text}");
            }
            let nothing = ask(&house, "PATCH", &one, "", r#"{"metadata":null}"#).1;
            assert!(!nothing.contains("metadata"), "{path}: {nothing}");
            let (changed, text) = ask(&house, "PATCH", &one, "", &format!("{{\"metadata\":{sent}}}"));
            assert_eq!(changed.status, 200, "{path}: {text}");
            assert!(text.contains(&told), "{path}: {text}");
        }
    }
}

#[test]
fn the_order_of_its_fields_is_part_of_the_request() {
    let house = House::open();
    let (path, _, body) = &kinds()[0];
    let key = "idempotency-key: one\r\n";
    location(&ask(&house, "POST", path, key, &with(body, r#"{"a":1,"b":2}"#)).0);
    ask(&house, "POST", path, key, &with(body, r#"{"b":2,"a":1}"#)).0.problem(422, "key_reused");
}

#[test]
fn what_is_no_object_is_named_in_few_words() {
    let house = House::open();
    let deep = format!("{}{}", "[".repeat(500), "]".repeat(500));
    for (path, _, body) in kinds() {
        let (made, _) = ask(&house, "POST", path, "", &body.to_string());
        let one = location(&made);
        for (wrong, came) in [
            ("[1]", "a list"),
            ("\"{}\"", "a text"),
            ("1e400", "a number"),
            ("true", "true"),
            (&deep, "a list"),
        ] {
            for (method, place, body) in [
                ("POST", path, with(&body, wrong)),
                ("PATCH", one.as_str(), format!("{{\"metadata\":{wrong}}}")),
            ] {
                let told = ask(&house, method, place, "", &body).0.problem(422, "invalid");
                assert_eq!((&told["field"], &told["pointer"]), (&json!("metadata"), &json!("/metadata")));
                assert_eq!(told["detail"], format!("must be an object, not {came}"), "{place}");
            }
        }
        let long = format!("{{\"a\":\"{}\"}}", "x".repeat(2_049 - 8));
        let told = ask(&house, "POST", path, "", &with(&body, &long)).0.problem(422, "invalid");
        assert_eq!(told["pointer"], "/metadata", "{told}");
        for broken in ["{\"a\":}", "{\"a\":1,}", "{'a':1}", "{\"a\":01}", "{\"a\":\"\u{1}\"}", "{"] {
            ask(&house, "POST", path, "", &with(&body, broken)).0.problem(400, "malformed");
        }
    }
}

/// Also what is nested elsewhere is told by a name that people can read.
#[test]
fn a_field_that_is_nested_too_deeply_has_a_short_name() {
    let house = House::open();
    for (path, _, mut body) in kinds() {
        for name in body.as_object().expect("an object").keys().cloned().collect::<Vec<_>>() {
            let own = body[&name].take();
            let text = body.to_string();
            let deep = format!("{}{}", "[".repeat(500), "]".repeat(500));
            let text = text.replacen(&format!("\"{name}\":null"), &format!("\"{name}\":{deep}"), 1);
            let told = ask(&house, "POST", path, "", &text).0.problem(422, "invalid");
            let field = told["field"].as_str().expect("a field");
            assert!(field.starts_with(&name) && field.len() < 40, "{path}: {told}");
            body[&name] = own;
        }
    }
}

#[test]
fn the_command_line_tells_the_facts_of_a_listing_whatever_is_kept_with_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = Arc::new(EmbeddedEngine::open(folder.path(), Options::default()).expect("opens"));
    let house = House::serve(|_| {}, engine.clone());
    let (path, _, body) = &kinds()[0];
    let deep = format!("{{\"deep\":{}{},\"c\":1e400}}", "[".repeat(200), "]".repeat(200));
    let one = location(&ask(&house, "POST", path, "", &with(body, &deep)).0);
    let id = one.rsplit('/').next().expect("an id");
    let run = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_onsale"));
        let output = command.args(["facts", id]).args(more).output().expect("the binary runs");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("text")
    };
    let url = format!("http://{}", house.address);
    let asked = ["--server", &url, "--key", KEY];
    let told = run(&asked);
    assert!(told.contains("event_created") && told.contains("listing_described"), "{told}");
    let told = run(&[&asked[..], &["--json"]].concat());
    assert!(told.contains(&format!("\"metadata\":{deep}")), "{told}");
    drop(house);
    engine.close();
    let data = folder.path().to_str().expect("a plain path");
    assert!(run(&["--data", data]).contains("listing_described"));
    assert!(run(&["--data", data, "--json"]).contains(&format!("\"metadata\":{deep}")));
}
