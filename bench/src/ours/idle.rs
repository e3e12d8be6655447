//! What the shipped server spends while nobody asks for anything, with 100,000 listings that are over: its share of one
//! core, from the operating system's own account of the process.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use onsale_domain::auction::AuctionCommand;
use onsale_domain::auction::command::CancelAuction;
use onsale_domain::{Command, Outcome};
use onsale_engine::Request;
use onsale_engine::embedded::{EmbeddedEngine, Options};

use super::engine::block_on;
use super::http::House;
use super::market;
use crate::contest::{Contestant, Round};

const LISTINGS: u64 = 100_000;
/// The look at every listing after a start is over by then.
const SETTLE: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_secs(20);
/// Linux counts a process' time in hundredths of a second.
const TICKS_PER_S: f64 = 100.0;

#[derive(Debug)]
pub(crate) struct Idle {
    folder: PathBuf,
}

impl Idle {
    pub(crate) fn new(folder: &Path) -> Idle {
        Idle { folder: folder.join("idle") }
    }
}

impl Contestant for Idle {
    fn subject(&self) -> String {
        "idle_100k_listings_cpu_pct".to_owned()
    }

    fn prepare(&mut self) -> Result<()> {
        Ok(())
    }

    fn once(&self) -> bool {
        true
    }

    fn round(&mut self, _length: Duration) -> Result<Round> {
        fill(&self.folder.join("data"))?;
        let house = House::open(&self.folder, &[])?;
        std::thread::sleep(SETTLE);
        let (before, began) = (ticks(house.id())?, Instant::now());
        std::thread::sleep(LOOK);
        let spent = (ticks(house.id())? - before) as f64 / TICKS_PER_S;
        Ok(vec![("", 100.0 * spent / began.elapsed().as_secs_f64())])
    }
}

/// Auctions that were made and cancelled: the house keeps them, and has nothing to do for them.
fn fill(data: &Path) -> Result<()> {
    std::fs::create_dir_all(data)?;
    let engine = EmbeddedEngine::open(data, Options { shards: 1, ..Options::default() })?;
    let now = market::now_ms();
    for first in (0..LISTINGS).step_by(500) {
        let requests = (first..first + 500).flat_map(|number| {
            let listing = market::auction(number + 1);
            let cancel = Command::Auction(AuctionCommand::CancelAuction(CancelAuction {
                reason: "measured".to_owned(),
            }));
            let commands = [market::create_auction(now), Ok(cancel)];
            commands.map(|command| Ok(Request { listing, command: command?, key: None, by: None }))
        });
        for answer in block_on(engine.submit_many(requests.collect::<Result<_>>()?)) {
            ensure!(answer?.outcome == Outcome::Done);
        }
    }
    engine.close();
    Ok(())
}

/// User and system time of a process so far.
fn ticks(process: u32) -> Result<u64> {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).context("the process' account")?;
    // The name may hold anything; behind its last bracket the fields are numbers.
    let fields: Vec<&str> = text.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let field = |at: usize| fields.get(at).and_then(|field| field.parse::<u64>().ok()).context("a time");
    Ok(field(11)? + field(12)?)
}
