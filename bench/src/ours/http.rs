//! Durable holds over HTTP by the shipped binary, and what its seat map weighs on the wire.

pub(crate) mod exact;
pub(crate) mod fight;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use crate::contest::{Contestant, Round};
use crate::http::{Answer, AnswerKind, Load, Script, drive, post};
use crate::process::{Running, free_port};
use crate::rivals::redis::{Flush, Instance};

const KEY: &str = "bench-key";
const CONNECTIONS: usize = 64;
const ROW_SEATS: u64 = 100;

/// The server under load, shared by the two contestants.
#[derive(Debug)]
pub(crate) struct House {
    server: Running,
    address: SocketAddr,
    events: Vec<String>,
    next: Arc<AtomicU64>,
}

#[derive(Debug)]
pub(crate) struct HttpHold {
    folder: PathBuf,
    house: Option<House>,
    /// Of each event.
    seats: u64,
    /// More holds than anybody makes in a second here. Every hold takes a seat that nobody held before.
    holds_per_s_max: u64,
    /// The store, if it is not the embedded engine's.
    redis: Option<Instance>,
}

impl HttpHold {
    pub(crate) fn new(folder: &Path) -> HttpHold {
        let (seats, holds_per_s_max) = (100_000, 150_000);
        HttpHold { folder: folder.join("http"), house: None, seats, holds_per_s_max, redis: None }
    }

    /// The same server on Redis, with charts of the ordinary layout.
    pub(crate) fn on_redis(folder: &Path) -> HttpHold {
        let redis = Instance::new(Flush::EverySecond, folder.join("http-redis-store"));
        let (seats, holds_per_s_max) = (9_000, 60_000);
        let folder = folder.join("http-redis");
        HttpHold { folder, house: None, seats, holds_per_s_max, redis: Some(redis) }
    }
}

impl Contestant for HttpHold {
    fn subject(&self) -> String {
        if self.redis.is_some() { "http_redis_hold" } else { "http_hold" }.to_owned()
    }

    fn prepare(&mut self) -> Result<()> {
        let mut settings = Vec::new();
        if let Some(redis) = &mut self.redis {
            redis.start()?;
            settings = on_redis(redis)?;
        }
        self.house = Some(House::open(&self.folder, &settings)?);
        Ok(())
    }

    fn round(&mut self, length: Duration) -> Result<Round> {
        let house = self.house.as_mut().context("not prepared")?;
        house.provide(self.seats, (length.as_secs_f64() * self.holds_per_s_max as f64) as u64)?;
        let load = Load { address: house.address, connections: CONNECTIONS, threads: 1, length };
        let events: Arc<[String]> =
            house.events.iter().map(|event| format!("/v1/events/{event}/holds")).collect();
        let outcome = drive(&load, |_| {
            let (events, next) = (events.clone(), house.next.clone());
            FreshHolds { events, seats: self.seats, next, body: Vec::new(), bytes: Vec::new() }
        })?;
        Ok(outcome.latency.round(outcome.counted, outcome.took))
    }
}

/// Each request holds the next seat for a buyer of its own, under a key of its own.
struct FreshHolds {
    events: Arc<[String]>,
    seats: u64,
    next: Arc<AtomicU64>,
    body: Vec<u8>,
    bytes: Vec<u8>,
}

impl Script for FreshHolds {
    fn request(&mut self, _number: u64) -> Result<&[u8]> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let path = self
            .events
            .get((number / self.seats) as usize)
            .context("all seats are held: more were held in a second than was thought possible")?;
        let seat = number % self.seats;
        // Into the same two buffers each time: what the client spends is taken from the server's cores.
        self.body.clear();
        write!(self.body, r#"{{"seats":["{}-{}"]}}"#, seat / ROW_SEATS, seat % ROW_SEATS)?;
        self.bytes.clear();
        write!(
            self.bytes,
            "POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n\
             content-length: {}\r\nauthorization: Bearer {KEY}\r\nonsale-buyer: buyer-{number}\r\n\
             idempotency-key: key-{number}\r\n\r\n",
            self.body.len()
        )?;
        self.bytes.extend_from_slice(&self.body);
        Ok(&self.bytes)
    }

    fn answer(&mut self, answer: &Answer<'_>) -> Result<AnswerKind> {
        ensure!(answer.status == 201, "a free seat was refused with {}", answer.status);
        Ok(AnswerKind::Yes)
    }
}

/// The binary seat map of 50,000 seats, a third of them taken here and there, compressed.
#[derive(Debug)]
pub(crate) struct SeatMap {
    folder: PathBuf,
}

impl SeatMap {
    pub(crate) fn new(folder: &Path) -> SeatMap {
        SeatMap { folder: folder.join("seatmap") }
    }
}

impl Contestant for SeatMap {
    fn subject(&self) -> String {
        "seatmap_50k".to_owned()
    }

    fn prepare(&mut self) -> Result<()> {
        Ok(())
    }

    fn once(&self) -> bool {
        true
    }

