//! `onsale load sale`: many buyers for few units. They check out, buy, cancel, walk away or come too late; afterwards the
//! exported facts say whether exactly as many were sold as there were.

pub(super) mod check;
mod crowd;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use clap::Args as ClapArgs;
use hyper::Method;
use serde::Serialize;
use serde_json::json;

use self::check::Verdict;
use self::crowd::Crowd;
use super::consent::Consent;
use crate::cli::client::{Server, refused};
use crate::cli::instant;
use crate::cli::load::connection::Connection;
use crate::cli::look;

/// The one thing that everybody wants.
const SKU: &str = "item";
/// The shortest life of a code, so that lapses come back soon.
const CHECKOUT_SECONDS: i64 = 30;
/// A run that takes longer than this has gone wrong.
const SALE_MS: i64 = 3_600_000;

/// Make a sale and let buyers fight for it, then check that exactly all of it was sold
///
/// Some buyers cancel, some walk away and let their code lapse, some come with it too late, some send a purchase twice
/// and some try another's code. What returns is sold to those who wait. It takes a little more than half a minute,
/// because a code lives at least so long.
#[derive(Clone, Debug, ClapArgs)]
#[command(after_help = "Exit code: 0 exact, 1 something broke.

Examples:
  onsale load sale                                 50,000 buyers, 10,000 items
  onsale load sale --items 100 --buyers 400
  onsale load sale --json | jq .check")]
pub(super) struct Args {
    #[command(flatten)]
    server: Server,
    #[command(flatten)]
    consent: Consent,
    /// Units in the sale
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    items: u32,
    /// Buyers, each for one unit or two
    #[arg(long, default_value_t = 50_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    buyers: u32,
    /// Requests that may be under way at once, each on its own connection
    #[arg(long, default_value_t = 128, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    connections: u32,
    /// Of a hundred codes, how many are let lapse; a third of their buyers come too late with them
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u32).range(0..=60))]
    lapses: u32,
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
    sale: String,
    items: u64,
    buyers: u64,
    seed: u64,
    seconds: f64,
    requests: u64,
    requests_per_s: f64,
    /// Answers by status and code.
    answers: std::collections::BTreeMap<String, u64>,
    check: Verdict,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    args.consent.ask(&args.server)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(Box::pin(load(args)))
}

async fn load(args: &Args) -> anyhow::Result<ExitCode> {
    let mut client = args.server.connection()?;
    let seed = args.seed.unwrap_or_else(rand::random);
    let sale = open(&mut client, args.items).await?;
    let (items, buyers) = (u64::from(args.items), u64::from(args.buyers));
    if !args.json {
        let (buyers, items) = (look::counted(buyers, "buyer"), look::counted(items, "unit"));
        look::show(&format!("{buyers} for {items} of {sale}"))?;
    }
    let begun = Instant::now();
    let bar = look::bar(buyers, " {bar:40} {pos}/{len} buyers gone  {elapsed}");
    let (connections, lapses) = (args.connections as usize, args.lapses);
    let plan = crowd::Plan { buyers: buyers as usize, connections, lapses, seed };
    let crowd = Crowd::run(&client, &sale, &plan, bar).await;
    let took = begun.elapsed();
    let check = check::check(&mut client, &sale, items, &crowd).await.context("checking the facts")?;
    let result = Result {
        sale,
        items,
        buyers,
        seed,
        seconds: took.as_secs_f64(),
        requests: crowd.requests(),
        requests_per_s: crowd.requests() as f64 / took.max(Duration::from_millis(1)).as_secs_f64(),
        answers: crowd.answers(),
        check,
    };
    let text = if args.json { serde_json::to_string_pretty(&result)? } else { told(&result) };
    look::show(&text)?;
    Ok(if result.check.exact { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A sale of its own, so that nobody else's is bought empty.
async fn open(client: &mut Connection, items: u32) -> anyhow::Result<String> {
    let now = instant::ms(&client.get("/v1/time").await?["now"]).context("the server's time")?;
    let body = json!({
        "name": "Load", "starts_at": instant::text(now - 1), "ends_at": instant::text(now + SALE_MS), "currency": "EUR", "buyer_limit": 2,
        "checkout_seconds": CHECKOUT_SECONDS,
        "skus": [{"id": SKU, "name": "What everybody wants", "price_minor": 1000, "stock": items}],
    });
    let reply = client.send(Method::POST, "/v1/sales", &[], Some(body.to_string())).await?;
    if reply.status != 201 {
        return Err(refused("/v1/sales", &reply));
    }
    match reply.json()["id"].as_str() {
        Some(sale) => Ok(sale.to_owned()),
        None => bail!("the server made a sale without an id"),
    }
}

/// The result as people read it.
fn told(result: &Result) -> String {
    let mut text = String::new();
    let mut tell = |line: &str| {
        text.push_str(line);
        text.push('\n');
    };
    let mut answers = look::ruled(&["answer", "count"]);
    for (name, count) in &result.answers {
        answers.add_row(vec![comfy_table::Cell::new(name), look::right(look::count(*count))]);
    }
    tell(&look::text(&answers));
    let (requests, rate) = (look::count(result.requests), look::count(result.requests_per_s as u64));
    tell(&format!("{requests} requests in {:.1} s, {rate}/s", result.seconds));
    let check = &result.check;
    tell(&format!(
        "checked {} and {}: {} of {} sold, {} bought, {} lapsed, {} cancelled",
        look::counted(check.facts, "fact"),
        look::counted(check.promises, "answered promise"),
        look::count(check.sold),
        look::count(result.items),
        look::counted(check.purchases, "time"),
        look::count(check.lapsed),
        look::count(check.cancelled),
    ));
    for broken in &check.broken {
        tell(&format!("broken: {broken}"));
    }
    let more = check.broken_count - check.broken.len() as u64;
    if more > 0 {
        tell(&format!("broken: and {} more", look::count(more)));
    }
    tell(if check.exact { "exact" } else { "NOT EXACT" });
    text
}
