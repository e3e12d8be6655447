//! How fast a start is that has only the journal: a million facts, no snapshot.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use onsale_engine::Engine;
use onsale_engine::embedded::{EmbeddedEngine, Options};

use super::engine::{Load, block_on, run};
use super::hall;
use crate::contest::{Contestant, Round};

const FACTS: u64 = 1_000_000;

#[derive(Debug)]
pub(crate) struct Recovery {
    folder: PathBuf,
}

impl Recovery {
    pub(crate) fn new(folder: &Path) -> Recovery {
        Recovery { folder: folder.join("recovery") }
    }

    fn options() -> Options {
        Options { shards: 1, ..Options::default() }
    }

    fn drop_snapshots(&self) -> Result<()> {
        for file in std::fs::read_dir(&self.folder)? {
            let file = file?;
            if file.file_name().to_string_lossy().ends_with(".snap") {
                std::fs::remove_file(file.path())?;
            }
        }
        Ok(())
    }
}

impl Contestant for Recovery {
    fn subject(&self) -> String {
        "recover_facts".to_owned()
    }

    fn prepare(&mut self) -> Result<()> {
        std::fs::create_dir_all(&self.folder)?;
        let engine = EmbeddedEngine::open(&self.folder, Recovery::options())?;
        block_on(engine.submit(hall::create(hall::event(1), 50_000)))?;
        let next = Rc::new(Cell::new(0));
        let load = Load { lanes: 32, together: 32, length: Duration::from_millis(100), seats: 50_000 };
        while engine.status().facts < FACTS {
            run(&engine, &load, &next, |_| hall::event(1))?;
        }
        engine.close();
        self.drop_snapshots()
    }

    fn round(&mut self, _length: Duration) -> Result<Round> {
        let started = Instant::now();
        let engine = EmbeddedEngine::open(&self.folder, Recovery::options())?;
        let took = started.elapsed();
        let facts = engine.report.facts;
        ensure!(facts >= FACTS && engine.report.snapshot.is_none(), "the whole journal was read");
        engine.close();
        drop(engine);
        self.drop_snapshots()?;
        Ok(vec![("per_s", facts as f64 / took.as_secs_f64())])
    }
}
