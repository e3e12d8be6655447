//! Plays steps against a server whose clock it moves, remembers ids and tokens for later steps, and records what was asked
//! and answered first under each operation and status.

use std::collections::BTreeMap;
use std::io::{BufReader, Read, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use onsale_edge::http::table::{Route, table};
use onsale_edge::http::time::Time;
use onsale_engine::embedded::EmbeddedEngine;
use onsale_payments::signature;
use serde_json::{Value, json};

use crate::auctions::hall::{Hall, START};
use crate::document::{operation, schema};
use crate::house::{Answer, House, KEY, read_chunk, read_head};
use crate::people::letter_token;

/// What is asked, in its order, and what was answered when it was played last.
pub(super) const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../edge/src/http/document/examples");
/// The secret with which the house's simulated provider signs.
const SECRET: &[u8] = b"webhooks:house";
/// Nothing here takes long; a busy machine may.
const PATIENCE: Duration = Duration::from_secs(60);
/// Before a credential in a header.
const BEARER: &str = "Bearer ";
/// Of a text that is no JSON so much is shown.
const SHOWN_CHARS: usize = 400;

/// Every step, in its order.
pub(crate) fn steps() -> Vec<Value> {
    let play = std::fs::read_to_string(format!("{FOLDER}/play.json")).expect("play.json");
    serde_json::from_str(&play).expect("JSON")
}

pub(crate) struct Player {
    hall: Hall,
    now: i64,
    kept: BTreeMap<String, String>,
    /// By operation: what was asked, and its answers by status.
    pub(super) recorded: BTreeMap<String, Value>,
}

/// A request as it was sent.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub path: String,
    pub parameters: BTreeMap<String, String>,
    pub headers: Vec<(String, String)>,
    pub body: Option<Value>,
}

impl Player {
    pub(crate) fn open() -> Player {
        Player { hall: Hall::with_accounts(), now: START, kept: BTreeMap::new(), recorded: BTreeMap::new() }
    }

    /// What a step is going to ask.
    pub(crate) fn about(&self, step: &Value) -> Option<(&'static Route, Asked)> {
        let name = step["ask"].as_str()?;
        let route = table().routes.iter().find(|route| route.operation == name);
        let route = route.unwrap_or_else(|| panic!("{name} is no operation"));
        Some((route, self.asked(route, step)))
    }

    /// Asks the same server something that is no step.
    pub(crate) fn ask(&self, route: &Route, asked: &Asked) -> Answer {
        self.send(route, &Value::Null, asked)
    }

    /// The server's data folder.
    pub(crate) fn data(&self) -> &Path {
        self.hall.house.data()
    }

    pub(crate) fn house(&self) -> &House<EmbeddedEngine> {
        &self.hall.house
    }

    /// The path of a route with what the steps have kept; where they kept nothing, with what nobody has.
    pub(crate) fn path_of(&self, route: &Route) -> String {
        let word = |word: &str| match word.strip_prefix('{').and_then(|name| name.strip_suffix('}')) {
            Some(name) => self.kept.get(name).map_or("nobodys", String::as_str).to_owned(),
            None => word.to_owned(),
        };
        route.path.split('/').map(word).collect::<Vec<_>>().join("/")
    }

    /// Asks for who is in the headers, and of a stream reads the head alone.
    pub(crate) fn ask_as(&self, route: &Route, asked: &Asked) -> Answer {
        if !route.operation.ends_with(".stream") {
            return self.ask(route, asked);
        }
        let mut stream = self.hall.house.connect();
        let headers = asked.headers.iter().filter(|(_, value)| !value.is_empty());
        let headers: String = headers.map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let head = format!("GET {} HTTP/1.1\r\nhost: x\r\n{headers}\r\n", asked.path);
        stream.write_all(head.as_bytes()).expect("sent");
        let mut reader = BufReader::new(stream);
        let (status, headers) = read_head(&mut reader);
        let length = headers.iter().find(|(name, _)| name == "content-length");
        let mut body = vec![0; length.and_then(|(_, length)| length.parse().ok()).unwrap_or(0)];
        reader.read_exact(&mut body).expect("the whole body");
        Answer { status, headers, body }
    }

