//! What deciding a bid costs, by how many there are already: ten bids at the end of an auction of each size, in process
//! and without a log.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use onsale_domain::auction::limits::BIDS_MAX;
use onsale_domain::{BuyerId, Listing, Outcome};

use super::market;
use crate::contest::{Contestant, Round};

/// Timed together: one alone is too short for the clock.
const LAST: u64 = 10;

#[derive(Debug)]
pub(crate) struct CostOfBid {
    subject: &'static str,
    bids: u64,
}

pub(crate) fn contestants() -> Vec<Box<dyn Contestant>> {
    vec![
        Box::new(CostOfBid { subject: "cost_bid_10k", bids: BIDS_MAX as u64 }),
        Box::new(CostOfBid { subject: "cost_bid_10", bids: 2 * LAST }),
    ]
}

impl Contestant for CostOfBid {
    fn subject(&self) -> String {
        self.subject.to_owned()
    }

    fn prepare(&mut self) -> Result<()> {
        Ok(())
    }

    fn round(&mut self, length: Duration) -> Result<Round> {
        let buyer = |n: u64| BuyerId::parse(&n.to_string()).context("a buyer");
        let buyers = (0..1_024).map(buyer).collect::<Result<Vec<_>>>()?;
        let (now, currency, listing) = (market::now_ms(), market::euro()?, market::auction(1));
        let started = Instant::now();
        let (mut timed, mut count, mut facts) = (Duration::ZERO, 0, Vec::new());
        while started.elapsed() < length {
            let mut auction = Listing::new(listing, 1);
            auction.execute(&market::create_auction(now)?, now, &mut facts);
            let bid = |n: u64| market::bid(n, &buyers[(n % 1_024) as usize], currency);
            for n in 0..self.bids - LAST {
                ensure!(auction.execute(&bid(n), now, &mut facts) == Outcome::Done, "not accepted");
                // As a log does it: whoever keeps ten thousand facts and commands finds none of them in a cache.
                facts.clear();
            }
            let last: Vec<_> = (self.bids - LAST..self.bids).map(bid).collect();
            let begun = Instant::now();
            for command in &last {
                ensure!(auction.execute(command, now, &mut facts) == Outcome::Done, "not accepted");
            }
            timed += begun.elapsed();
            count += LAST;
            facts.clear();
        }
        Ok(vec![("ns", timed.as_nanos() as f64 / count as f64)])
    }
}
