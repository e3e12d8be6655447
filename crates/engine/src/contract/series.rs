//! Runs a table of series over the port; `tables/series.txt` says how a line reads.

use onsale_domain::listing::{BodyView, Key};
use onsale_domain::money::Currency;
use onsale_domain::series::command::OpenSlot;
use onsale_domain::series::details::{ItemTemplate, SaleTemplate, SeriesDetails};
use onsale_domain::series::schedule::{Schedule, Slot};
use onsale_domain::series::{SeriesCommand, SeriesFact, sale_of};
use onsale_domain::stock::details::StockRules;
use onsale_domain::{Command, Fact, ListingId, ListingKind, Millis, Outcome, Tenant};
use xxhash_rust::xxh3::xxh3_128;

use super::Harness;
use super::suite::{Table, cut};
use crate::engine::{Answer, Request};

const FILES: &[(&str, &str)] = &[("series", include_str!("tables/series.txt"))];
const HOUR: Millis = 3_600_000;
/// The first slot of every table: a whole hour, far from 1970.
const FIRST: Millis = 472_223 * HOUR;
const SERIES: ListingId = ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Series, number: 77 };

pub fn all() -> Vec<Table> {
    cut(FILES)
}

/// Runs a table, with a restart after every line if it shall be; the error is the whole table with what came instead.
pub fn run(table: &str, harness: &mut dyn Harness, restarts: bool) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let mut runner = Runner { harness, runtime };
    runner.harness.set_clock(FIRST);
    runner.submit(SeriesCommand::Create(Box::new(details()?)), None)?;
    let (mut report, mut failed) = (String::new(), false);
    for line in table.lines().map(str::trim).filter(|line| !line.is_empty()) {
        report.push_str(&format!("{line}\n"));
        let (asked, expected) = line.split_once("->").ok_or_else(|| format!("no answer in {line:?}"))?;
        let got = runner.say(asked).map_err(|why| format!("{report}    stopped: {why}"))?;
        runner.harness.check_invariants(&SERIES).map_err(|why| format!("{report}    broken: {why}"))?;
        if got != expected.trim() {
            failed = true;
            report.push_str(&format!("    got: {got}\n"));
        }
        if restarts {
            runner.harness.restart();
        }
    }
    if failed { Err(report) } else { Ok(()) }
}

fn details() -> Result<SeriesDetails, String> {
    let template = SaleTemplate {
        name: "on the hour".into(),
        description: String::new(),
        currency: Currency::parse("EUR").ok_or("a currency")?,
        rules: StockRules::default(),
        length_ms: HOUR,
        items: vec![ItemTemplate { price_minor: 900, stock: 10 }],
    };
    Ok(SeriesDetails { name: "hourly".into(), schedule: Schedule::Hourly, from: FIRST, template })
}

struct Runner<'a> {
    harness: &'a mut dyn Harness,
    runtime: tokio::runtime::Runtime,
}

impl Runner<'_> {
    fn say(&mut self, asked: &str) -> Result<String, String> {
        let words: Vec<&str> = asked.split_whitespace().collect();
        let (words, key) = match words.as_slice() {
            [rest @ .., "key", name] => {
                let fingerprint = xxh3_128(rest[1..].join(" ").as_bytes());
                (rest, Some(Key { scope: xxh3_128(name.as_bytes()), fingerprint }))
            }
            all => (all, None),
        };
        let [at, verb, words @ ..] = words else { return Err("a time and a verb".into()) };
        let now = FIRST + span(at)?;
        self.harness.set_clock(now);
        let command = match (*verb, words) {
            ("active", []) => return self.active(now),
            ("open", [slot]) => {
                let hour: Millis = number(slot.trim_start_matches('h'))?;
                let slot = Slot { at: FIRST + hour * HOUR, offset_s: 0 };
                SeriesCommand::OpenSlot(OpenSlot { slot, skipped: Vec::new() })
            }
            ("pause", []) => SeriesCommand::Pause,
            ("resume", []) => SeriesCommand::Resume,
            ("end", []) => SeriesCommand::End,
            (verb, words) => return Err(format!("cannot say {verb} {words:?}")),
        };
        self.submit(command, key)
    }

    /// Which slot's sale the view calls the active one.
    fn active(&self, now: Millis) -> Result<String, String> {
        let view = self.harness.engine().view(&SERIES).ok_or("the series does not exist")?;
        let BodyView::Series(series) = &view.body else { return Err("it is no series".into()) };
        let Some(sale) = series.active_at(now) else { return Ok("none".into()) };
        let hour = (0..24).find(|hour| sale_of(SERIES, FIRST + hour * HOUR) == sale);
        hour.map(|hour| format!("h{hour}")).ok_or_else(|| "a sale of no slot".into())
    }

    fn submit(&mut self, command: SeriesCommand, key: Option<Key>) -> Result<String, String> {
        let request = Request { listing: SERIES, command: Command::Series(command), key };
        let answer = self.runtime.block_on(self.harness.engine().submit(request));
        answer.map(|answer| told(&answer)).map_err(|error| error.to_string())
    }
}

/// Seconds, with milliseconds behind a point.
fn span(word: &str) -> Result<Millis, String> {
    let (seconds, ms) = word.split_once('.').unwrap_or((word, "0"));
    Ok(number::<Millis>(seconds)? * 1_000 + number::<Millis>(ms)?)
}

fn number<T: std::str::FromStr>(word: &str) -> Result<T, String> {
    word.parse().map_err(|_| format!("{word} is no number"))
}

fn told(answer: &Answer) -> String {
    let facts = answer.step().map_or(&[][..], |step| &step.facts);
    let mut parts: Vec<String> = facts.iter().map(fact).collect();
    match &answer.outcome {
        Outcome::Done => {}
        Outcome::Refused(refusal) => parts.push(refusal.code.as_str().to_owned()),
        other @ (Outcome::Unchanged
        | Outcome::AlreadyYours(_)
        | Outcome::StillQueued(_)
        | Outcome::AlreadyPurchased(_)
        | Outcome::AlreadyRegistered(_)) => parts.push(format!("{other:?}").to_lowercase()),
    }
    format!("{}{}", if answer.replayed { "(again) " } else { "" }, parts.join(", "))
}

fn fact(fact: &Fact) -> String {
    let Fact::Series(fact) = fact else { return fact.kind().to_owned() };
    let hour = |slot: &Slot| format!("h{}", (slot.at - FIRST) / HOUR);
    match fact {
        SeriesFact::Created(_) => "created".into(),
        SeriesFact::Changed(_) => "changed".into(),
        SeriesFact::SlotOpened { slot, .. } => format!("{} opened", hour(slot)),
        SeriesFact::SlotSkipped { slot, .. } => format!("{} skipped", hour(slot)),
        SeriesFact::Paused => "paused".into(),
        SeriesFact::Resumed => "resumed".into(),
        SeriesFact::Ended => "ended".into(),
    }
}
