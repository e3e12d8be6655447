//! The buyers: each comes with a plan, waits while reservations may return, and goes home when all is sold.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hyper::Method;
use indicatif::ProgressBar;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::SKU;
use crate::cli::client::Reply;
use crate::cli::load::connection::Connection;

/// Who finds all reserved comes back after so long.
const COME_BACK: Duration = Duration::from_millis(500);
/// A late buyer is sure to be late.
const LATE: Duration = Duration::from_millis(200);
/// Nobody is due: look again.
const IDLE: Duration = Duration::from_millis(5);
/// A request that failed is sent again so often, under the same key.
const TRIES: u32 = 20;

/// How many come, and how.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub buyers: usize,
    pub connections: usize,
    /// Of a hundred codes.
    pub lapses: u32,
    pub seed: u64,
}

/// What a buyer does with a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Buy,
    /// Sends the purchase twice; both answers must be the same.
    BuyTwice,
    Cancel,
    WalkAway,
    /// Comes with the code after its deadline.
    ComeLate,
    /// Somebody else tries the code first.
    LetOtherTry,
}

#[derive(Clone, Debug)]
enum Next {
    CheckOut,
    Use { own: OwnCheckout, way: Way },
}

/// A checkout and the code that opens it.
#[derive(Clone, Debug)]
struct OwnCheckout {
    id: String,
    code: String,
}

#[derive(Debug)]
struct Buyer {
    name: String,
    tries: u32,
    next: Next,
}

/// An answer that promises something, to be found in the facts afterwards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Promise {
    Reserved { checkout: String, buyer: String, count: u64 },
    Bought { checkout: String, order: String },
    Cancelled { checkout: String },
}

#[derive(Default)]
struct Heard {
    promises: Vec<Promise>,
    broken: Vec<String>,
    answers: BTreeMap<String, u64>,
}

struct Shared {
    sale: String,
    buyers: Mutex<Vec<Buyer>>,
    /// Who waits, the earliest first.
    due: Mutex<BinaryHeap<Reverse<(Instant, usize)>>>,
    begun: Instant,
    gone: AtomicU64,
    all: u64,
    lapses: u32,
    requests: AtomicU64,
    /// Once everything was reserved, whoever gets something buys it: otherwise lapses would follow lapses for minutes.
    scarce: AtomicBool,
    heard: Mutex<Heard>,
    bar: ProgressBar,
}

/// What the buyers leave behind.
pub(crate) struct Crowd {
    shared: Arc<Shared>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Crowd {
    pub(crate) async fn run(client: &Connection, sale: &str, plan: &Plan, bar: ProgressBar) -> Crowd {
        let buyers = plan.buyers;
        let run = rand::random::<u32>();
        let name = |number: usize| format!("load-{run:08x}-{number}");
        let buyer = |number: usize| Buyer { name: name(number), tries: 0, next: Next::CheckOut };
        let begun = Instant::now();
        let first = begun + IDLE;
        let shared = Arc::new(Shared {
            sale: sale.to_owned(),
            buyers: Mutex::new((0..buyers).map(buyer).collect()),
            due: Mutex::new((0..buyers).map(|number| Reverse((first, number))).collect()),
            begun,
            gone: AtomicU64::new(0),
            all: buyers as u64,
            lapses: plan.lapses,
            requests: AtomicU64::new(0),
            scarce: AtomicBool::new(false),
            heard: Mutex::default(),
            bar,
        });
        let mut workers = JoinSet::new();
        for number in 0..plan.connections {
            let rng = StdRng::seed_from_u64(plan.seed.wrapping_add(number as u64));
            workers.spawn(work(shared.clone(), client.another(), rng));
        }
        while workers.join_next().await.is_some() {}
        shared.bar.finish_and_clear();
        Crowd { shared }
    }

    pub(crate) fn requests(&self) -> u64 {
        self.shared.requests.load(Ordering::Relaxed)
    }

    pub(crate) fn answers(&self) -> BTreeMap<String, u64> {
        lock(&self.shared.heard).answers.clone()
    }

    pub(crate) fn promises(&self) -> Vec<Promise> {
        lock(&self.shared.heard).promises.clone()
    }

    /// What was wrong with the answers themselves.
    pub(crate) fn broken(&self) -> Vec<String> {
        lock(&self.shared.heard).broken.clone()
    }
}

async fn work(shared: Arc<Shared>, mut client: Connection, mut rng: StdRng) {
    while shared.gone.load(Ordering::Relaxed) < shared.all {
        let Some(number) = shared.next_due() else {
            tokio::time::sleep(IDLE).await;
            continue;
        };
        let (name, next) = {
            let buyers = lock(&shared.buyers);
            (buyers[number].name.clone(), buyers[number].next.clone())
        };
        let then = match next {
            Next::CheckOut => shared.check_out(&mut client, &name, &mut rng).await,
            Next::Use { own, way } => shared.use_code(&mut client, &name, &own, way).await,
        };
        shared.then(number, then);
    }
}

/// What comes after a step.
enum Then {
    GoHome,
    /// After so long, this.
    Go(Duration, Next),
    /// The request failed: the same again.
    Again,
}

impl Shared {
    fn next_due(&self) -> Option<usize> {
        let mut due = lock(&self.due);
        let Reverse((at, _)) = due.peek()?;
        if *at > Instant::now() {
            return None;
        }
        due.pop().map(|Reverse((_, number))| number)
    }

