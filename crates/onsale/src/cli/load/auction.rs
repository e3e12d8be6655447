//! `onsale load auction`: bidders on one auction made for the run, a third of their bids in the last minute, and a
//! check that leader, price and end are what the bids come to.

pub(super) mod bidder;
pub(super) mod check;

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context;
use clap::Args as ClapArgs;
use comfy_table::Cell;
use hdrhistogram::Histogram;
use hyper::Method;
use indicatif::ProgressBar;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde::Serialize;
use serde_json::json;
use std::collections::BTreeMap;
use tokio::task::JoinSet;

use self::bidder::{Bidder, Crowd, Promise, UnansweredBid};
use self::check::{Heard, Verdict};
use super::consent::Consent;
use super::duration;
use super::export::all_facts;
use super::hall::text;
use crate::cli::bidding::{Soft, Terms};
use crate::cli::client::Server;
use crate::cli::instant;
use crate::cli::load::connection::Connection;
use crate::cli::look;

/// The last minute of an auction that lasts long enough; a quarter of a shorter one.
const RUSH: Duration = Duration::from_secs(60);
/// Times that a bid is sent again, under its own key, when nobody answered.
const TRIES: usize = 5;
const MICROS_MAX: u64 = 120_000_000;
/// How long the close may take to be told after the end.
const CLOSE_PATIENCE: Duration = Duration::from_secs(60);

/// Bid on an auction made for the run and check that leader, price and end follow from the bids
///
/// Bids start by schedule, a third of them in the last minute (of a short run: in its last quarter), some tie, some are
/// too low; staff retracts and bans now and then. Afterwards every fact is held against a second opinion that knows the
/// bidders' own maxima.
#[derive(Clone, Debug, ClapArgs)]
#[command(after_help = "Exit code: 0 exact, 1 something broke.

Examples:
  onsale load auction                              2,000 bids within a minute and a half
  onsale load auction --bids 9000 --duration 3m --bidders 2000
  onsale load auction --json | jq .check")]
pub(super) struct Args {
    #[command(flatten)]
    server: Server,
    #[command(flatten)]
    consent: Consent,
    /// Bids to be sent; an auction takes 10,000
    #[arg(long, default_value_t = 2_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    bids: u32,
    /// Different bidders
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(2..=100_000))]
    bidders: u32,
    /// How long the auction is open: 10s, 2m
    #[arg(long, default_value = "90s", value_parser = duration)]
    duration: Duration,
    /// Requests that may be under way at once, each on its own connection
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    connections: u32,
    /// Repeats the same choices [default: random]
    #[arg(long)]
    seed: Option<u64>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// The whole result, as `--json` prints it.
#[derive(Debug, Serialize)]
struct Result {
    auction: String,
    seed: u64,
    seconds: f64,
    sent: u64,
    failed: u64,
    accepted: u64,
    in_the_rush: u64,
    p50_us: u64,
    p99_us: u64,
    max_us: u64,
    answers: BTreeMap<String, u64>,
    check: Verdict,
}

/// How many bid how often, and for how long.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    pub bids: u32,
    pub bidders: u32,
    pub length: Duration,
    pub connections: u32,
    pub seed: u64,
}

pub(super) struct Shared {
    pub auction: String,
    crowd: Crowd,
    begun: Instant,
    latency: Mutex<Histogram<u64>>,
    pub answers: Mutex<BTreeMap<String, u64>>,
    promises: Mutex<Vec<Promise>>,
    /// Sent and never answered: whether they count, only the facts know.
    unanswered: Mutex<Vec<UnansweredBid>>,
    failed: AtomicU64,
}

impl Shared {
    pub(super) fn new(auction: &str, terms: &Terms) -> anyhow::Result<Arc<Shared>> {
        Ok(Arc::new(Shared {
            auction: auction.to_owned(),
            crowd: Crowd::new(terms.start),
            begun: Instant::now(),
            latency: Mutex::new(Histogram::new_with_bounds(1, MICROS_MAX, 3)?),
            answers: Mutex::default(),
            promises: Mutex::default(),
            unanswered: Mutex::default(),
            failed: AtomicU64::new(0),
        }))
    }

