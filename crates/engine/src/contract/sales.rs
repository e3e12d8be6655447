//! Runs a table of sales over the port; `tables/sale.txt` says how a line reads, `words` knows the API.

mod words;

use onsale_domain::listing::{BodyView, Key};
use onsale_domain::seats::{Found, Query};
use onsale_domain::stock::{SaleCommand, SaleView};
use onsale_domain::{Command, Fact, ListingId, ListingKind, Millis, Tenant};
use xxhash_rust::xxh3::xxh3_128;

use super::Harness;
use super::suite::{Table, cut};
use super::table::ZERO;
use crate::engine::{Answer, Position, Request};

const FILES: &[(&str, &str)] = &[("sale", include_str!("tables/sale.txt"))];

pub fn all() -> Vec<Table> {
    cut(FILES)
}

/// Runs a table, with a restart after every line if it shall be; the error is the whole table with what came instead.
pub fn run(table: &str, harness: &mut dyn Harness, restarts: bool) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let sale = ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Sale, number: 1 };
    let mut runner = Runner { harness, runtime, sale };
    runner.harness.set_clock(ZERO);
    let create = SaleCommand::Create(Box::new(words::create()?));
    runner.submit(create, None)?;
    let (mut report, mut failed) = (String::new(), false);
    for line in table.lines().map(str::trim).filter(|line| !line.is_empty()) {
        report.push_str(&format!("{line}\n"));
        let (asked, expected) = line.split_once("->").ok_or_else(|| format!("no answer in {line:?}"))?;
        let got = runner.say(asked).map_err(|why| format!("{report}    stopped: {why}"))?;
        runner.harness.check_invariants(&sale).map_err(|why| format!("{report}    broken: {why}"))?;
        if got != expected.trim() {
            failed = true;
            report.push_str(&format!("    got: {got}\n"));
        }
        if restarts {
            runner.harness.restart();
        }
    }
    let before = runner.picture()?;
    runner.harness.restart();
    if before != runner.picture()? {
        failed = true;
        report.push_str("    after a restart the sale is another one\n");
    }
    if failed { Err(report) } else { Ok(()) }
}

struct Runner<'a> {
    harness: &'a mut dyn Harness,
    runtime: tokio::runtime::Runtime,
    sale: ListingId,
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
        self.harness.set_clock(ZERO + words::span(at)?);
        match *verb {
            "levels" => Ok(words::levels(&self.view()?)),
            "ask" => {
                let query = Query::Sale(words::query(words)?);
                let found = self.runtime.block_on(self.harness.engine().ask(self.sale, query));
                let Found::Sale(found) = found.map_err(|error| error.to_string())? else {
                    return Err("no answer about a sale".into());
                };
                Ok(words::found(&found))
            }
            "sweep" => {
                let limit = words.first().map_or(Ok(64), |limit| limit.parse());
                let limit = limit.map_err(|_| "a limit".to_owned())?;
                let answer = self.request(Command::ExpireDue { limit }, None)?;
                Ok(words::told(&answer))
            }
            verb => self.submit(words::command(verb, words)?, key),
        }
    }

    fn submit(&mut self, command: SaleCommand, key: Option<Key>) -> Result<String, String> {
        self.request(Command::Sale(command), key).map(|answer| words::told(&answer))
    }

    fn request(&mut self, command: Command, key: Option<Key>) -> Result<Answer, String> {
        let request = Request { listing: self.sale, command, key };
        self.runtime.block_on(self.harness.engine().submit(request)).map_err(|error| error.to_string())
    }

    fn view(&self) -> Result<SaleView, String> {
        let view = self.harness.engine().view(&self.sale).ok_or("the sale does not exist")?;
        let BodyView::Sale(view) = &view.body else { return Err("it is no sale".into()) };
        Ok(view.clone())
    }

    /// All that can be read of the sale.
    fn picture(&self) -> Result<String, String> {
        let view = self.view()?;
        let (mut facts, mut at) = (Vec::<Fact>::new(), 0);
        loop {
            let epoch = self.harness.engine().view(&self.sale).map_or(0, |view| view.position.epoch);
            let after = Position { epoch, offset: at };
            let page = self.runtime.block_on(self.harness.engine().facts_after(self.sale, after, 7));
            let page = page.map_err(|error| error.to_string())?;
            let Some(last) = page.steps.last() else { break };
            at = last.last();
            facts.extend(page.steps.iter().flat_map(|step| step.facts.iter().cloned()));
        }
        Ok(format!("{view:?}\n{facts:?}"))
    }
}

/// A time of the table, from its beginning on.
fn since_zero(time: Millis) -> Millis {
    (time - ZERO) / 1_000
}
