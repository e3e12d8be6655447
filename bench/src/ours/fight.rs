//! Checkouts of one hot SKU and bids on one auction, in process and durable, with 1,024 commands in flight.

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use onsale_domain::BuyerId;
use onsale_domain::auction::limits::BIDS_MAX;
use onsale_engine::Engine;
use onsale_engine::embedded::{EmbeddedEngine, Options};

use super::engine::{block_on, lanes, timed};
use super::market;
use crate::contest::{Contestant, Round};
use crate::latency::Latency;

const LANES: usize = 32;
const TOGETHER: usize = 32;
/// An auction takes so many bids: then the next one opens, made beforehand.
const BIDS: u64 = BIDS_MAX as u64;
/// Auctions made before a round, for the longest of them.
const AUCTIONS_PER_S: f64 = 300.0;

#[derive(Clone, Copy, Debug)]
enum What {
    Checkouts,
    Bids,
}

#[derive(Debug)]
pub(crate) struct Fight {
    folder: PathBuf,
    subject: &'static str,
    what: What,
    engine: Option<EmbeddedEngine>,
    next: Rc<Cell<u64>>,
    /// The first auction without bids, and the first that is not made yet.
    auctions: u64,
    opened: u64,
}

pub(crate) fn contestants(folder: &Path) -> Vec<Box<dyn Contestant>> {
    let contestant = |subject: &'static str, what| -> Box<dyn Contestant> {
        let folder = folder.join(subject);
        Box::new(Fight { folder, subject, what, engine: None, next: Rc::default(), auctions: 0, opened: 0 })
    };
    vec![contestant("engine_checkout", What::Checkouts), contestant("engine_bid", What::Bids)]
}

impl Contestant for Fight {
    fn subject(&self) -> String {
        self.subject.to_owned()
    }

    fn prepare(&mut self) -> Result<()> {
        std::fs::create_dir_all(&self.folder)?;
        let engine = EmbeddedEngine::open(&self.folder, Options { shards: 1, ..Options::default() })?;
        let create = market::request(market::sale(1), market::create_sale()?, u64::MAX);
        block_on(engine.submit(create))?;
        self.engine = Some(engine);
        Ok(())
    }

    fn round(&mut self, length: Duration) -> Result<Round> {
        match self.what {
            What::Checkouts => self.checkouts(length),
            What::Bids => self.bids(length),
        }
    }
}

impl Fight {
    /// Each lane reserves a unit for each of its buyers and gives them back, until the time is over.
    fn checkouts(&self, length: Duration) -> Result<Round> {
        let engine = self.engine.as_ref().context("not prepared")?;
        let total = Rc::new(RefCell::new((0, Latency::new()?)));
        let started = Instant::now();
        lanes(LANES, |lane| {
            let (total, next) = (total.clone(), self.next.clone());
            async move {
                let buyers = buyers(lane)?;
                while started.elapsed() < length {
                    let first = next.get();
                    next.set(first + TOGETHER as u64);
                    let numbered = || buyers.iter().zip(first..);
                    let ask = |command, number| market::request(market::sale(1), command, number);
                    let codes =
                        numbered().map(|(buyer, number)| ask(market::checkout(number, buyer), 2 * number));
                    timed(engine, codes.collect(), &total).await?;
                    let back =
                        numbered().map(|(buyer, number)| ask(market::cancel(number, buyer), 2 * number + 1));
                    timed(engine, back.collect(), &total).await?;
                }
                Ok(())
            }
        })?;
        finish(started, &total)
    }

    /// Everybody bids on one auction; each bid passes the one before it, so all of them are accepted.
    fn bids(&mut self, length: Duration) -> Result<Round> {
        self.open_auctions(length)?;
        let engine = self.engine.as_ref().context("not prepared")?;
        let total = Rc::new(RefCell::new((0, Latency::new()?)));
        let (currency, first_auction) = (market::euro()?, self.auctions);
        let first_bid = self.next.get();
        let started = Instant::now();
        lanes(LANES, |lane| {
            let (total, next) = (total.clone(), self.next.clone());
            async move {
                let buyers = buyers(lane)?;
                while started.elapsed() < length {
                    let first = next.get();
                    next.set(first + TOGETHER as u64);
                    let bid = |(buyer, number): (&BuyerId, u64)| {
                        let auction = first_auction + (number - first_bid) / BIDS;
                        let command = market::bid(number, buyer, currency);
                        market::request(market::auction(auction), command, number)
                    };
                    timed(engine, buyers.iter().zip(first..).map(bid).collect(), &total).await?;
                }
                Ok(())
            }
        })?;
        let round = finish(started, &total);
        self.auctions = self.opened;
        round
    }

    /// Made before the clock runs, as many as the fastest of rounds could fill.
    fn open_auctions(&mut self, length: Duration) -> Result<()> {
        let engine = self.engine.as_ref().context("not prepared")?;
        let enough = (length.as_secs_f64() * AUCTIONS_PER_S) as u64 + 1;
        let now = market::now_ms();
        let make = |number: u64| {
            let key = u64::MAX / 2 + number;
            Ok(market::request(market::auction(number), market::create_auction(now)?, key))
        };
        let requests = (self.opened..self.opened + enough).map(make).collect::<Result<Vec<_>>>()?;
        for answer in block_on(engine.submit_many(requests)) {
            answer?;
        }
        self.opened += enough;
        Ok(())
    }
}

fn buyers(lane: usize) -> Result<Vec<BuyerId>> {
    let buyer = |n: usize| BuyerId::parse(&format!("{}", lane * TOGETHER + n)).context("a buyer");
    (0..TOGETHER).map(buyer).collect()
}

fn finish(started: Instant, total: &RefCell<(u64, Latency)>) -> Result<Round> {
    let took = started.elapsed();
    let total = total.borrow();
    Ok(total.1.round(total.0, took))
}