    fn then(&self, number: usize, then: Then) {
        let wait = match then {
            Then::GoHome => return self.go_home(),
            Then::Go(wait, next) => {
                let mut buyers = lock(&self.buyers);
                (buyers[number].next, buyers[number].tries) = (next, 0);
                wait
            }
            Then::Again => {
                let mut buyers = lock(&self.buyers);
                buyers[number].tries += 1;
                if buyers[number].tries > TRIES {
                    lock(&self.heard).broken.push(format!("no answer for {} at all", buyers[number].name));
                    return self.go_home();
                }
                COME_BACK
            }
        };
        // Who has a code in hand comes before all who wait: on a slow machine it would lapse meanwhile.
        let at = if wait.is_zero() { self.begun } else { Instant::now() + wait };
        lock(&self.due).push(Reverse((at, number)));
    }

    fn go_home(&self) {
        self.gone.fetch_add(1, Ordering::Relaxed);
        self.bar.inc(1);
    }

    async fn post(
        &self,
        client: &mut Connection,
        path: &str,
        (buyer, key, code): (&str, &str, Option<&str>),
        body: Value,
    ) -> Option<(Reply, Value, String)> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        let mut headers = vec![("onsale-buyer", buyer), ("idempotency-key", key)];
        headers.extend(code.map(|code| ("checkout-code", code)));
        let reply = client.send(Method::POST, path, &headers, Some(body.to_string())).await;
        let Ok(reply) = reply else {
            *lock(&self.heard).answers.entry("no answer".to_owned()).or_default() += 1;
            return None;
        };
        let told = reply.json();
        let code = told["code"].as_str().filter(|_| reply.status >= 300).unwrap_or("yes").to_owned();
        *lock(&self.heard).answers.entry(format!("{} {code}", reply.status)).or_default() += 1;
        Some((reply, told, code))
    }

