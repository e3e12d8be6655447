//! `onsale load mixed`: seats, a sale and auctions at once, everything paid through a provider in all its moods; afterwards
//! the exported facts say whether every coin and every good is where it belongs.

mod buyer;
mod crowd;
mod judge;
mod record;
mod stage;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;
use clap::Args as ClapArgs;
use comfy_table::Cell;
use hyper::Method;
use rand::SeedableRng;
use rand::rngs::StdRng;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use self::crowd::{Crowd, Way};
use self::judge::Verdict;
use self::record::Record;
use self::stage::Stage;
use super::auction::{self, Shared};
use super::consent::Consent;
use super::duration;
use super::export::all_facts;
use super::hall::list;
use crate::cli::bidding::Terms;
use crate::cli::client::Server;
use crate::cli::instant;
use crate::cli::load::connection::Connection;
use crate::cli::look;

/// Bids on each auction, and who bids.
const BIDS: u32 = 200;
const BIDDERS: u32 = 20;
const BIDDING_CONNECTIONS: u32 = 4;
/// A lapse is swept within moments of its deadline.
const SWEPT_MS: i64 = 1_000;
/// The event that is called off is called off when so many of ten buyers are through.
const CALLED_OFF: u64 = 6;

/// Sell seats, a sale and auctions at once with orders and payments, then check who got what and every coin
///
/// Buyers hold seats and check out units, order them, and pay by the simulated provider in all its moods: it succeeds,
/// declines, needs an extra step, is late, says things twice or in the wrong order, loses its answer, is down or never
/// answers. Some let things lapse, some are taken their seats away while they pay, some bring things back, and one of two
/// events is called off in the middle. Who got what, and that captured minus refunded is the sum of confirmed orders, is
/// then recomputed from exported facts.
#[derive(Clone, Debug, ClapArgs)]
#[command(after_help = "Exit code: 0 exact, 1 something broke.

The extra step and late money need a provider that speaks up: with the server's own house key (its data folder has it in
`house_key`) the run signs what the simulated provider would say.

Examples:
  onsale load mixed                                1,000 buyers, 3 auctions
  onsale load mixed --house-key \"$(cat data/house_key)\"
  onsale load mixed --buyers 5000 --export run.json
  onsale load mixed --judge run.json               the verdict once more, from the export alone")]
pub(super) struct Args {
    #[command(flatten)]
    server: Server,
    #[command(flatten)]
    consent: Consent,
    /// Buyers, each for a few seats or units
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    buyers: u32,
    /// Auctions that run meanwhile
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(0..=100))]
    auctions: u32,
    /// How long they are open: 10s, 1m
    #[arg(long, default_value = "8s", value_parser = duration)]
    bidding: Duration,
    /// Buyers under way at once, each on a connection of its own
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    connections: u32,
    /// Of a hundred buyers, how many leave a hold, a code or an order to lapse; it takes half a minute longer then
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(0..=60))]
    lapses: u32,
    /// Payments that the provider never answers, at most
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u64).range(0..=1_000))]
    silent: u64,
    /// The server's house key, with which its simulated provider signs
    #[arg(long, env = "ONSALE_HOUSE_KEY", hide_env_values = true)]
    house_key: Option<String>,
    /// Repeats the same choices [default: random]
    #[arg(long)]
    seed: Option<u64>,
    /// Write facts, answers and what is served into this file
    #[arg(long, value_name = "FILE")]
    export: Option<PathBuf>,
    /// Run nothing: judge what `--export` has written
    #[arg(long, value_name = "FILE", conflicts_with = "export")]
    judge: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// The whole result, as `--json` prints it.
