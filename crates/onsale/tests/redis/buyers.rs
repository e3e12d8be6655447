//! Buyers at several servers at once: they repeat under the same key whatever was not answered, and write down what
//! they were told and when.

use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::json;

use crate::wire::{Answer, Wire, request};

pub(crate) const SEATS: usize = 24;
/// Between two tries of the same request.
const AGAIN: Duration = Duration::from_millis(50);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Hold,
    Release,
}

/// A yes, and the time in which it was decided.
#[derive(Clone, Debug)]
pub(crate) struct Yes {
    pub event: usize,
    pub verb: Verb,
    pub seat: usize,
    pub hold: String,
    /// `<epoch>-<offset>`
    pub position: (u64, u64),
    pub sent: Instant,
    pub told: Instant,
}

#[derive(Debug, Default)]
pub(crate) struct Heard {
    pub yes: Vec<Yes>,
    /// Refused because the seat is taken: (event, seat, sent, told).
    pub held: Vec<(usize, usize, Instant, Instant)>,
    /// Nobody ever said what became of it: (event, seat).
    pub unknown: Vec<(usize, usize)>,
    /// A release of one's own hold that was refused.
    pub release_refused: Vec<String>,
    pub refused: u64,
    pub tries_again: u64,
}

pub(crate) struct Crowd<'a> {
    pub servers: Vec<SocketAddr>,
    pub events: &'a [String],
    pub buyers: usize,
    pub seed: u64,
    pub stop: AtomicBool,
    pub answered: AtomicU64,
}

impl Crowd<'_> {
    /// Buys until `control` is done.
    pub(crate) fn run(&self, control: impl FnOnce()) -> Heard {
        let heard = Mutex::new(Heard::default());
        std::thread::scope(|scope| {
            for number in 0..self.buyers {
                let heard = &heard;
                scope.spawn(move || {
                    let mine = self.buy(number);
                    let mut all = heard.lock().expect("no thread panicked");
                    all.yes.extend(mine.yes);
                    all.held.extend(mine.held);
                    all.unknown.extend(mine.unknown);
                    all.release_refused.extend(mine.release_refused);
                    all.refused += mine.refused;
                    all.tries_again += mine.tries_again;
                });
            }
            // Also if `control` panics: a failed test shall end.
            let _stop = Stop(&self.stop);
            control();
        });
        heard.into_inner().expect("no thread panicked")
    }

    /// Waits until so many more requests were answered, however long that takes.
    pub(crate) fn more(&self, count: u64) {
        let target = self.answered.load(Ordering::Relaxed) + count;
        let deadline = Instant::now() + Duration::from_secs(40);
        while self.answered.load(Ordering::Relaxed) < target {
            assert!(Instant::now() < deadline, "nobody is answered any more");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn buy(&self, number: usize) -> Heard {
        let mut rng = StdRng::seed_from_u64(self.seed ^ (number as u64) << 20);
        let mut heard = Heard::default();
        let mut wires: Vec<Option<Wire>> = self.servers.iter().map(|_| None).collect();
        for turn in 0.. {
            if self.stop.load(Ordering::Relaxed) {
                return heard;
            }
            let (event, seat) = (rng.random_range(0..self.events.len()), rng.random_range(1..=SEATS));
            let buyer = format!("{{b}}{number} {turn}");
            let key = format!("{}-{number}-{turn}", self.seed);
            let path = format!("/v1/events/{}/holds", self.events[event]);
            let headers = [("onsale-buyer", buyer.as_str()), ("idempotency-key", key.as_str())];
            let body = json!({"seats": [format!("A-{seat}")]}).to_string();
            let sent = Instant::now();
            let Some(answer) =
                self.ask(&mut wires, &request("POST", &path, &headers, &body), &mut rng, &mut heard)
            else {
                heard.unknown.push((event, seat));
                continue;
            };
            let told = Instant::now();
            if answer.status != 201 {
                if answer.json()["code"] == "seat_held" {
                    heard.held.push((event, seat, sent, told));
                }
                heard.refused += 1;
                continue;
            }
            let hold = answer.json();
            let id = hold["id"].as_str().expect("an id").to_owned();
            let position = position(&answer);
            heard.yes.push(Yes { event, verb: Verb::Hold, seat, hold: id.clone(), position, sent, told });
            let token = hold["token"].as_str().expect("a token");
            let key = format!("{key}-r");
            let release = request(
                "DELETE",
                &format!("/v1/holds/{id}"),
                &[("hold-token", token), ("idempotency-key", key.as_str())],
                "",
            );
            let sent = Instant::now();
            let Some(answer) = self.ask(&mut wires, &release, &mut rng, &mut heard) else {
                heard.unknown.push((event, seat));
                continue;
            };
            let told = Instant::now();
            if answer.status < 300 {
                let position = self::position(&answer);
                heard.yes.push(Yes { event, verb: Verb::Release, seat, hold: id, position, sent, told });
            } else {
                // Around a failover Redis may have forgotten the hold: then its release is refused.
                heard.unknown.push((event, seat));
                heard.release_refused.push(format!("{} {}", answer.status, answer.json()));
                heard.refused += 1;
            }
        }
        heard
    }

    /// Asks any server until one answers; none if everybody shall stop first.
    fn ask(
        &self,
        wires: &mut [Option<Wire>],
        bytes: &[u8],
        rng: &mut StdRng,
        heard: &mut Heard,
    ) -> Option<Answer> {
        let begun = Instant::now();
        loop {
            let place = rng.random_range(0..wires.len());
            let wire = wires[place].take().map_or_else(|| Wire::connect(self.servers[place]), Ok);
            let answer = wire.and_then(|mut wire| wire.exchange(bytes).map(|answer| (answer, wire)));
            if let Ok((answer, wire)) = answer {
                wires[place] = Some(wire);
                if answer.status != 503 {
                    self.answered.fetch_add(1, Ordering::Relaxed);
                    return Some(answer);
                }
            }
            heard.tries_again += 1;
            if self.stop.load(Ordering::Relaxed) && begun.elapsed() > Duration::from_secs(10) {
                return None;
            }
            std::thread::sleep(AGAIN);
        }
    }
}

struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn position(answer: &Answer) -> (u64, u64) {
    let text = answer.header("onsale-position").expect("a yes has a position");
    let (epoch, offset) = text.split_once('-').expect("two numbers");
    (epoch.parse().expect("a number"), offset.parse().expect("a number"))
}
