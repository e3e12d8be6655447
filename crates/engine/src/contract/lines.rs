//! How the table of one listing is played: line by line, each with its answer behind an arrow, and a restart at the end. What
//! its words mean, each kind of listing says itself.

use std::sync::Arc;

use onsale_domain::listing::Key;
use onsale_domain::{Command, ListingId, Millis};
use onsale_domain::{Found, Query};
use xxhash_rust::xxh3::xxh3_128;

use super::Harness;
use crate::engine::{Answer, Request, View};

/// The words of one kind of listing.
pub(super) trait Words {
    const LISTING: ListingId;
    /// When every table begins.
    const ZERO: Millis;

    /// What there is before the first line.
    fn create() -> Result<Command, String>;

    /// What comes of one line.
    fn say(player: &mut Player<'_>, said: &TableLine<'_>) -> Result<String, String>;

    /// All that can be read of the listing: the same before and after a restart.
    fn picture(player: &Player<'_>) -> Result<String, String>;
}

/// A line without its answer; a caller's key stands at its end.
pub(super) struct TableLine<'a> {
    pub now: Millis,
    pub verb: &'a str,
    pub words: &'a [&'a str],
    pub key: Option<Key>,
}

/// The engine under test, and the listing that the table is about.
pub(super) struct Player<'a> {
    harness: &'a mut dyn Harness,
    runtime: tokio::runtime::Runtime,
    listing: ListingId,
}

/// Plays a table, with a restart after every line if it shall be; the error is the whole table with what came instead.
pub(super) fn play<W: Words>(table: &str, harness: &mut dyn Harness, restarts: bool) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let mut player = Player { harness, runtime, listing: W::LISTING };
    player.harness.set_clock(W::ZERO);
    player.submit(W::create()?, None)?;
    let (mut report, mut failed) = (String::new(), false);
    for line in table.lines().map(str::trim).filter(|line| !line.is_empty()) {
        report.push_str(&format!("{line}\n"));
        let (asked, expected) = line.split_once("->").ok_or_else(|| format!("no answer in {line:?}"))?;
        let got = player.line::<W>(asked).map_err(|why| format!("{report}    stopped: {why}"))?;
        player.harness.check_invariants(&W::LISTING).map_err(|why| format!("{report}    broken: {why}"))?;
        if got != expected.trim() {
            failed = true;
            report.push_str(&format!("    got: {got}\n"));
        }
        if restarts {
            player.harness.restart();
        }
    }
    let before = W::picture(&player)?;
    player.harness.restart();
    if before != W::picture(&player)? {
        failed = true;
        report.push_str("    after a restart the listing is another one\n");
    }
    if failed { Err(report) } else { Ok(()) }
}

impl Player<'_> {
    fn line<W: Words>(&mut self, asked: &str) -> Result<String, String> {
        let words: Vec<&str> = asked.split_whitespace().collect();
        let (words, key) = match words.as_slice() {
            [rest @ .., "key", name] => {
                let fingerprint = xxh3_128(rest[1..].join(" ").as_bytes());
                (rest, Some(Key { scope: xxh3_128(name.as_bytes()), fingerprint }))
            }
            all => (all, None),
        };
        let [at, verb, words @ ..] = words else { return Err("a time and a verb".into()) };
        let now = W::ZERO + span(at)?;
        self.harness.set_clock(now);
        W::say(self, &TableLine { now, verb, words, key })
    }

    pub(super) fn submit(&mut self, command: Command, key: Option<Key>) -> Result<Answer, String> {
        let request = Request { listing: self.listing, command, key, by: None };
        self.runtime.block_on(self.harness.engine().submit(request)).map_err(|error| error.to_string())
    }

    /// Takes the lease of the listing, which only a desk has: its worker's commands are decided under it.
    pub(super) fn lease(&self) -> Result<(), String> {
        let taken = self.runtime.block_on(self.harness.engine().lease(self.listing));
        let taken = taken.map_err(|error| error.to_string())?;
        taken.then_some(()).ok_or_else(|| "another server has the lease".into())
    }

    pub(super) fn give_back_lease(&self) -> Result<(), String> {
        let given = self.runtime.block_on(self.harness.engine().give_back_lease(self.listing));
        given.map_err(|error| error.to_string())
    }

    pub(super) fn ask(&self, query: Query) -> Result<Found, String> {
        let found = self.runtime.block_on(self.harness.engine().ask(self.listing, query));
        found.map_err(|error| error.to_string())
    }

    pub(super) fn view(&self) -> Result<Arc<View>, String> {
        self.harness.engine().view(&self.listing).ok_or_else(|| "the listing does not exist".into())
    }

    /// Every fact so far, read some steps at a time.
    pub(super) fn facts(&self) -> Result<String, String> {
        let (mut facts, mut after) = (Vec::new(), self.view()?.position);
        after.offset = 0;
        loop {
            let page = self.runtime.block_on(self.harness.engine().facts_after(self.listing, after, 7));
            let page = page.map_err(|error| error.to_string())?;
            let Some(last) = page.steps.last() else { return Ok(format!("{facts:?}")) };
            after.offset = last.last();
            facts.extend(page.steps.iter().flat_map(|step| step.facts.iter().cloned()));
        }
    }
}

/// Seconds, with milliseconds behind a point.
pub(super) fn span(word: &str) -> Result<Millis, String> {
    let (seconds, ms) = word.split_once('.').unwrap_or((word, "0"));
    Ok(number::<Millis>(seconds)? * 1_000 + number::<Millis>(ms)?)
}

pub(super) fn number<T: std::str::FromStr>(word: &str) -> Result<T, String> {
    word.parse().map_err(|_| format!("{word} is no number"))
}
