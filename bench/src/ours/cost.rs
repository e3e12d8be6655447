//! How the cost of a hold grows with the size of the event and the number of events.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use anyhow::{Context, Result};
use onsale_engine::Engine;
use onsale_engine::embedded::{EmbeddedEngine, Options};

use super::engine::{Load, block_on, run};
use super::hall;
use crate::contest::{Contestant, Round};

#[derive(Debug)]
pub(crate) struct Cost {
    folder: PathBuf,
    subject: &'static str,
    events: u64,
    seats: u32,
    engine: Option<EmbeddedEngine>,
    next: Rc<Cell<u64>>,
}

pub(crate) fn contestants(folder: &Path) -> Vec<Box<dyn Contestant>> {
    let contestant = |subject: &'static str, events, seats| -> Box<dyn Contestant> {
        Box::new(Cost {
            folder: folder.join(subject),
            subject,
            events,
            seats,
            engine: None,
            next: Rc::default(),
        })
    };
    vec![
        contestant("cost_1k_seats", 1, 1_000),
        contestant("cost_100k_seats", 1, 100_000),
        contestant("cost_1_event", 1, 1_000),
        contestant("cost_10k_events", 10_000, 1_000),
    ]
}

impl Contestant for Cost {
    fn subject(&self) -> String {
        self.subject.to_owned()
    }

    fn prepare(&mut self) -> Result<()> {
        std::fs::create_dir_all(&self.folder)?;
        let engine = EmbeddedEngine::open(&self.folder, Options { shards: 1, ..Options::default() })?;
        for first in (0..self.events).step_by(100) {
            let requests = (first..self.events.min(first + 100))
                .map(|number| hall::create(hall::event(number), self.seats as usize));
            for answer in block_on(engine.submit_many(requests.collect())) {
                answer?;
            }
        }
        anyhow::ensure!(engine.status().listings == self.events);
        self.engine = Some(engine);
        Ok(())
    }

    fn round(&mut self, length: Duration) -> Result<Round> {
        let engine = self.engine.as_ref().context("not prepared")?;
        // As many in flight as fit into the smallest event.
        let load = Load { lanes: 32, together: 16, length, seats: self.seats };
        let events = self.events;
        // Each command meets another event than the one before it.
        let event_of = move |number: u64| hall::event(number.wrapping_mul(7_919) % events);
        let (count, took, _) = run(engine, &load, &self.next, event_of)?;
        Ok(vec![("ns", took.as_nanos() as f64 / count as f64)])
    }
}
