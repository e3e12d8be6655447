//! Buyers who hammer a server over many connections and write down every answer they were given.

use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::{Value, json};

use crate::wire::{Wire, request};

pub(crate) const EVENTS: usize = 4;
pub(crate) const ROWS: usize = 100;
pub(crate) const SEATS: usize = 50;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Hold,
    Extend,
    Release,
    Confirm,
}

/// An answer that was given: never to be taken back.
#[derive(Clone, Debug)]
pub(crate) struct Acknowledged {
    pub event: usize,
    pub verb: Verb,
    /// The very bytes of the request, to be sent again.
    pub request: Vec<u8>,
    pub status: u16,
    pub position: String,
    pub body: Vec<u8>,
}

/// What one round of hammering brought.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    pub acknowledged: Vec<Acknowledged>,
    /// Sent, and the server was killed before the answer: what became of them is unknown.
    pub unanswered: Vec<(usize, Verb, Vec<u8>)>,
    pub refused: u64,
}

pub(crate) struct Hammer<'a> {
    pub address: SocketAddr,
    pub events: &'a [String],
    pub connections: usize,
    pub round: usize,
    pub seed: u64,
    pub stop: AtomicBool,
    pub answered: AtomicU64,
    /// Requests under way right now.
    pub in_flight: AtomicUsize,
}

pub(crate) fn seat(row: usize, place: usize) -> String {
    format!("{row}-{place}")
}

/// One buyer's hold, as the buyer knows it.
struct Holding {
    event: usize,
    path: String,
    token: String,
    extended: bool,
}

impl Hammer<'_> {
    /// Hammers on all connections until told to stop or until the server is gone.
    pub(crate) fn run(&self, control: impl FnOnce()) -> Heard {
        let heard = Mutex::new(Heard::default());
        std::thread::scope(|scope| {
            for connection in 0..self.connections {
                let heard = &heard;
                scope.spawn(move || {
                    let mine = self.buy(connection);
                    let mut all = heard.lock().expect("no thread panicked");
                    all.acknowledged.extend(mine.acknowledged);
                    all.unanswered.extend(mine.unanswered);
                    all.refused += mine.refused;
                });
            }
            control();
            self.stop.store(true, Ordering::Relaxed);
        });
        heard.into_inner().expect("no thread panicked")
    }

    fn buy(&self, connection: usize) -> Heard {
        let mut rng = StdRng::seed_from_u64(self.seed ^ (self.round as u64) << 32 ^ connection as u64);
        let mut heard = Heard::default();
        let mut holding = None;
        let Ok(mut wire) = Wire::connect(self.address) else { return heard };
        let mut step = 0;
        while !self.stop.load(Ordering::Relaxed) {
            step += 1;
            // A new buyer now and then, for no buyer may have more than the limit.
            let buyer = format!("r{}c{connection}b{}", self.round, step / 12);
            let key = format!("{}-{connection}-{step}", self.round);
            let (event, verb, bytes) = self.next(&mut holding, &buyer, &key, &mut rng);
            if wire.send(&bytes).is_err() {
                return heard;
            }
            self.in_flight.fetch_add(1, Ordering::SeqCst);
            let Ok(answer) = wire.receive() else {
                heard.unanswered.push((event, verb, bytes));
                return heard;
            };
            self.in_flight.fetch_sub(1, Ordering::SeqCst);
            answer.check(&bytes);
            if answer.status >= 300 {
                heard.refused += 1;
                holding = None;
                continue;
            }
            self.answered.fetch_add(1, Ordering::Relaxed);
            let told = answer.json();
            self.remember(&mut holding, event, verb, &told);
            let position = answer.header("onsale-position").unwrap_or_default().to_owned();
            let (status, body) = (answer.status, answer.body);
            heard.acknowledged.push(Acknowledged { event, verb, request: bytes, status, position, body });
        }
        heard
    }

    fn next(
        &self,
        holding: &mut Option<Holding>,
        buyer: &str,
        key: &str,
        rng: &mut StdRng,
    ) -> (usize, Verb, Vec<u8>) {
        if let Some(own) = holding {
            let headers = [("hold-token", own.token.as_str()), ("idempotency-key", key)];
            match rng.random_range(0..100) {
                0..20 if !own.extended => {
                    let bytes = request("PATCH", &own.path, &headers, r#"{"extend":true}"#);
                    return (own.event, Verb::Extend, bytes);
                }
                0..70 => return (own.event, Verb::Release, request("DELETE", &own.path, &headers, "")),
                70..95 => {
                    let path = format!("{}/confirm", own.path);
                    let body = r#"{"paid_elsewhere":true}"#;
                    return (own.event, Verb::Confirm, request("POST", &path, &headers, body));
                }
                // Keeps the seats and says nothing more.
                _ => *holding = None,
            }
        }
        // The newest only; the older ones are there to be compared.
        let event = self.events.len() - 1 - rng.random_range(0..EVENTS);
        let (row, count) = (rng.random_range(0..ROWS), rng.random_range(1..=2));
        let first = rng.random_range(0..=SEATS - count);
        let seats: Vec<_> = (first..first + count).map(|place| seat(row, place)).collect();
        let path = format!("/v1/events/{}/holds", self.events[event]);
        let headers = [("onsale-buyer", buyer), ("idempotency-key", key)];
        (event, Verb::Hold, request("POST", &path, &headers, &json!({"seats": seats}).to_string()))
    }

    fn remember(&self, holding: &mut Option<Holding>, event: usize, verb: Verb, told: &Value) {
        match verb {
            Verb::Hold => {
                let text = |name: &str| told[name].as_str().unwrap_or_default().to_owned();
                let path = format!("/v1/holds/{}", text("id"));
                *holding = Some(Holding { event, path, token: text("token"), extended: false });
            }
            Verb::Extend => {
                if let Some(own) = holding {
                    own.extended = true;
                }
            }
            Verb::Release | Verb::Confirm => *holding = None,
        }
    }
}
