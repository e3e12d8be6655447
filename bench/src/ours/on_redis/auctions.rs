//! Redis' memory for 10,000 open auctions with 100 bids and 50 watchers each, everybody somebody else. A part of them is
//! made and weighed; they are all alike.

use std::time::Duration;

use anyhow::{Context, Result};
use onsale_domain::auction::AuctionCommand;
use onsale_domain::listing::Key;
use onsale_domain::{BuyerId, Command};
use onsale_engine_redis::Keys;
use onsale_engine_redis::caller::Stamp;

use super::bids::Saleroom;
use super::drive::{Limit, run};
use super::memory::{used, weight};
use super::{OUR_YES, call};
use crate::contest::{Contestant, Round};
use crate::ours::market;
use crate::rivals::redis::Instance;

/// So many that no bid overtakes the one before it on its auction.
const MADE: u64 = 5_000;
const AUCTIONS: u64 = 10_000;
const BIDS: u64 = 100;
const WATCHERS: u64 = 50;

pub(super) struct AuctionsBytes {
    pub instance: Instance,
}

impl Contestant for AuctionsBytes {
    fn subject(&self) -> String {
        "redis_auctions_10k_bytes".to_owned()
    }

    fn prepare(&mut self) -> Result<()> {
        self.instance.start()
    }

    fn once(&self) -> bool {
        true
    }

    fn round(&mut self, _length: Duration) -> Result<Round> {
        self.instance.clear()?;
        let before = used(&self.instance)?;
        let room = Saleroom::open(&self.instance, MADE)?;
        let (euro, mut next) = (market::euro()?, 0u64);
        let source = |into: &mut Vec<u8>| {
            let (auction, nth) = (next % MADE, next / MADE);
            next += 1;
            let buyer = BuyerId::parse(&format!("buyer-{auction}-{nth:03}")).context("a buyer")?;
            let command = if nth < BIDS {
                market::bid(nth, &buyer, euro)
            } else {
                Command::Auction(AuctionCommand::WatchAuction(buyer))
            };
            let key = Key { scope: u128::from(next), fingerprint: u128::from(next) << 64 };
            let picture = room.pictures.get(auction as usize).context("an auction")?;
            call(into, &room.caller, picture, &command, Stamp::Key(key))
        };
        run(self.instance.address()?, OUR_YES, Limit::Calls(MADE * (BIDS + WATCHERS)), source)?;
        let (mut state, mut stream) = (0, 0);
        for picture in &room.pictures {
            let keys = Keys::new("", &picture.listing.id);
            let all: Vec<&str> = keys.all().iter().map(String::as_str).collect();
            let facts = weight(&self.instance, &[keys.facts()])?;
            (state, stream) = (state + weight(&self.instance, &all)? - facts, stream + facts);
        }
        let rest = used(&self.instance)? - before - state - stream;
        let of_all = |bytes: i64| (bytes * (AUCTIONS / MADE) as i64) as f64;
        Ok(vec![("", of_all(state)), ("stream", of_all(stream)), ("dedup", of_all(rest))])
    }
}
