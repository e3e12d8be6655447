//! Runs a table of registrations over the port; `tables/registration.txt` says how a line reads, `words` knows the API.

mod words;

use onsale_domain::listing::{BodyView, Key};
use onsale_domain::registration::RegistrationCommand;
use onsale_domain::seats::{Found, Query};
use onsale_domain::{Command, ListingId, ListingKind, Millis, Tenant};
use xxhash_rust::xxh3::xxh3_128;

use super::Harness;
use super::suite::{Table, cut};
use super::table::ZERO;
use crate::engine::Request;

const FILES: &[(&str, &str)] = &[("registration", include_str!("tables/registration.txt"))];

pub fn all() -> Vec<Table> {
    cut(FILES)
}

/// Runs a table, with a restart after every line if it shall be; the error is the whole table with what came instead.
pub fn run(table: &str, harness: &mut dyn Harness, restarts: bool) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let course = ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Registration, number: 1 };
    let mut runner = Runner { harness, runtime, course };
    runner.harness.set_clock(ZERO);
    runner.submit(RegistrationCommand::Create(Box::new(words::create()?)), None)?;
    let (mut report, mut failed) = (String::new(), false);
    for line in table.lines().map(str::trim).filter(|line| !line.is_empty()) {
        report.push_str(&format!("{line}\n"));
        let (asked, expected) = line.split_once("->").ok_or_else(|| format!("no answer in {line:?}"))?;
        let got = runner.say(asked).map_err(|why| format!("{report}    stopped: {why}"))?;
        runner.harness.check_invariants(&course).map_err(|why| format!("{report}    broken: {why}"))?;
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
        report.push_str("    after a restart the registration is another one\n");
    }
    if failed { Err(report) } else { Ok(()) }
}

struct Runner<'a> {
    harness: &'a mut dyn Harness,
    runtime: tokio::runtime::Runtime,
    course: ListingId,
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
            "who" | "paid" => {
                let query = Query::Registration(words::query(verb, words)?);
                let found = self.runtime.block_on(self.harness.engine().ask(self.course, query));
                let Found::Registration(found) = found.map_err(|error| error.to_string())? else {
                    return Err("no answer about a registration".into());
                };
                words::found(&found)
            }
            verb => self.submit(words::command(verb, words)?, key),
        }
    }

    fn submit(&mut self, command: RegistrationCommand, key: Option<Key>) -> Result<String, String> {
        let request = Request { listing: self.course, command: Command::Registration(command), key };
        let answer = self.runtime.block_on(self.harness.engine().submit(request));
        answer.map(|answer| words::told(&answer)).map_err(|error| error.to_string())
    }

    /// All that can be read of it without asking.
    fn picture(&self) -> Result<String, String> {
        let view = self.harness.engine().view(&self.course).ok_or("the registration does not exist")?;
        let BodyView::Registration(body) = &view.body else { return Err("it is no registration".into()) };
        Ok(format!("{} {body:?}", view.position.offset))
    }
}

/// A time of the table, from its beginning on.
fn since_zero(time: Millis) -> Millis {
    (time - ZERO) / 1_000
}