#[derive(Debug, Default, Serialize)]
struct Result {
    seed: u64,
    seconds: f64,
    requests: u64,
    /// Answers by verb, status and code.
    answers: BTreeMap<String, u64>,
    /// Payments by the provider's mood.
    payments: BTreeMap<String, u64>,
    check: Verdict,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let result = match &args.judge {
        Some(file) => {
            let text = std::fs::read(file).with_context(|| format!("reading {}", file.display()))?;
            let record: Record = serde_json::from_slice(&text).context("not an export of this command")?;
            Result { check: judge::judge(&record), ..Result::default() }
        }
        None => {
            args.consent.ask(&args.server)?;
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
            runtime.block_on(Box::pin(load(args)))?
        }
    };
    look::show(&if args.json { serde_json::to_string_pretty(&result)? } else { told(&result) })?;
    Ok(if result.check.exact { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn load(args: &Args) -> anyhow::Result<Result> {
    let mut client = args.server.connection()?;
    let seed = args.seed.unwrap_or_else(rand::random);
    let stage = Stage::make(&mut client, args.buyers).await?;
    if !args.json {
        let (buyers, auctions) = (u64::from(args.buyers), u64::from(args.auctions));
        let (buyers, auctions) = (look::counted(buyers, "buyer"), look::counted(auctions, "auction"));
        look::show(&format!(
            "{buyers} for {}, {} and {}; {auctions}",
            stage.night, stage.doomed, stage.sale
        ))?;
    }
    let bar = look::bar(u64::from(args.buyers), " {bar:40} {pos}/{len} buyers gone  {elapsed}  {msg}");
    let secret = args.house_key.as_ref().map(|key| format!("webhooks:{key}").into_bytes());
    let crowd = Arc::new(Crowd::new(stage, secret, args.silent, args.lapses, bar));
    let begun = Instant::now();
    let auctions = bid(&mut client, args, seed).await?;
    buy(&client, &crowd, args, seed).await;
    settle(&mut client, &crowd).await?;
    let mut record = crowd.stage.record(&mut client).await.context("reading the facts")?;
    for auction in auctions {
        record.auctions.push(auction.await.context("an auction")??);
    }
    let orders = crowd.heard().orders.clone();
    for (order, _) in &orders {
        record.orders.push(client.get(&format!("/v1/orders/{order}")).await?);
    }
    crowd.bar.finish_and_clear();
    let heard = crowd.heard();
    (record.promises, record.broken) = (heard.promises.clone(), heard.broken.clone());
    if let Some(file) = &args.export {
        std::fs::write(file, serde_json::to_vec(&record)?)
            .with_context(|| format!("writing {}", file.display()))?;
    }
    Ok(Result {
        seed,
        seconds: begun.elapsed().as_secs_f64(),
        requests: crowd.requests(),
        answers: heard.answers.clone(),
        payments: heard.payments.clone(),
        check: judge::judge(&record),
    })
}

type Bidding = tokio::task::JoinHandle<anyhow::Result<record::Auction>>;

/// Starts the auctions; they run beside everything else and end by themselves.
async fn bid(client: &mut Connection, args: &Args, seed: u64) -> anyhow::Result<Vec<Bidding>> {
    let mut all = Vec::new();
    for number in 0..u64::from(args.auctions) {
        let (id, terms) = auction::create(client, args.bidding).await?;
        let plan = auction::Plan {
            bids: BIDS,
            bidders: BIDDERS,
            length: args.bidding,
            connections: BIDDING_CONNECTIONS,
            seed: seed.wrapping_add(number << 32),
        };
        all.push(tokio::spawn(bid_on(client.another(), id, terms, plan)));
    }
    Ok(all)
}

async fn bid_on(
    mut client: Connection,
    id: String,
    terms: Terms,
    plan: auction::Plan,
) -> anyhow::Result<record::Auction> {
    let shared = Shared::new(&id, &terms)?;
    auction::bid_all(&client, &shared, plan, &indicatif::ProgressBar::hidden()).await;
    auction::wait_for_the_close(&mut client, &id).await?;
    let shown = client.get(&format!("/v1/auctions/{id}")).await?;
    let facts = all_facts(&mut client, "auctions", &id).await?;
    Ok(record::Auction { id, facts, shown, terms, heard: shared.heard() })
}

/// Lets everybody buy, and calls one event off when most are through.
async fn buy(client: &Connection, crowd: &Arc<Crowd>, args: &Args, seed: u64) {
    let (next, gone) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let buyers = u64::from(args.buyers);
    let mut workers = JoinSet::new();
    for _ in 0..args.connections {
        let (crowd, next, gone, mut client) = (crowd.clone(), next.clone(), gone.clone(), client.another());
        workers.spawn(async move {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= buyers {
                    return;
                }
                let rng = StdRng::seed_from_u64(seed ^ (number << 20));
                Box::pin(buyer::buy(Way::new(&crowd, &mut client, number), rng)).await;
                crowd.bar.inc(1);
                if gone.fetch_add(1, Ordering::Relaxed) + 1 == buyers * CALLED_OFF / 10 {
                    call_off(&crowd, &mut client).await;
                }
            }
        });
    }
    while workers.join_next().await.is_some() {}
}

async fn call_off(crowd: &Crowd, client: &mut Connection) {
    let mut staff = Way::new(crowd, client, u64::MAX);
    let path = format!("/v1/events/{}", crowd.stage.doomed);
    let told = staff.send("call off", Method::PATCH, &path, &[], json!({"status": "cancelled"})).await;
    if let Some(told) = told.filter(|told| !told.is_yes()) {
        staff.odd("calling an event off", &told);
    }
}

/// Waits until everything has come that will come: payments, refunds, and the lapses of what was left behind.
async fn settle(client: &mut Connection, crowd: &Crowd) -> anyhow::Result<()> {
    crowd.bar.set_message("waiting for payments, refunds and lapses");
    let lapse_at = crowd.heard().lapse_at;
    loop {
        let now = instant::ms(&client.get("/v1/time").await?["now"]).context("the server's time")?;
        let left = lapse_at + SWEPT_MS - now;
        if left <= 0 || lapse_at == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(left.unsigned_abs().min(1_000))).await;
    }
    let orders = crowd.heard().orders.clone();
    let mut way = Way::new(crowd, client, u64::MAX - 1);
    for (order, resolves) in orders {
        way.until(&format!("/v1/orders/{order}"), |shown| is_quiet(shown, resolves)).await;
    }
    Ok(())
}

/// Nothing of an order is under way: every payment that will be heard of was, and every refund is paid.
fn is_quiet(order: &Value, resolves: bool) -> bool {
    list(order, "payments").iter().all(|payment| {
        let open = resolves && payment["status"] == "asked";
        !open && list(payment, "refunds").iter().all(|refund| refund["paid"] == true)
    })
}

/// The result as people read it.
fn told(result: &Result) -> String {
    let table = |name: &str, counts: &BTreeMap<String, u64>| {
        let mut table = look::ruled(&[name, "count"]);
        for (name, count) in counts {
            table.add_row(vec![Cell::new(name), look::right(look::count(*count))]);
        }
        look::text(&table)
    };
    let check = &result.check;
    let mut lines = Vec::new();
    if result.requests > 0 {
        lines.push(table("answer", &result.answers));
        lines.push(table("payment", &result.payments));
        lines.push(format!("{} requests in {:.1} s", look::count(result.requests), result.seconds));
    }
    lines.push(format!(
        "checked {} and {}: {} and {} sold, {} placed, {} lapsed",
        look::counted(check.facts, "fact"),
        look::counted(check.promises, "answered promise"),
        look::counted(check.places_sold, "place"),
        look::counted(check.units_sold, "unit"),
        look::counted(check.bids, "bid"),
        look::count(check.lapsed),
    ));
    lines.push(format!(
        "{}, {} confirmed; captured {} - refunded {} = {} confirmed; late money bought {} and went back {}",
        look::counted(check.orders, "order"),
        look::count(check.confirmed),
        check.captured_minor,
        check.refunded_minor,
        check.confirmed_minor,
        look::counted(check.late_bought, "time"),
        look::counted(check.late_refunded, "time"),
    ));
    lines.extend(check.broken.iter().map(|broken| format!("broken: {broken}")));
    let more = check.broken_count - check.broken.len() as u64;
    lines.extend((more > 0).then(|| format!("broken: and {} more", look::count(more))));
    lines.push(if check.exact { "exact".into() } else { "NOT EXACT".into() });
    lines.join("\n")
}
