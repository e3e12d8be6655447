//! The open loop: requests start by schedule, whether or not earlier ones were answered, and their latency counts
//! from the instant they were meant to start. What cannot be started is counted, never silently delayed.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use tokio::sync::{Mutex as AsyncMutex, mpsc};
use tokio::task::JoinSet;

use super::buyer::{Buyer, Promise};
use super::hall::Hall;
use super::measure::{End, Measure};
use crate::cli::load::connection::Connection;

/// How often the schedule is looked at; what is due by then starts together.
const TICK: Duration = Duration::from_millis(1);
/// How long the last requests may take after the schedule has ended.
const GRACE: Duration = Duration::from_secs(15);
/// Seconds of schedule that may wait for a free connection before requests are given up as not started.
const BACKLOG_SECONDS: f64 = 2.0;

#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub buyers: usize,
    pub rate: f64,
    pub duration: Duration,
    pub connections: usize,
    pub seed: u64,
}

/// What a run leaves behind.
pub(super) struct Outcome {
    shared: Arc<Shared>,
    /// Meant to be sent, by the schedule.
    pub scheduled: u64,
    /// From the first request to the last answer.
    pub took: Duration,
}

impl Outcome {
    pub(super) fn measure(&self) -> &Measure {
        &self.shared.measure
    }

    /// Everything that was answered with a yes.
    pub(super) fn promises(&self) -> Vec<Promise> {
        self.shared.promises.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Scheduled, but given up because every connection was busy for too long.
    pub(super) fn not_started(&self) -> u64 {
        self.shared.not_started.load(Ordering::Relaxed)
    }
}

struct Shared {
    hall: Arc<Hall>,
    measure: Measure,
    idle: Mutex<Vec<Buyer>>,
    promises: Mutex<Vec<Promise>>,
    not_started: AtomicU64,
    begun: Instant,
    bar: ProgressBar,
}

pub(super) async fn run(client: &Connection, hall: Arc<Hall>, plan: &Plan, bar: ProgressBar) -> Outcome {
    let run = rand::random::<u32>();
    let buyers = (0..plan.buyers).map(|number| Buyer::new(run, number)).collect();
    let shared = Arc::new(Shared {
        hall,
        measure: Measure::new(plan.duration),
        idle: Mutex::new(buyers),
        promises: Mutex::default(),
        not_started: AtomicU64::new(0),
        begun: Instant::now(),
        bar,
    });
    let backlog = ((plan.rate * BACKLOG_SECONDS) as usize).max(plan.connections);
    let (sender, receiver) = mpsc::channel(backlog);
    let receiver = Arc::new(AsyncMutex::new(receiver));
    let mut workers = JoinSet::new();
    for number in 0..plan.connections {
        let rng = StdRng::seed_from_u64(plan.seed.wrapping_add(number as u64));
        workers.spawn(work(shared.clone(), receiver.clone(), client.another(), rng));
    }
    let scheduled = pace(&shared, plan, sender).await;
    let ended = async { while workers.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(GRACE, ended).await;
    let took = shared.begun.elapsed();
    // Who is not back by now gets no answer any more.
    workers.shutdown().await;
    shared.bar.finish_and_clear();
    Outcome { shared, scheduled, took }
}

/// Hands out intended starts until the duration is over; never waits for a worker.
async fn pace(shared: &Shared, plan: &Plan, sender: mpsc::Sender<Duration>) -> u64 {
    let total = (plan.rate * plan.duration.as_secs_f64()).round().max(1.0) as u64;
    let mut next = 0;
    while next < total {
        let elapsed = shared.begun.elapsed();
        let due = ((elapsed.as_secs_f64() * plan.rate) as u64 + 1).min(total);
        while next < due {
            let start = Duration::from_secs_f64(next as f64 / plan.rate);
            if sender.try_send(start).is_err() {
                shared.not_started.fetch_add(1, Ordering::Relaxed);
            }
            next += 1;
        }
        shared.bar.set_position(next);
        tokio::time::sleep(TICK).await;
    }
    total
}

async fn work(
    shared: Arc<Shared>,
    receiver: Arc<AsyncMutex<mpsc::Receiver<Duration>>>,
    mut client: Connection,
    mut rng: StdRng,
) {
    loop {
        let start = receiver.lock().await.recv().await;
        let Some(start) = start else { return };
        let Some(mut buyer) = take_idle(&shared, &mut rng) else {
            shared.not_started.fetch_add(1, Ordering::Relaxed);
            continue;
        };
        let ask = buyer.next(&shared.hall, &mut rng);
        let name = buyer.name().to_owned();
        let mut headers =
            vec![("onsale-buyer", name.as_str()), ("idempotency-key", ask.idempotency_key.as_str())];
        headers.extend(ask.token.as_deref().map(|token| ("hold-token", token)));
        let reply = client.send(ask.method, &ask.path, &headers, ask.body).await;
        let latency = shared.begun.elapsed().saturating_sub(start);
        let end = match reply {
            Err(_) => End::Failed,
            Ok(reply) => {
                let (promise, code) = buyer.hear(ask.verb, &reply, &shared.hall);
                if let Some(promise) = promise {
                    shared.promises.lock().unwrap_or_else(PoisonError::into_inner).push(promise);
                }
                match code {
                    None => End::Yes(reply.status),
                    Some(code) => End::No(reply.status, code),
                }
            }
        };
        shared.measure.note(ask.verb, start, latency, &end);
        shared.idle.lock().unwrap_or_else(PoisonError::into_inner).push(buyer);
    }
}

fn take_idle(shared: &Shared, rng: &mut StdRng) -> Option<Buyer> {
    let mut idle = shared.idle.lock().unwrap_or_else(PoisonError::into_inner);
    if idle.is_empty() {
        return None;
    }
    let place = rng.random_range(0..idle.len());
    Some(idle.swap_remove(place))
}