    fn round(&mut self, _length: Duration) -> Result<Round> {
        let mut house = House::open(&self.folder, &[])?;
        house.provide(50_000, 50_000)?;
        let event = house.events.first().context("an event")?;
        let mut random = 7u64;
        let mut seats = Vec::new();
        for seat in 0..50_000u64 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            if random >> 33 & 3 == 0 {
                seats.push(format!("\"{}-{}\"", seat / ROW_SEATS, seat % ROW_SEATS));
            }
        }
        for chunk in seats.chunks(2_000) {
            let body = format!(r#"{{"seats":[{}],"reason":"taken"}}"#, chunk.join(","));
            house.post(&format!("/v1/events/{event}/blocks"), &body)?;
        }
        let raw =
            house.get(&format!("/v1/events/{event}/seats?format=binary"), "accept-encoding: br, gzip\r\n")?;
        Ok(vec![("bytes", raw.len() as f64)])
    }
}

/// What makes the server use a Redis.
fn on_redis(redis: &Instance) -> Result<Vec<(&'static str, String)>> {
    Ok(vec![
        ("ONSALE_ENGINE", "redis".to_owned()),
        ("ONSALE_REDIS__URL", format!("redis://{}", redis.address()?)),
        ("ONSALE_REDIS__DURABILITY", "redis".to_owned()),
        ("ONSALE_HOUSE_KEY", "a house key of the bench, known to all".to_owned()),
    ])
}

/// The shipped one, beside our own.
fn binary() -> Result<PathBuf> {
    let binary = std::env::current_exe().context("our own path")?.with_file_name("onsale");
    ensure!(binary.is_file(), "{} is missing; `cargo xtask bench` builds it", binary.display());
    Ok(binary)
}

impl House {
    pub(crate) fn open(folder: &Path, settings: &[(&str, String)]) -> Result<House> {
        std::fs::create_dir_all(folder)?;
        let address: SocketAddr = ([127, 0, 0, 1], free_port()?).into();
        let mut command = Command::new(binary()?);
        command.args(["serve", "--listen", &address.to_string(), "--data"]).arg(folder.join("data"));
        command
            .env_remove("ONSALE_BIN")
            .env("ONSALE_API_KEY", KEY)
            .env("ONSALE_LOG__LEVEL", "warn")
            .current_dir(folder);
        command.envs(settings.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let mut server = Running::start(&mut command, "-INT")?;
        server.wait_until(|| TcpStream::connect(address).is_ok())?;
        Ok(House { server, address, events: Vec::new(), next: Arc::default() })
    }

    /// Of the server's process.
    pub(crate) fn id(&self) -> u32 {
        self.server.id()
    }

    /// Makes events of so many seats until `wanted` are left that nobody has held.
    fn provide(&mut self, seats: u64, wanted: u64) -> Result<()> {
        let enough = self.next.load(Ordering::Relaxed) + wanted;
        while (self.events.len() as u64) * seats < enough {
            let created = self.post("/v1/events", &event_body(self.events.len(), seats))?;
            let text = String::from_utf8(created).context("the answer is text")?;
            let event: serde_json::Value = serde_json::from_str(&text).context("the answer is JSON")?;
            self.events.push(event["id"].as_str().with_context(|| format!("no id in {text}"))?.to_owned());
        }
        Ok(())
    }

    fn post(&self, path: &str, body: &str) -> Result<Vec<u8>> {
        let headers = format!("authorization: Bearer {KEY}\r\nconnection: close\r\n");
        self.exchange(&post(path, &headers, body))
    }

    fn get(&self, path: &str, headers: &str) -> Result<Vec<u8>> {
        let request = format!(
            "GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {KEY}\r\nconnection: close\r\n{headers}\r\n"
        );
        self.exchange(request.as_bytes())
    }

    /// One request on a connection of its own; returns the body as it came over the wire, chunk marks included.
    fn exchange(&self, request: &[u8]) -> Result<Vec<u8>> {
        let mut stream = TcpStream::connect(self.address)?;
        stream.write_all(request)?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n").context("an answer has a head")?;
        if !answer.starts_with(b"HTTP/1.1 20") {
            bail!("{}", String::from_utf8_lossy(&answer[..answer.len().min(2_000)]));
        }
        Ok(answer.split_off(end + 4))
    }
}

fn event_body(number: usize, seats: u64) -> String {
    let mut sections = Vec::new();
    for section in 0..seats.div_ceil(ROW_SEATS * 25) {
        let rows: Vec<String> = (section * 25..((section + 1) * 25).min(seats.div_ceil(ROW_SEATS)))
            .map(|row| {
                let seat =
                    |n: u64| format!(r#"{{"id":"{row}-{n}","label":"{n}","tier":0,"x":{n},"y":{row}}}"#);
                let members: Vec<String> = (0..ROW_SEATS.min(seats - row * ROW_SEATS)).map(seat).collect();
                format!(r#"{{"label":"{row}","seats":[{}]}}"#, members.join(","))
            })
            .collect();
        sections.push(format!(r#"{{"name":"S{section}","rows":[{}]}}"#, rows.join(",")));
    }
    format!(
        r#"{{"name":"Measured {number}","layout":{{"sections":[{}]}},"starts_at":"2100-01-01T00:00:00Z",
            "ends_at":"2100-01-01T00:01:40Z","currency":"EUR","tiers":[{{"name":"all","price_minor":4200}}],
            "status":"on_sale","hold_seconds":900}}"#,
        sections.join(",")
    )
}
