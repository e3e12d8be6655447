//! A server on a free port of loopback, and a plain HTTP client that sends exactly what it is told.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use onsale::app::Bound;
use onsale::config::Config;
use onsale::config::access::Database;
use onsale::secrets::Secrets;
use onsale_access::passwords::PasswordCost;
use onsale_edge::http::time::Time;
use onsale_engine::Engine;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::document::{self, Seen};
use crate::memory::Memory;

pub(crate) const KEY: &str = "test-key-of-the-house";

pub(crate) struct House<E = Memory> {
    pub address: SocketAddr,
    pub engine: Arc<E>,
    stop: CancellationToken,
    thread: Option<JoinHandle<()>>,
    /// Accounts and letters, where there are some.
    folder: Option<TempDir>,
}

impl House {
    pub(crate) fn open() -> House {
        House::open_with(|_| {})
    }

    pub(crate) fn open_with(change: impl FnOnce(&mut Config)) -> House {
        House::serve(change, Arc::new(Memory::default()))
    }

    pub(crate) fn with_accounts() -> House {
        House::with_accounts_on(Arc::new(Memory::default()))
    }
}

impl<E: Engine> House<E> {
    pub(crate) fn serve(change: impl FnOnce(&mut Config), engine: Arc<E>) -> House<E> {
        let mut config = Config { listen: SocketAddr::from(([127, 0, 0, 1], 0)), ..Config::default() };
        // Most tests are about something else: the one key does.
        config.access.database = Database::None;
        change(&mut config);
        let secrets = Secrets { api_key: Some(KEY.into()), house_key: b"house".into(), api_key_file: None };
        let (stop, (told, address)) = (CancellationToken::new(), std::sync::mpsc::sync_channel(1));
        let thread = std::thread::spawn({
            let (stop, engine) = (stop.clone(), engine.clone());
            move || {
                let runtime =
                    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
                runtime.expect("a runtime").block_on(async move {
                    let bound = Bound::bind(&config).await.expect("a free port");
                    told.send(bound.address).expect("the test waits");
                    bound.serve(config, secrets, engine, stop).await.expect("serves");
                });
            }
        });
        let address = address.recv().expect("the server starts");
        House { address, engine, stop, thread: Some(thread), folder: None }
    }

    /// With accounts in a folder of its own, and letters as files beside them.
    pub(crate) fn with_accounts_on(engine: Arc<E>) -> House<E> {
        let folder = tempfile::tempdir().expect("a folder");
        let data = folder.path().to_owned();
        let mut house = House::serve(
            |config| {
                config.access.database = Database::Sqlite;
                config.access.password_cost = PasswordCost::FOR_TESTS;
                config.data = data;
            },
            engine,
        );
        house.folder = Some(folder);
        // Its database is there when it answers.
        assert_eq!(house.get("/livez").status, 200);
        house
    }

    pub(crate) fn data(&self) -> &Path {
        self.folder.as_ref().expect("a house with accounts").path()
    }

    /// Where letters lie.
    pub(crate) fn mail(&self) -> PathBuf {
        self.data().join("mail")
    }

    pub(crate) fn stop(&self) {
        self.stop.cancel();
    }

    /// Sends raw bytes and reads one whole answer, which must be one that the document describes.
    pub(crate) fn raw(&self, bytes: &[u8]) -> Answer {
        let mut stream = self.connect();
        // The server may answer and close before everything is sent; that is part of some tests.
        let _ = stream.write_all(bytes);
        let answer = Answer::read(&mut BufReader::new(stream));
        document::check(bytes, &answer.seen());
        answer
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).expect("connects");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
        stream
    }

    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&str>,
    ) -> Answer {
        let key = format!("Bearer {KEY}");
        let is_other = headers.iter().any(|(name, _)| *name == "authorization");
        let own = [("authorization", key.as_str())];
        let headers = [if is_other { &[][..] } else { &own }, headers].concat();
        self.send_bare(method, path, &headers, body)
    }

    /// The same without the key.
    pub(crate) fn send_bare(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&str>,
    ) -> Answer {
        let mut text = format!("{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n");
        // Nobody in particular is said by an empty credential.
        for (name, value) in
            headers.iter().filter(|(name, value)| *name != "authorization" || !value.is_empty())
        {
            text += &format!("{name}: {value}\r\n");
        }
        if let Some(body) = body {
            text += &format!("content-type: application/json\r\ncontent-length: {}\r\n", body.len());
        }
        text += "\r\n";
        text += body.unwrap_or_default();
        self.raw(text.as_bytes())
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], None)
    }

    pub(crate) fn post(&self, path: &str, headers: &[(&str, &str)], body: Value) -> Answer {
        self.send("POST", path, headers, Some(&body.to_string()))
    }

    /// An event on sale with one section of rows `1` and `2`, ten seats each, and a floor of 50 places.
    pub(crate) fn event(&self) -> String {
        self.event_with(json!({}))
    }

    pub(crate) fn event_with(&self, more: Value) -> String {
        let mut event = night();
        for (name, value) in more.as_object().expect("an object") {
            event[name] = value.clone();
        }
        let made = self.post("/v1/events", &[], event);
        assert_eq!(made.status, 201, "{made:?}");
        made.json()["id"].as_str().expect("an id").to_owned()
    }

    /// Holds seats for a buyer; the answer must be a yes.
    pub(crate) fn hold(&self, event: &str, buyer: &str, seats: &[&str]) -> Value {
        let path = format!("/v1/events/{event}/holds");
        let answer = self.post(&path, &[("onsale-buyer", buyer)], json!({"seats": seats}));
        assert_eq!(answer.status, 201, "{answer:?}");
        answer.json()
    }
}