    /// Sends bytes that may be no request at all.
    pub(crate) fn raw(&self, bytes: &[u8]) -> Answer {
        self.hall.house.raw(bytes)
    }

    pub(crate) fn play(&mut self, step: &Value) {
        if let Some(seconds) = step["later"].as_i64() {
            self.now += seconds * 1_000;
            self.hall.clock.set(self.now);
            let auction = self.kept.get("auction").cloned();
            auction.iter().for_each(|auction| self.hall.sweep(auction));
            return;
        }
        if let Some(kind) = step["letter"].as_str() {
            let token = letter_token(&self.hall.house, kind, step["to"].as_str().expect("an address"));
            self.kept.insert(step["keep"].as_str().expect("a name").to_owned(), token);
            return;
        }
        let (route, asked) = self.about(step).expect("a step asks, reads a letter or waits");
        let name = route.operation;
        let answer = self.answer(route, step, &asked);
        let expected = step["status"].as_u64();
        let fits =
            expected.map_or((200..300).contains(&answer.status), |status| u64::from(answer.status) == status);
        assert!(fits, "{name} {} {:?}: {} {}", asked.path, asked.body, answer.status, text_of(&answer));
        for (name, field) in step["keep"].as_object().into_iter().flatten() {
            let told = &answer.json()[field.as_str().expect("a field")];
            self.kept.insert(name.clone(), told.as_str().expect("a text").to_owned());
        }
        if step["aside"] != true {
            self.record(route, step, asked, &answer);
        }
    }

    fn asked(&self, route: &Route, step: &Value) -> Asked {
        let mut parameters = BTreeMap::new();
        let mut path = route.path.clone();
        let names = route.path.split('/').filter_map(|word| word.strip_prefix('{')?.strip_suffix('}'));
        for name in names {
            let given = step["path"].get(name).map(|value| self.filled(value));
            let given = given.and_then(|value| value.as_str().map(str::to_owned));
            let value = given.or_else(|| self.kept.get(name).cloned());
            let value = value.unwrap_or_else(|| panic!("no {name} yet"));
            path = path.replace(&format!("{{{name}}}"), &value);
            parameters.insert(name.to_owned(), value);
        }
        if let Some(query) = step["query"].as_str() {
            let pairs = query.split('&').map(|pair| pair.split_once('=').expect("a pair"));
            let pairs = pairs.map(|(name, value)| {
                (name.to_owned(), self.filled(&json!(value)).as_str().expect("a text").to_owned())
            });
            let pairs: Vec<(String, String)> = pairs.collect();
            let words: Vec<String> = pairs.iter().map(|(name, value)| format!("{name}={value}")).collect();
            path = format!("{path}?{}", words.join("&"));
            parameters.extend(pairs);
        }
        let given = step["headers"].as_object().into_iter().flatten();
        let headers: Vec<(String, String)> = given
            .map(|(name, value)| (name.clone(), self.filled(value).as_str().expect("a text").to_owned()))
            .collect();
        // A credential is no parameter, and nothing to show.
        let shown = headers.iter().filter(|(name, _)| name != "authorization");
        parameters.extend(shown.cloned());
        Asked { path, parameters, headers, body: step.get("body").map(|body| self.filled(body)) }
    }