    /// All that the bidders know when they are done.
    pub(super) fn heard(&self) -> Heard {
        Heard { promises: locked(&self.promises).clone(), unanswered: locked(&self.unanswered).clone() }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    args.consent.ask(&args.server)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(Box::pin(load(args)))
}

async fn load(args: &Args) -> anyhow::Result<ExitCode> {
    let seed = args.seed.unwrap_or_else(rand::random);
    let mut client = args.server.connection()?;
    let (auction, terms) = create(&mut client, args.duration).await?;
    if !args.json {
        let (bids, bidders) = (u64::from(args.bids), u64::from(args.bidders));
        let (bids, bidders) = (look::counted(bids, "bid"), look::counted(bidders, "bidder"));
        look::show(&format!("{auction}\n{bids} by {bidders} within {:.0} s", args.duration.as_secs_f64()))?;
    }
    let shared = Shared::new(&auction, &terms)?;
    let plan = Plan {
        bids: args.bids,
        bidders: args.bidders,
        length: args.duration,
        connections: args.connections,
        seed,
    };
    let bar = look::bar(u64::from(args.bids), " {bar:40} {pos}/{len} bids  {eta} left");
    bid_all(&client, &shared, plan, &bar).await;
    bar.finish_and_clear();
    let took = shared.begun.elapsed();
    wait_for_the_close(&mut client, &auction).await?;
    let heard = shared.heard();
    let facts = all_facts(&mut client, "auctions", &auction).await.context("reading the facts")?;
    let shown = client.get(&format!("/v1/auctions/{auction}")).await?;
    let check = check::judge(&facts, &shown, &terms, &heard);
    let promises = heard.promises;
    let latency = locked(&shared.latency).clone();
    let rush_from = terms.ends_at - rush(args.duration).as_millis() as i64;
    let in_the_rush = promises.iter().filter(|promise| promise.at >= rush_from).count();
    let result = Result {
        auction,
        seed,
        seconds: took.as_secs_f64(),
        sent: u64::from(args.bids),
        failed: shared.failed.load(Ordering::Relaxed),
        accepted: promises.len() as u64,
        in_the_rush: in_the_rush as u64,
        p50_us: latency.value_at_quantile(0.5),
        p99_us: latency.value_at_quantile(0.99),
        max_us: latency.max(),
        answers: locked(&shared.answers).clone(),
        check,
    };
    look::show(&if args.json { serde_json::to_string_pretty(&result)? } else { told(&result) })?;
    Ok(if result.check.exact { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The terms are ours, so that the check knows the reserve without being told.
pub(super) async fn create(client: &mut Connection, length: Duration) -> anyhow::Result<(String, Terms)> {
    let now = instant::ms(&client.get("/v1/time").await?["now"]).context("the server's time")?;
    let ends_at = now + length.as_millis() as i64;
    let steps =
        vec![(0, 5), (100, 25), (500, 50), (2_500, 100), (10_000, 250), (25_000, 500), (50_000, 1_000)];
    let soft = Soft { adds: false, window: 5_000, extensions: vec![5_000, 3_000, 1_000], cap: 15_000 };
    let rungs: Vec<_> =
        steps.iter().map(|(from, step)| json!({"from_minor": from, "step_minor": step})).collect();
    let wish = json!({
        "name": "Load", "seller": "load-seller", "currency": "EUR", "starts_at": instant::text(now), "ends_at": instant::text(ends_at),
        "start_minor": 990, "reserve_minor": 20_000, "increment": rungs,
        "soft_close": {"mode": "reset", "window_ms": soft.window, "extensions_ms": soft.extensions, "cap_ms": soft.cap},
    });
    let reply = client.send(Method::POST, "/v1/auctions", &[], Some(wish.to_string())).await?;
    if reply.status != 201 {
        return Err(crate::cli::client::refused("/v1/auctions", &reply));
    }
    let terms = Terms {
        seller: "load-seller".into(),
        starts_at: now,
        ends_at,
        start: 990,
        tick: 1,
        steps,
        reserve: Some(20_000),
        soft: Some(soft),
    };
    Ok((text(&reply.json(), "id"), terms))
}

fn rush(length: Duration) -> Duration {
    RUSH.min(length / 4)
}

/// When the nth of all bids is meant to start: two thirds evenly before the rush, a third in it.
fn start_of(nth: u32, all: u32, length: Duration) -> Duration {
    let (rush, before) = (rush(length), length - rush(length));
    let calm = (all * 2).div_ceil(3);
    match nth < calm {
        true => before.mul_f64(f64::from(nth) / f64::from(calm)),
        false => before + rush.mul_f64(f64::from(nth - calm) / f64::from(all - calm)),
    }
}

pub(super) async fn bid_all(client: &Connection, shared: &Arc<Shared>, plan: Plan, bar: &ProgressBar) {
    let run = rand::random::<u32>();
    let bidders = (0..plan.bidders).map(|number| Bidder::new(run, number)).collect();
    let (idle, next) =
        (Arc::new(Mutex::new(Vec::from_iter::<Vec<Bidder>>(bidders))), Arc::new(AtomicU64::new(0)));
    let mut workers = JoinSet::new();
    for number in 0..plan.connections {
        let mut rng = StdRng::seed_from_u64(plan.seed.wrapping_add(u64::from(number)));
        let (shared, idle, next, bar) = (shared.clone(), idle.clone(), next.clone(), bar.clone());
        let (mut client, bids, length) = (client.another(), plan.bids, plan.length);
        workers.spawn(async move {
            loop {
                let nth = next.fetch_add(1, Ordering::Relaxed);
                if nth >= u64::from(bids) {
                    return;
                }
                let start = start_of(nth as u32, bids, length);
                tokio::time::sleep_until((shared.begun + start).into()).await;
                let bidder = {
                    let mut idle = locked(&idle);
                    let place = (!idle.is_empty()).then(|| rng.random_range(0..idle.len()));
                    place.map(|place| idle.swap_remove(place))
                };
                // Fewer bidders than connections: the next bid waits for one.
                let Some(mut bidder) = bidder else { continue };
                one_bid(&shared, &mut client, &mut bidder, &mut rng, start).await;
                locked(&idle).push(bidder);
                bar.inc(1);
            }
        });
    }
    while workers.join_next().await.is_some() {}
}

async fn one_bid(
    shared: &Shared,
    client: &mut Connection,
    bidder: &mut Bidder,
    rng: &mut StdRng,
    start: Duration,
) {
    let ask = bidder.next(&shared.auction, &shared.crowd, rng);
    let headers = [("idempotency-key", ask.key.as_str()), ("onsale-buyer", ask.bidder.as_str())];
    let headers = if ask.is_bidders_own() { &headers[..] } else { &headers[..1] };
    for _ in 0..TRIES {
        let Ok(reply) = client.send(Method::POST, &ask.path, headers, Some(ask.body.clone())).await else {
            continue;
        };
        // Asked again under the same key until it is told.
        if reply.status == 503 {
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        }
        let latency = shared.begun.elapsed().saturating_sub(start).as_micros() as u64;
        locked(&shared.latency).saturating_record(latency.max(1));
        let told = reply.json();
        let code = if reply.status < 300 { "yes".to_owned() } else { text(&told, "code") };
        *locked(&shared.answers).entry(format!("{} {} {code}", ask.verb, reply.status)).or_default() += 1;
        if let Some(promise) = bidder.hear(&ask, &reply, &shared.crowd) {
            locked(&shared.promises).push(promise);
        }
        return;
    }
    shared.failed.fetch_add(1, Ordering::Relaxed);
    locked(&shared.unanswered).push(UnansweredBid { bidder: ask.bidder, max: ask.max });
}

pub(super) async fn wait_for_the_close(client: &mut Connection, auction: &str) -> anyhow::Result<()> {
    let begun = Instant::now();
    loop {
        let shown = client.get(&format!("/v1/auctions/{auction}")).await?;
        if shown["result"].is_object() {
            return Ok(());
        }
        let now = instant::ms(&client.get("/v1/time").await?["now"]).unwrap_or_default();
        let left = instant::ms(&shown["ends_at"]).unwrap_or_default() - now;
        if left < 0 && begun.elapsed() > CLOSE_PATIENCE {
            anyhow::bail!("{auction} is over and was not closed within {} s", CLOSE_PATIENCE.as_secs());
        }
        tokio::time::sleep(Duration::from_millis(left.clamp(100, 5_000) as u64)).await;
    }
}

/// The result as people read it.
fn told(result: &Result) -> String {
    let mut answers = look::ruled(&["answer", "count"]);
    for (name, count) in &result.answers {
        answers.add_row(vec![Cell::new(name), look::right(look::count(*count))]);
    }
    let check = &result.check;
    let mut lines = vec![
        look::text(&answers),
        format!(
            "{} accepted, {} of them at the very end; p50 {}, p99 {}, max {}",
            look::counted(result.accepted, "bid"),
            look::count(result.in_the_rush),
            look::micros(result.p50_us),
            look::micros(result.p99_us),
            look::micros(result.max_us),
        ),
        format!(
            "checked {} and {}: {} leads at {} until {}, moved {}",
            look::counted(check.facts, "fact"),
            look::counted(check.promises, "answered promise"),
            check.leader.as_deref().unwrap_or("nobody"),
            check.price_minor.unwrap_or_default(),
            instant::text(check.ends_at),
            look::counted(check.extensions, "time"),
        ),
    ];
    lines.extend(check.broken.iter().map(|broken| format!("broken: {broken}")));
    let more = check.broken_count - check.broken.len() as u64;
    lines.extend((more > 0).then(|| format!("broken: and {} more", look::count(more))));
    lines.push(if check.exact { "exact".into() } else { "NOT EXACT".into() });
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_third_of_all_bids_comes_in_the_last_minute() {
        for (all, seconds, rush) in [(3_000, 180, 60), (900, 90, 22), (10, 8, 2)] {
            let length = Duration::from_secs(seconds);
            let late = Duration::from_secs(seconds - rush) - Duration::from_millis(500);
            let starts: Vec<_> = (0..all).map(|nth| start_of(nth, all, length)).collect();
            assert!(starts.is_sorted() && starts.iter().all(|start| *start < length));
            let count = starts.iter().filter(|start| **start >= late).count();
            assert!(count >= all as usize / 3, "{count} of {all}");
        }
    }
}
