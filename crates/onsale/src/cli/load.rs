//! `onsale load`: buyers over HTTP at a steady rate, what they had to wait, and whether everything stayed exact.

mod auction;
mod buyer;
mod check;
mod connection;
mod consent;
mod export;
mod hall;
mod measure;
mod mixed;
mod plot;
mod run;
mod sale;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::{Args as ClapArgs, Subcommand, ValueEnum};
use comfy_table::Cell;
use serde::Serialize;

use self::check::Verdict;
use self::consent::Consent;
use self::hall::Hall;
use self::measure::{AnswerLine, Point, VerbLine};
use self::run::{Outcome, Plan};
use super::client::Server;
use super::look;

/// Put a server under load and check afterwards that nothing was held or sold twice
///
/// An open loop: requests start by schedule, and latency counts from the intended start, so that a slow server
/// cannot hide behind a slow client. Buyers hold neighbouring seats, then confirm, release, extend or walk away;
/// some wait in line. It really buys: use it on a demo or a test event.
#[derive(Debug, ClapArgs)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "Exit code: 0 exact, 1 something broke.

Examples:
  onsale load                                      the first event on sale, 10 s at 1,000 requests/s
  onsale load --rate 4000 --duration 30s --svg load.svg
  onsale load --event evt_000000000theatre --contention front-row
  onsale load --server http://10.0.0.7:7070 --key \"$KEY\" --yes
  onsale load --json | jq '.verbs[] | {verb, p99_us}'
  onsale load sale                                 50,000 buyers for 10,000 items of a sale made for it
  onsale load auction                              bidders on an auction, a third of them in the last minute
  onsale load mixed                                seats, a sale and auctions at once, with orders and payments")]
pub struct Args {
    #[command(subcommand)]
    other: Option<Other>,
    #[command(flatten)]
    server: Server,
    #[command(flatten)]
    consent: Consent,
    /// The event to buy from [default: the first one on sale]
    #[arg(long, value_name = "EVENT")]
    event: Option<String>,
    /// Buyers at once; one who has bought up to the limit goes home and a new one comes
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    buyers: u32,
    /// Requests per second, by schedule
    #[arg(long, default_value_t = 1_000.0, value_parser = rate)]
    rate: f64,
    /// How long: 500ms, 10s, 2m
    #[arg(long, default_value = "10s", value_parser = duration)]
    duration: Duration,
    /// Where everybody wants to sit
    #[arg(long, value_enum, default_value_t = Contention::Uniform)]
    contention: Contention,
    /// Requests that may be under way at once, each on its own connection
    #[arg(long, default_value_t = 128, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    connections: u32,
    /// Repeats the same choices [default: random]
    #[arg(long)]
    seed: Option<u64>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    /// Draw latency over time into this file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

/// What else than an event's seats is put under load.
#[derive(Clone, Debug, Subcommand)]
enum Other {
    Auction(auction::Args),
    Mixed(Box<mixed::Args>),
    Sale(sale::Args),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Contention {
    /// Anywhere, evenly
    Uniform,
    /// Better rows more often: row n with weight 1/n
    Zipf,
    /// Everybody wants the best rows that are left
    FrontRow,
}

impl Contention {
    fn as_str(self) -> &'static str {
        match self {
            Contention::Uniform => "uniform",
            Contention::Zipf => "zipf",
            Contention::FrontRow => "front-row",
        }
    }
}

/// The whole result, as `--json` prints it.
#[derive(Debug, Serialize)]
struct Result {
    event: String,
    rate: f64,
    seconds: f64,
    seed: u64,
    scheduled: u64,
    not_started: u64,
    answered: u64,
    answered_per_s: f64,
    verbs: Vec<VerbLine>,
    answers: Vec<AnswerLine>,
    over_time: Vec<Point>,
    check: Verdict,
}

pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    match &args.other {
        Some(Other::Auction(args)) => return auction::run(args),
        Some(Other::Mixed(args)) => return mixed::run(args),
        Some(Other::Sale(args)) => return sale::run(args),
        None => {}
    }
    args.consent.ask(&args.server)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(Box::pin(load(args)))
}