impl<E> Drop for House<E> {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The milliseconds of an instant in an answer.
pub(crate) fn ms(told: &Value) -> i64 {
    let time = told.as_str().and_then(Time::parse);
    time.unwrap_or_else(|| panic!("{told} is no time")).ms()
}

/// What is asked for to make an event on sale.
pub(crate) fn night() -> Value {
    json!({
        "name": "Night", "starts_at": "2096-10-02T07:06:40Z", "ends_at": "2096-10-02T09:53:20Z",
        "currency": "EUR", "status": "on_sale", "layout": layout(),
        "tiers": [{"name": "Stalls", "price_minor": 4500}, {"name": "Floor", "price_minor": 2000}],
    })
}

pub(crate) fn layout() -> Value {
    let row = |row: u32| {
        let seat = |n: u32| json!({"id": format!("A-{row}-{n}"), "label": n.to_string(), "tier": 0, "x": n, "y": row});
        json!({"label": row.to_string(), "seats": (1..=10).map(seat).collect::<Vec<_>>()})
    };
    json!({
        "sections": [{"name": "A", "rows": [row(1), row(2)]}],
        "areas": [{"id": "floor", "label": "Standing", "section": "A", "tier": 1, "capacity": 50}],
    })
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Answer {
    pub(crate) fn read(reader: &mut impl BufRead) -> Answer {
        let (status, headers) = read_head(reader);
        let find =
            |name: &str| headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        let mut body = Vec::new();
        if find("transfer-encoding").as_deref() == Some("chunked") {
            while let Some(chunk) = read_chunk(reader) {
                body.extend(chunk);
            }
        } else if let Some(length) = find("content-length").and_then(|length| length.parse().ok()) {
            body = vec![0; length];
            reader.read_exact(&mut body).expect("the whole body");
        }
        Answer { status, headers, body }
    }

    fn seen(&self) -> Seen<'_> {
        let headers = self.headers.iter().map(|(name, value)| (name.clone(), value.as_str())).collect();
        Seen { status: self.status, headers, body: &self.body }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// A problem as everybody must be able to rely on: its type, status and code agree.
    pub(crate) fn problem(&self, status: u16, code: &str) -> Value {
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{self:?}");
        let told = self.json();
        assert_eq!((self.status, told["code"].as_str()), (status, Some(code)), "{told}");
        assert_eq!(told["status"], status);
        assert_eq!(told["type"], format!("/problems/{code}"));
        assert!(told["title"].is_string() && told["detail"].is_string(), "{told}");
        assert!(told["request_id"].is_string() && told["request_id"].as_str() == self.header("x-request-id"));
        told
    }
}

pub(crate) fn read_head(reader: &mut impl BufRead) -> (u16, Vec<(String, String)>) {
    let mut line = String::new();
    reader.read_line(&mut line).expect("a status line");
    let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.unwrap_or_else(|| panic!("not a status line: {line:?}"));
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).expect("a header");
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.push((name.to_ascii_lowercase(), value.to_owned()));
    }
    (status, headers)
}

/// The next chunk of a chunked body; `None` at its end.
pub(crate) fn read_chunk(reader: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let length = usize::from_str_radix(line.trim(), 16).ok()?;
    let mut chunk = vec![0; length + 2];
    reader.read_exact(&mut chunk).ok()?;
    chunk.truncate(length);
    (length > 0).then_some(chunk)
}
