//! Runs a table: each line is a time, a command and, behind an arrow, everything that must come of it.
//! This is the only test code that knows the API; `docs/tables.md` explains the words.

mod names;
mod parse;
mod render;
mod settings;
mod venue;
mod verbs;

use onsale_domain::id::{ListingId, ListingKind, Tenant};
use onsale_domain::listing::Key;
use onsale_domain::seats::EventCommand;
use onsale_domain::seats::SeatsView;
use onsale_domain::{Command, Fact, Millis};
use xxhash_rust::xxh3::xxh3_128;

use super::Harness;
use crate::engine::{Answer, EngineError, Position, Request};
use names::Names;
use parse::{Ask, Line};
pub(super) use settings::Settings;
pub(super) use venue::create as create_venue;

/// Time zero of every table: far from 1970, so that an absolute time is never taken for a span.
pub const ZERO: Millis = 1_700_000_000_000;

/// Runs a table; the error is the whole table with what came instead.
pub fn run(table: &str, harness: &mut dyn Harness) -> Result<(), String> {
    Runner::new(harness, false).run(table)
}

/// The same, with a restart after every line: what was answered must not depend on who remembers it.
pub fn run_with_restarts(table: &str, harness: &mut dyn Harness) -> Result<(), String> {
    Runner::new(harness, true).run(table)
}

struct Runner<'a> {
    harness: &'a mut dyn Harness,
    runtime: tokio::runtime::Runtime,
    settings: Settings,
    names: Names,
    event: ListingId,
    venue: ListingId,
    created: bool,
    restarts: bool,
    /// The last answer was a no.
    refused: bool,
}

impl<'a> Runner<'a> {
    fn new(harness: &'a mut dyn Harness, restarts: bool) -> Runner<'a> {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let listing = |kind, number| ListingId { tenant: Tenant::DEFAULT, kind, number };
        Runner {
            harness,
            runtime: runtime.expect("a runtime for one thread can be built"),
            settings: Settings::default(),
            names: Names::default(),
            event: listing(ListingKind::Event, 1),
            venue: listing(ListingKind::Venue, 2),
            created: false,
            restarts,
            refused: false,
        }
    }

    fn run(mut self, table: &str) -> Result<(), String> {
        let mut report = String::new();
        let mut failed = false;
        for text in table.lines() {
            report.push_str(&format!("{text}\n"));
            let line = match Line::parse(text) {
                Ok(Some(line)) => line,
                Ok(None) => continue,
                Err(why) => return Err(format!("{report}    cannot be read: {why}")),
            };
            let got = match self.line(&line) {
                Ok(got) => got,
                Err(why) => return Err(format!("{report}    stopped: {why}")),
            };
            let fits = line.expected.as_deref().map_or(!self.refused, |expected| expected == got);
            if !fits {
                failed = true;
                report.push_str(&format!("    got: {got}\n"));
            }
        }
        if let Err(why) = self.compare_after_restart() {
            failed = true;
            report.push_str(&format!("    after a restart: {why}\n"));
        }
        if failed { Err(report) } else { Ok(()) }
    }

    fn line(&mut self, line: &Line) -> Result<String, String> {
        self.refused = false;
        let words: Vec<&str> = line.words.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["chart", ..] => self.settings.chart = line.words[1..].join(" "),
            ["rules", ..] => self.settings.rules(&line.words[1..])?,
            ["no", "event"] => self.created = true,
            ["restart"] => self.harness.restart(),
            _ => return self.timed(line),
        }
        Ok(line.expected.clone().unwrap_or_default())
    }

    fn timed(&mut self, line: &Line) -> Result<String, String> {
        self.harness.set_clock(ZERO + line.at);
        if !self.created {
            self.created = true;
            let create = Command::Event(EventCommand::CreateEvent(Box::new(self.settings.create()?)));
            self.submit(self.event, create, None)?;
            if self.refused {
                return Err("the event of this table was refused".into());
            }
        }
        let mut got = String::new();
        for n in 1..=line.times {
            let words: Vec<String> = line.words.iter().map(|word| parse::expand(word, n)).collect();
            got = self.words(&words)?;
            if n < line.times && self.refused {
                return Ok(format!("{got} (the {n}th time)"));
            }
            self.harness.check_invariants(&self.event).map_err(|why| format!("{got}\n    broken: {why}"))?;
            if self.restarts {
                self.harness.restart();
            }
        }
        Ok(got)
    }