async fn load(args: &Args) -> anyhow::Result<ExitCode> {
    let mut client = args.server.connection()?;
    let hall = Arc::new(Hall::find(&mut client, args.event.as_deref(), args.contention).await?);
    let plan = Plan {
        buyers: args.buyers as usize,
        rate: args.rate,
        duration: args.duration,
        connections: args.connections as usize,
        seed: args.seed.unwrap_or_else(rand::random),
    };
    let plan_text = format!(
        "{} requests/s for {:.1} s, {}, {} contention",
        look::count(args.rate as u64),
        args.duration.as_secs_f64(),
        look::counted(u64::from(args.buyers), "buyer"),
        args.contention.as_str(),
    );
    if !args.json {
        look::show(&format!("{} ({})\n{plan_text}", hall.name, hall.event))?;
    }
    let total = (plan.rate * plan.duration.as_secs_f64()) as u64;
    let bar = look::bar(total, " {bar:40} {pos}/{len} requests  {per_sec}  {eta} left");
    let outcome = run::run(&client, hall.clone(), &plan, bar).await;
    let check = check::check(&mut client, &hall, &outcome.promises()).await.context("checking the facts")?;
    let result = result(&plan, &hall, &outcome, check);
    if let Some(file) = &args.svg {
        let seconds = args.duration.as_secs_f64();
        let picture = plot::svg(&format!("Latency: {}", hall.name), &plan_text, &result.over_time, seconds);
        std::fs::write(file, picture).with_context(|| format!("writing {}", file.display()))?;
    }
    if args.json {
        look::show(&serde_json::to_string_pretty(&result)?)?;
    } else {
        look::show(&told(&result))?;
        if let Some(file) = &args.svg {
            look::show(&format!("picture: {}", file.display()))?;
        }
    }
    Ok(if result.check.exact { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn result(plan: &Plan, hall: &Hall, outcome: &Outcome, check: Verdict) -> Result {
    let verbs = outcome.measure().verbs();
    let answered = verbs.last().map_or(0, |all| all.yes + all.no);
    Result {
        event: hall.event.clone(),
        rate: plan.rate,
        seconds: outcome.took.as_secs_f64(),
        seed: plan.seed,
        scheduled: outcome.scheduled,
        not_started: outcome.not_started(),
        answered,
        answered_per_s: answered as f64 / outcome.took.as_secs_f64(),
        verbs,
        answers: outcome.measure().answers(),
        over_time: outcome.measure().points(),
        check,
    }
}

/// The result as people read it.
fn told(result: &Result) -> String {
    let mut text = String::new();
    let mut tell = |line: &str| {
        text.push_str(line);
        text.push('\n');
    };
    let mut table =
        look::ruled(&["verb", "sent", "yes", "no", "failed", "p50", "p90", "p99", "p99.9", "max"]);
    for line in &result.verbs {
        let mut cells = vec![Cell::new(line.verb)];
        cells
            .extend([line.sent, line.yes, line.no, line.failed].map(|count| look::right(look::count(count))));
        let times = [line.p50_us, line.p90_us, line.p99_us, line.p999_us, line.max_us];
        cells.extend(times.map(|micros| look::right(look::micros(micros))));
        table.add_row(cells);
    }
    tell(&look::text(&table));
    let mut answers = look::ruled(&["answer", "count"]);
    for line in &result.answers {
        let name = match (line.status, line.code.as_str()) {
            (0, code) => code.to_owned(),
            (status, "") => format!("{status} yes"),
            (status, code) => format!("{status} {code}"),
        };
        answers.add_row(vec![Cell::new(name), look::right(look::count(line.count))]);
    }
    tell(&look::text(&answers));
    tell(&format!(
        "{} of {} scheduled requests answered, {}/s",
        look::count(result.answered),
        look::count(result.scheduled),
        look::count(result.answered_per_s as u64),
    ));
    if result.not_started > 0 {
        tell(&format!(
            "{} could not be started: every connection was busy; raise --connections or lower --rate",
            look::count(result.not_started)
        ));
    }
    let check = &result.check;
    tell(&format!(
        "checked {}: {} and {}; {} sold, {} held",
        look::counted(check.facts, "fact"),
        look::counted(check.promises, "answered promise"),
        look::counted(check.seats_compared, "seat"),
        look::counted(check.places_sold, "place"),
        look::count(check.places_held),
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

fn rate(text: &str) -> anyhow::Result<f64> {
    let rate: f64 = text.parse().context("not a number")?;
    if !(0.1..=1_000_000.0).contains(&rate) {
        bail!("0.1 to 1,000,000 requests per second");
    }
    Ok(rate)
}

/// `500ms`, `10s`, `2m`; a bare number is seconds. At most an hour.
fn duration(text: &str) -> anyhow::Result<Duration> {
    let split = text.find(|character: char| character.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let number: f64 = number.trim().parse().context("not a duration like 10s")?;
    let seconds = match unit {
        "ms" => number / 1_000.0,
        "" | "s" => number,
        "m" => number * 60.0,
        _ => bail!("not a duration like 500ms, 10s or 2m"),
    };
    if !(0.1..=3_600.0).contains(&seconds) {
        bail!("100ms to 60m");
    }
    Ok(Duration::from_secs_f64(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_people_write_them() {
        for (text, millis) in
            [("500ms", 500), ("10s", 10_000), ("2m", 120_000), ("3", 3_000), ("1.5s", 1_500)]
        {
            assert_eq!(duration(text).expect(text), Duration::from_millis(millis));
        }
        for text in ["", "s", "10h", "-1s", "0s", "2000m", "nan"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