    async fn check_out(&self, client: &mut Connection, name: &str, rng: &mut StdRng) -> Then {
        let path = format!("/v1/sales/{}/checkouts", self.sale);
        // While there is plenty, some want two; later one, so that the last unit finds its buyer.
        let scarce = self.scarce.load(Ordering::Relaxed);
        let count: u64 = if scarce { 1 } else { rng.random_range(1..=2) };
        let body = json!({"lines": [{"sku": SKU, "count": count}]});
        // What is asked for is part of the key: who comes back may want less.
        let key = format!("{name}-checkout-{count}");
        let Some((reply, told, code)) = self.post(client, &path, (name, &key, None), body).await else {
            return Then::Again;
        };
        match (reply.status, code.as_str()) {
            (201, _) => {}
            (409, "sold_out") => return Then::GoHome,
            (409, "sold_out_for_now" | "not_enough_stock") => {
                self.scarce.store(true, Ordering::Relaxed);
                return Then::Go(COME_BACK.mul_f64(rng.random_range(0.5..1.5)), Next::CheckOut);
            }
            (503, _) => return Then::Again,
            (status, code) => {
                lock(&self.heard).broken.push(format!("a checkout was answered {status} {code}"));
                return Then::GoHome;
            }
        }
        let checkout = told["id"].as_str().unwrap_or_default().to_owned();
        let buyer = told["buyer"].as_str().unwrap_or_default().to_owned();
        let code = told["code"].as_str().unwrap_or_default().to_owned();
        let own = OwnCheckout { id: checkout.clone(), code };
        lock(&self.heard).promises.push(Promise::Reserved { checkout, buyer, count });
        let left = told["expires_in_seconds"].as_i64().unwrap_or(0) * 1_000;
        let dice = rng.random_range(0..100);
        let way = if scarce {
            Way::Buy
        } else if dice < self.lapses {
            if rng.random_ratio(1, 3) { Way::ComeLate } else { Way::WalkAway }
        } else {
            match dice - self.lapses {
                0..5 => Way::Cancel,
                5..15 => Way::BuyTwice,
                15..20 => Way::LetOtherTry,
                _ => Way::Buy,
            }
        };
        match way {
            Way::WalkAway => Then::GoHome,
            Way::ComeLate => {
                let wait = Duration::from_millis(left.unsigned_abs()) + LATE;
                Then::Go(wait, Next::Use { own, way })
            }
            Way::Buy | Way::BuyTwice | Way::Cancel | Way::LetOtherTry => {
                Then::Go(Duration::ZERO, Next::Use { own, way })
            }
        }
    }

    async fn use_code(&self, client: &mut Connection, name: &str, own: &OwnCheckout, way: Way) -> Then {
        let (verb, body) = if way == Way::Cancel {
            ("cancel", json!({}))
        } else {
            ("purchase", json!({"paid_elsewhere": true}))
        };
        let path = format!("/v1/checkouts/{}/{verb}", own.id);
        let code = Some(own.code.as_str());
        if way == Way::LetOtherTry {
            let thief = format!("{name}-thief");
            let key = format!("{thief}-{verb}");
            match self.post(client, &path, (&thief, &key, code), body.clone()).await {
                None => return Then::Again,
                Some((reply, _, _)) if reply.status == 403 || reply.status == 503 => {}
                Some((reply, _, code)) => {
                    let told = format!("another's code was answered {} {code}, not 403", reply.status);
                    lock(&self.heard).broken.push(told);
                }
            }
        }
        let key = format!("{name}-{verb}");
        let Some((reply, told, refusal)) = self.post(client, &path, (name, &key, code), body.clone()).await
        else {
            return Then::Again;
        };
        let text = |name: &str| told[name].as_str().unwrap_or_default().to_owned();
        match (reply.status, way) {
            (503, _) => return Then::Again,
            (200, Way::Cancel) => {
                lock(&self.heard).promises.push(Promise::Cancelled { checkout: text("id") });
            }
            (200, _) => {
                let promise = Promise::Bought { checkout: text("id"), order: text("order") };
                lock(&self.heard).promises.push(promise);
            }
            // Too late, by plan or because everything took so long: whoever is told so goes home without.
            (410, _) => {}
            (status, _) => {
                lock(&self.heard).broken.push(format!("{verb} was answered {status} {refusal}"));
            }
        }
        if way == Way::BuyTwice && reply.status == 200 {
            let key = format!("{name}-{verb}-again");
            if let Some((again, second, _)) = self.post(client, &path, (name, &key, code), body.clone()).await
                && again.status != 503
                && (again.status, &second) != (200, &told)
            {
                lock(&self.heard)
                    .broken
                    .push(format!("a purchase was told differently again: {told}, {second}"));
            }
        }
        Then::GoHome
    }
}