    fn words(&mut self, words: &[String]) -> Result<String, String> {
        let (words, key) = match words {
            [rest @ .., key, name] if key == "key" => (rest, Some(self.key(rest, name))),
            _ => (words, None),
        };
        let view = self.event_view();
        match parse::ask(words, view.as_ref(), &mut self.names, &self.settings)? {
            Ask::Event(command) => self.submit(self.event, command, key),
            Ask::Venue(command) => self.submit(self.venue, command, key),
            Ask::Nowhere(command) => {
                let nowhere = ListingId { number: 99, ..self.event };
                self.submit(nowhere, command, key)
            }
            Ask::Query(query) => {
                let found = self.block(self.harness.engine().ask(self.event, query));
                Ok(self.renderer(&view).found(&found.map_err(|error| error.to_string())?))
            }
            Ask::Seats => Ok(render::seats(&self.view_of_event()?)),
            Ask::Areas => Ok(render::areas(&self.view_of_event()?)),
            Ask::Totals => Ok(render::totals(&self.view_of_event()?)),
            Ask::Status => Ok(self.view_of_event()?.status.as_str().to_owned()),
            Ask::Versions => {
                let view = self.harness.engine().view(&self.venue).ok_or("the venue does not exist")?;
                Ok(venue::versions(&view.body))
            }
            Ask::Facts(after) => self.facts(after),
        }
    }

    /// The scope is the key's name, the fingerprint what was asked.
    fn key(&self, words: &[String], name: &str) -> Key {
        Key { scope: xxh3_128(name.as_bytes()), fingerprint: xxh3_128(words.join(" ").as_bytes()) }
    }

    fn block<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    fn submit(&mut self, listing: ListingId, command: Command, key: Option<Key>) -> Result<String, String> {
        let request = Request { listing, command, key, by: None };
        let answer = self.block(self.harness.engine().submit(request)).map_err(|error| error.to_string())?;
        self.refused = answer.outcome.refused().is_some();
        self.learn(&answer);
        let view = self.event_view();
        Ok(self.renderer(&view).answer(&answer))
    }

    /// Gives a name to everything new, so that later lines can speak of it.
    fn learn(&mut self, answer: &Answer) {
        let Some(step) = answer.step() else { return };
        for (offset, fact) in step.numbered() {
            self.names.learn(fact, step.fence(offset));
        }
    }

    fn renderer<'v>(&'v self, view: &'v Option<SeatsView>) -> render::Renderer<'v> {
        render::Renderer { names: &self.names, view: view.as_ref() }
    }

    fn event_view(&self) -> Option<SeatsView> {
        self.harness.engine().view(&self.event)?.body.event().cloned()
    }

    fn view_of_event(&self) -> Result<SeatsView, String> {
        self.event_view().ok_or_else(|| "the event does not exist".to_owned())
    }

    fn facts(&self, after: u64) -> Result<String, String> {
        let (position, facts) = self.read_facts(after).map_err(|error| error.to_string())?;
        if position.offset != after + facts.len() as u64 {
            return Err(format!("{} facts after {after}, but the listing is at {position:?}", facts.len()));
        }
        Ok(facts.iter().map(Fact::kind).collect::<Vec<_>>().join(" "))
    }

    fn read_facts(&self, after: u64) -> Result<(Position, Vec<Fact>), EngineError> {
        let mut all = Vec::new();
        loop {
            let epoch = self.harness.engine().view(&self.event).map_or(0, |view| view.position.epoch);
            let at = Position { epoch, offset: after + all.len() as u64 };
            let page = self.block(self.harness.engine().facts_after(self.event, at, 7))?;
            if page.steps.is_empty() {
                return Ok((page.position, all));
            }
            // A page begins with the step that contains the next fact, so its beginning may be known already.
            for (offset, fact) in page.steps.iter().flat_map(|step| step.numbered()) {
                if offset == after + all.len() as u64 + 1 {
                    all.push(fact.clone());
                }
            }
        }
    }

    /// All that can be asked of the event, as text.
    fn picture(&self) -> Result<String, String> {
        let Some(view) = self.event_view() else { return Ok("no event".into()) };
        let position = self.harness.engine().view(&self.event).map(|view| view.position);
        let renderer = render::Renderer { names: &self.names, view: Some(&view) };
        let mut lines = vec![
            format!("{position:?} {}", view.status.as_str()),
            render::seats(&view),
            render::areas(&view),
            render::totals(&view),
            format!("{:?}", view.details),
        ];
        for query in self.names.queries() {
            let found = self.block(self.harness.engine().ask(self.event, query.clone()));
            let found = found.map_err(|error| error.to_string())?;
            lines.push(format!("{query:?}: {}", renderer.found(&found)));
        }
        let (_, facts) = self.read_facts(0).map_err(|error| error.to_string())?;
        lines.extend(facts.iter().map(|fact| format!("{fact:?}")));
        Ok(lines.join("\n"))
    }

    fn compare_after_restart(&mut self) -> Result<(), String> {
        let before = self.picture()?;
        self.harness.restart();
        let after = self.picture()?;
        self.harness.check_invariants(&self.event)?;
        let differs = before.lines().zip(after.lines()).find(|(before, after)| before != after);
        match differs {
            Some((before, after)) => Err(format!("was {before}\n    now {after}")),
            None if before != after => Err("something was forgotten".into()),
            None => Ok(()),
        }
    }
}
