//! Resident growth for an event of 50,000 seats, each held by another buyer under a key of its own.
//! Measured in a process of its own, so that nothing else's memory is in the figure.

pub(crate) mod auctions;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use onsale_domain::{BuyerId, Outcome};
use onsale_engine::Engine;
use onsale_engine::embedded::{EmbeddedEngine, Options};

use super::engine::block_on;
use super::hall;
use crate::contest::{Contestant, Round};

const SEATS: u32 = 50_000;
/// Longer than the allocator keeps pages it could give back.
const SETTLE: Duration = Duration::from_secs(12);

#[derive(Debug)]
pub(crate) struct BytesPerSeat {
    folder: PathBuf,
}

impl BytesPerSeat {
    pub(crate) fn new(folder: &Path) -> BytesPerSeat {
        BytesPerSeat { folder: folder.join("memory") }
    }
}

impl Contestant for BytesPerSeat {
    fn subject(&self) -> String {
        "bytes_per_seat".to_owned()
    }

    fn prepare(&mut self) -> Result<()> {
        Ok(())
    }

    fn once(&self) -> bool {
        true
    }

    fn round(&mut self, _length: Duration) -> Result<Round> {
        Ok(vec![("", in_own_process("memory", &self.folder, &[])?)])
    }
}

/// Runs one of our own verbs that prints a number.
fn in_own_process(verb: &str, folder: &Path, more: &[&str]) -> Result<f64> {
    let mut command = Command::new(std::env::current_exe().context("our own path")?);
    let output = command.arg(verb).arg(folder).args(more).output().context("measuring memory")?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout)?;
    text.trim().parse().context("the number of bytes")
}

/// Prints the bytes per seat; called in the process of its own.
pub(crate) fn measure(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    let engine = EmbeddedEngine::open(folder, Options { shards: 1, ..Options::default() })?;
    // An event of the same size first: buffers, threads and the allocator's own reserve are there before we look.
    fill(&engine, 1, SEATS)?;
    settle(&engine)?;
    let before = resident()?;
    fill(&engine, 2, SEATS)?;
    settle(&engine)?;
    println!("{}", (resident()? - before) as f64 / f64::from(SEATS));
    Ok(())
}

fn fill(engine: &EmbeddedEngine, event: u64, seats: u32) -> Result<()> {
    let listing = hall::event(event);
    block_on(engine.submit(hall::create(listing, seats as usize)))?;
    for first in (0..seats).step_by(100) {
        let hold = |seat: u32| {
            let buyer = BuyerId::parse(&format!("buyer-{event}-{seat:06}")).context("a buyer")?;
            Ok(hall::hold(listing, event << 32 | u64::from(seat), seat, &buyer))
        };
        let requests = (first..seats.min(first + 100)).map(hold).collect::<Result<Vec<_>>>()?;
        for answer in block_on(engine.submit_many(requests)) {
            ensure!(answer?.outcome == Outcome::Done);
        }
    }
    Ok(())
}

/// What the allocator no longer needs goes back to the system while threads go on working, not while they sleep.
fn settle(engine: &EmbeddedEngine) -> Result<()> {
    let started = Instant::now();
    let buyer = BuyerId::parse("late").context("a buyer")?;
    while started.elapsed() < SETTLE {
        let refused = block_on(engine.submit(hall::hold(hall::event(1), 1, 0, &buyer)))?;
        ensure!(refused.outcome != Outcome::Done, "every seat is held");
    }
    Ok(())
}

fn resident() -> Result<i64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("VmRSS")?;
    let kilobytes: i64 = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kilobytes * 1_024)
}
