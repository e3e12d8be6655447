//! Bids, bare: the seed's corrected script, and ours. Every one passes the one before it on its auction, and is accepted.

use std::time::Duration;

use anyhow::{Context, Result};
use onsale_domain::listing::Key;
use onsale_domain::{BuyerId, ListingKind};
use onsale_engine_redis::caller::{ScriptCaller, Stamp};
use onsale_engine_redis::layout::Layout;
use onsale_engine_redis::picture::Picture;
use onsale_engine_redis::scripts::Name;

use super::super::engine::block_on_all;
use super::super::market;
use super::drive::{Limit, run};
use super::{OUR_YES, SEEDS_YES, call, caller, yes};
use crate::contest::{Contestant, Round};
use crate::rivals::redis::{Instance, resp};

const IN_A_SALEROOM: &[Name] = &[
    Name::of(ListingKind::Auction, "create_auction"),
    Name::READ_STATE,
    Name::of(ListingKind::Auction, "plain_bid"),
    Name::of(ListingKind::Auction, "place_bid"),
    Name::of(ListingKind::Auction, "buy_now"),
    Name::of(ListingKind::Auction, "watch_auction"),
    Name::of(ListingKind::Auction, "unwatch_auction"),
    Name::of(ListingKind::Auction, "expire_due"),
    Name::of(ListingKind::Auction, "settle_award"),
];

/// Ten times the bids under way: connections overtake each other, and a bid that comes late would be too low.
/// Redis decides one after the other, on one auction or on many.
const AUCTIONS: u64 = 8_000;

/// The corrected bid of the seed, each above the one before it on its auction.
pub(super) struct SeedBids {
    pub instance: Instance,
    pub subject: &'static str,
}

impl Contestant for SeedBids {
    fn subject(&self) -> String {
        self.subject.to_owned()
    }

    fn prepare(&mut self) -> Result<()> {
        self.instance.start()
    }

    fn round(&mut self, length: Duration) -> Result<Round> {
        self.instance.clear()?;
        for auction in 0..AUCTIONS {
            let key = format!("auction:{{auc_{auction}}}");
            let begin = ["HSET", &key, "status", "active", "seller_id", "seller", "current_bid", "1"];
            let rest = ["bid_increment", "1", "end_time", "4102444800000", "total_bids", "0"];
            self.instance.ask(&[begin.as_slice(), rest.as_slice()].concat())?;
        }
        let script = self.instance.scripts()?.bid;
        let mut next = 1u64;
        let source = move |into: &mut Vec<u8>| {
            next += 1;
            let (user, amount) = (format!("{}", next % 1_024), (2 * next).to_string());
            let auction = next % AUCTIONS;
            let of_user = format!("user:{{auc_{auction}}}:{user}:active_bids");
            let (key, bids) =
                (format!("auction:{{auc_{auction}}}"), format!("auction:{{auc_{auction}}}:bids"));
            let keys = [key.as_str(), &bids, &of_user];
            let words = ["EVALSHA", &script, "3"].into_iter().chain(keys);
            let args = [user.as_str(), &amount, "1800000000000", "auc"];
            resp::command(into, words.chain(args).collect::<Vec<_>>());
            Ok(())
        };
        run(self.instance.address()?, SEEDS_YES, Limit::Time(length), source)
    }
}

/// Our own script: a maximum with all the rules of proxy bidding, deduplicated, logged, with an end that it may move.
pub(super) struct OurBids {
    pub instance: Instance,
}

impl Contestant for OurBids {
    fn subject(&self) -> String {
        "redis_bid_script".to_owned()
    }

    fn prepare(&mut self) -> Result<()> {
        self.instance.start()
    }

    fn round(&mut self, length: Duration) -> Result<Round> {
        self.instance.clear()?;
        let Saleroom { caller, pictures } = Saleroom::open(&self.instance, AUCTIONS)?;
        let buyer = |n: u64| BuyerId::parse(&n.to_string()).context("a buyer");
        let buyers = (0..1_024).map(buyer).collect::<Result<Vec<_>>>()?;
        let (euro, mut next) = (market::euro()?, 0u64);
        let source = move |into: &mut Vec<u8>| {
            next += 1;
            let scope = u128::from(next.wrapping_mul(0x9e37_79b9_7f4a_7c15)) << 64 | u128::from(next);
            let key = Key { scope, fingerprint: scope.rotate_left(40) };
            let picture = pictures.get((next % AUCTIONS) as usize).context("an auction")?;
            let buyer = buyers.get((next % 1_024) as usize).context("a buyer")?;
            call(into, &caller, picture, &market::bid(next, buyer, euro), Stamp::Key(key))
        };
        run(self.instance.address()?, OUR_YES, Limit::Time(length), source)
    }
}

/// Open auctions without a bid, all alike.
pub(super) struct Saleroom {
    pub caller: ScriptCaller,
    pub pictures: Vec<Picture>,
}

impl Saleroom {
    pub(super) fn open(instance: &Instance, auctions: u64) -> Result<Saleroom> {
        let url = format!("redis://{}", instance.address()?);
        let create = market::create_auction(market::now_ms())?;
        block_on_all(async {
            let caller = caller(&url, IN_A_SALEROOM, Layout::Hash).await?;
            for auction in 0..auctions {
                yes(&caller, &Picture::nothing(market::auction(auction)), &create).await?;
            }
            let first = caller.picture(market::auction(0)).await?;
            let like_it = |auction: u64| {
                let mut picture = first.clone();
                picture.listing.id = market::auction(auction);
                picture
            };
            Ok(Saleroom { caller, pictures: (0..auctions).map(like_it).collect() })
        })
    }
}