    /// `$name` is what was kept under this name, also behind `Bearer`; `@+60` the time a minute from now.
    fn filled(&self, value: &Value) -> Value {
        match value {
            Value::String(text) if text.starts_with(BEARER) => {
                let credential = self.filled(&json!(&text[BEARER.len()..]));
                json!(format!("{BEARER}{}", credential.as_str().expect("a text")))
            }
            Value::String(text) => match (text.strip_prefix('$'), text.strip_prefix('@')) {
                (Some(name), _) => json!(self.kept.get(name).unwrap_or_else(|| panic!("no {name} yet"))),
                (None, Some(seconds)) => {
                    let seconds: i64 = seconds.parse().expect("seconds from now");
                    json!(Time(self.now + seconds * 1_000))
                }
                (None, None) => value.clone(),
            },
            Value::Array(items) => items.iter().map(|item| self.filled(item)).collect(),
            Value::Object(fields) => {
                fields.iter().map(|(name, value)| (name.clone(), self.filled(value))).collect()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }

    /// Asks, as often as it takes where the answer is awaited.
    fn answer(&self, route: &Route, step: &Value, asked: &Asked) -> Answer {
        if route.operation.ends_with(".stream") {
            return self.first_events(asked);
        }
        let begun = Instant::now();
        loop {
            let answer = self.send(route, step, asked);
            let mut wished = step["until"].as_object().into_iter().flatten();
            let is_so = |(field, wish): (&String, &Value)| {
                let body = answer.json();
                let told = if field.starts_with('/') { body.pointer(field) } else { body.get(field) };
                told.is_some_and(|told| told == wish || wish == "*" && !told.is_null())
            };
            if wished.all(is_so) {
                return answer;
            }
            assert!(begun.elapsed() < PATIENCE, "{} never was {step}: {}", asked.path, text_of(&answer));
            std::thread::yield_now();
        }
    }

    fn send(&self, route: &Route, step: &Value, asked: &Asked) -> Answer {
        let body = asked.body.as_ref().map(Value::to_string);
        let mut headers: Vec<(&str, &str)> =
            asked.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let signature = body.as_ref().filter(|_| step["sign"] == true);
        let signature = signature.map(|body| signature::header(self.now / 1_000, body.as_bytes(), SECRET));
        headers.extend(signature.as_deref().map(|signature| ("simulated-signature", signature)));
        self.hall.house.send(route.method.as_str(), &asked.path, &headers, body.as_deref())
    }

    /// The beginning of a stream: where it begins, and the first fact.
    fn first_events(&self, asked: &Asked) -> Answer {
        let mut stream = self.hall.house.connect();
        let head = format!("GET {} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {KEY}\r\n\r\n", asked.path);
        stream.write_all(head.as_bytes()).expect("sent");
        let mut reader = BufReader::new(stream);
        let (status, headers) = read_head(&mut reader);
        let mut text = String::new();
        while text.matches("\n\n").count() < 2 {
            let chunk = read_chunk(&mut reader).expect("a chunk");
            text.push_str(std::str::from_utf8(&chunk).expect("text"));
        }
        let events: Vec<&str> = text.split_inclusive("\n\n").take(2).collect();
        Answer { status, headers, body: events.concat().into_bytes() }
    }

    fn record(&mut self, route: &Route, step: &Value, asked: Asked, answer: &Answer) {
        let kind = answer.header("content-type").unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default();
        let body = if kind.ends_with("json") { answer.json() } else { json!(text_of(answer)) };
        let recorded = self.recorded.entry(route.operation.to_owned()).or_insert_with(|| json!({}));
        let of_status = &mut recorded["answers"][answer.status.to_string()];
        if of_status.is_object() && step["named"].is_null() {
            return;
        }
        if of_status.is_null() {
            *of_status = json!({"type": kind, "body": body});
        }
        if recorded.get("parameters").is_none() {
            recorded["parameters"] = json!(asked.parameters);
        }
        let named = step["named"].as_str();
        if let Some(body) = asked.body
            && (named.is_some() || recorded.get("request").is_none())
        {
            let schema = &operation(route)["requestBody"]["content"]["application/json"]["schema"];
            let fits = schema::check(onsale_edge::http::document::document(), schema, &body);
            assert_eq!(fits, Ok(()), "{} is asked for what its schema refuses", route.operation);
            match named {
                Some(name) => recorded["requests"][name] = body,
                None => recorded["request"] = body,
            }
        }
    }
}

fn text_of(answer: &Answer) -> String {
    String::from_utf8_lossy(&answer.body).chars().take(SHOWN_CHARS).collect()
}
