//! Resident growth for 10,000 open auctions with 100 bids and 50 watchers each, everybody somebody else. Measured in
//! processes of their own: without dedup records, and once more with them, to tell what these weigh.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use onsale_domain::auction::AuctionCommand;
use onsale_domain::{BuyerId, Command, Outcome};
use onsale_engine::embedded::{EmbeddedEngine, Options};
use onsale_engine::{Engine, Request};

use super::super::engine::block_on;
use super::super::{hall, market};
use super::{in_own_process, resident, settle};
use crate::contest::{Contestant, Round};

const AUCTIONS: u64 = 10_000;
const BIDS: u64 = 100;
const WATCHERS: u64 = 50;
const BEFORE: u64 = 500;

#[derive(Debug)]
pub(crate) struct AuctionsBytes {
    folder: PathBuf,
}

impl AuctionsBytes {
    pub(crate) fn new(folder: &Path) -> AuctionsBytes {
        AuctionsBytes { folder: folder.join("auctions-memory") }
    }
}

impl Contestant for AuctionsBytes {
    fn subject(&self) -> String {
        "auctions_10k_bytes".to_owned()
    }

    fn prepare(&mut self) -> Result<()> {
        Ok(())
    }

    fn once(&self) -> bool {
        true
    }

    fn round(&mut self, _length: Duration) -> Result<Round> {
        let bare = in_own_process("auctions-memory", &self.folder.join("bare"), &[])?;
        let keyed = in_own_process("auctions-memory", &self.folder.join("keyed"), &["--keyed"])?;
        Ok(vec![("", bare), ("dedup", keyed - bare)])
    }
}

/// Prints the bytes; called in a process of its own.
pub(crate) fn measure(folder: &Path, keyed: bool) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    let engine = EmbeddedEngine::open(folder, Options { shards: 1, ..Options::default() })?;
    // Some first: buffers, threads and the allocator's own reserve are there before we look.
    fill(&engine, 0..BEFORE, keyed)?;
    block_on(engine.submit(hall::create(hall::event(1), 1)))?;
    let early = BuyerId::parse("early").context("a buyer")?;
    block_on(engine.submit(hall::hold(hall::event(1), 1 << 40, 0, &early)))?;
    settle(&engine)?;
    let before = resident()?;
    fill(&engine, BEFORE..BEFORE + AUCTIONS, keyed)?;
    settle(&engine)?;
    println!("{}", resident()? - before);
    Ok(())
}

fn fill(engine: &EmbeddedEngine, auctions: std::ops::Range<u64>, keyed: bool) -> Result<()> {
    let (now, currency) = (market::now_ms(), market::euro()?);
    let buyer = |auction: u64, n: u64| BuyerId::parse(&format!("buyer-{auction}-{n:03}")).context("a buyer");
    for auction in auctions {
        let listing = market::auction(auction + 1);
        let mut commands = vec![market::create_auction(now)?];
        for n in 0..BIDS {
            commands.push(market::bid(n, &buyer(auction, n)?, currency));
        }
        for n in BIDS..BIDS + WATCHERS {
            commands.push(Command::Auction(AuctionCommand::WatchAuction(buyer(auction, n)?)));
        }
        // Keys of their own: those of the holds that let memory settle are small numbers.
        let number = |n: usize| 1 << 42 | (auction * (BIDS + WATCHERS + 1) + n as u64);
        let requests = commands.into_iter().enumerate().map(|(n, command)| Request {
            key: if keyed { hall::key(number(n)) } else { None },
            listing,
            command,
            by: None,
        });
        for answer in block_on(engine.submit_many(requests.collect())) {
            ensure!(answer?.outcome == Outcome::Done);
        }
    }
    Ok(())
}
