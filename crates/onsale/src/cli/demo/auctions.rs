//! A handful of auctions that run now, each as long as its period: the start in a new period brings a new one.

use std::sync::Arc;

use anyhow::{Context, bail};
use onsale_domain::auction::command::PlaceBid;
use onsale_domain::auction::details::{BuyNowPolicy, BuyNowTerms, SoftClose};
use onsale_domain::auction::increment::{Increment, NamedLadder};
use onsale_domain::auction::{AuctionCommand, AuctionDetails, AuctionTerms};
use onsale_domain::id::read_id;
use onsale_domain::money::Currency;
use onsale_domain::{BuyerId, By, Code, Command, ListingId, ListingKind, Millis, Tenant};
use onsale_edge::http::gate::staff;
use onsale_engine::{Engine, Request};

use crate::cli::look;

const HOUR_MS: Millis = 3_600_000;
const DAY_MS: Millis = 24 * HOUR_MS;

struct Thing {
    /// Begins the auction's id; letters that an id may have.
    word: &'static str,
    name: &'static str,
    description: &'static str,
    length_ms: Millis,
    currency: &'static str,
    increment: NamedLadder,
    start_minor: i64,
    reserve_minor: Option<i64>,
    buy_now_minor: Option<i64>,
    /// Who has bid before anybody looks, and up to which maximum.
    bids: &'static [(&'static str, i64)],
}

const THINGS: [Thing; 5] = [
    Thing {
        word: "tea",
        name: "Tea caddy, lacquered",
        description: "Ends with the hour.",
        length_ms: HOUR_MS,
        currency: "GBP",
        increment: NamedLadder::EbayUs,
        start_minor: 1_500,
        reserve_minor: None,
        buy_now_minor: None,
        bids: &[("ada", 2_400), ("ben", 2_000)],
    },
    Thing {
        word: "watch",
        name: "Pocket watch, 1898",
        description: "Runs; the chain is younger.",
        length_ms: 6 * HOUR_MS,
        currency: "GBP",
        increment: NamedLadder::EbayUs,
        start_minor: 5_000,
        reserve_minor: Some(20_000),
        buy_now_minor: None,
        bids: &[("cleo", 9_000), ("ben", 12_500)],
    },
    Thing {
        word: "camera",
        name: "Rangefinder camera with three lenses",
        description: "Can be bought at once until somebody bids.",
        length_ms: DAY_MS,
        currency: "JPY",
        increment: NamedLadder::YahooJp,
        start_minor: 30_000,
        reserve_minor: None,
        buy_now_minor: Some(90_000),
        bids: &[],
    },
    Thing {
        word: "map",
        name: "Map of the southern stars",
        description: "Hand-coloured, framed.",
        length_ms: 3 * DAY_MS,
        currency: "NZD",
        increment: NamedLadder::TradeMe,
        start_minor: 10_000,
        reserve_minor: None,
        buy_now_minor: None,
        bids: &[("dan", 26_000), ("eva", 26_000)],
    },
    Thing {
        word: "vase",
        name: "Studio vase, signed",
        description: "A week is long.",
        length_ms: 7 * DAY_MS,
        currency: "GBP",
        increment: NamedLadder::EbayUs,
        start_minor: 100,
        reserve_minor: None,
        buy_now_minor: None,
        bids: &[("eva", 1_200)],
    },
];

/// The auctions that run now.
pub async fn ensure(engine: &Arc<dyn Engine>) -> anyhow::Result<Vec<ListingId>> {
    let (now, mut running) = (engine.now(), Vec::new());
    for thing in &THINGS {
        let period = now / thing.length_ms;
        let number = read_id(&format!("{:0>13}", format!("{}{period}", thing.word)));
        let number = number.context("the word has letters of an id")?;
        let listing = ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Auction, number };
        running.push(listing);
        if engine.view(&listing).is_some() {
            continue;
        }
        let details = thing.details(period)?;
        let currency = details.currency;
        submit(&**engine, listing, AuctionCommand::CreateAuction(Box::new(details)), staff()).await?;
        for (name, max_minor) in thing.bids {
            let bid = PlaceBid { bidder: buyer(name)?, max_minor: *max_minor, currency };
            submit(&**engine, listing, AuctionCommand::PlaceBid(bid), None).await?;
        }
    }
    Ok(running)
}

impl Thing {
    fn details(&self, period: i64) -> anyhow::Result<AuctionDetails> {
        let buy_now = |price_minor| BuyNowTerms { price_minor, policy: BuyNowPolicy::UntilFirstBid };
        Ok(AuctionDetails {
            name: self.name.to_owned(),
            description: self.description.to_owned(),
            seller: buyer("sam")?,
            currency: Currency::parse(self.currency).context("the demo's currency")?,
            starts_at: period * self.length_ms,
            ends_at: (period + 1) * self.length_ms,
            terms: AuctionTerms {
                start_minor: self.start_minor,
                tick_minor: 1,
                increment: Increment::Named(self.increment),
                reserve_minor: self.reserve_minor,
                buy_now: self.buy_now_minor.map(buy_now),
                soft_close: Some(SoftClose::default()),
                bidders_may_retract: false,
            },
        })
    }
}

fn buyer(name: &str) -> anyhow::Result<BuyerId> {
    BuyerId::parse(name).context("a short name")
}

/// What was there before a start that was cut short, or has just ended, is as good as just made.
async fn submit(
    engine: &dyn Engine,
    listing: ListingId,
    command: AuctionCommand,
    by: Option<By>,
) -> anyhow::Result<()> {
    let request = Request { listing, command: Command::Auction(command), key: None, by };
    let answer = engine.submit(request).await.with_context(|| format!("{listing} could not be created"))?;
    match answer.outcome.refused().map(|refusal| refusal.code) {
        None | Some(Code::ListingExists | Code::AuctionOver | Code::Invalid) => Ok(()),
        Some(code) => bail!("{listing} could not be created: {}", code.as_str()),
    }
}

/// A line of the table that the demo begins with: name, id, time left and the least next bid.
pub fn row(engine: &dyn Engine, auction: &ListingId) -> Option<Vec<String>> {
    let view = engine.view(auction)?;
    let shown = view.body.auction()?;
    let minutes = (shown.ends_at - engine.now()).max(0) / 60_000;
    let left = match minutes {
        0..180 => format!("{minutes} min"),
        180..4_320 => format!("{} h", minutes / 60),
        _ => format!("{} days", minutes / 1_440),
    };
    let currency = shown.details.currency.as_str();
    let least = look::count(shown.min_next_minor.max(0) as u64);
    let told = format!("auction, {left} left, next bid {least} minor {currency}");
    Some(vec![shown.details.name.clone(), auction.to_string(), told])
}

#[cfg(test)]
mod tests {
    use onsale_domain::listing::BodyView;
    use onsale_engine::embedded::clock::ManualClock;
    use onsale_engine::embedded::{EmbeddedEngine, Options};

    use super::*;

    #[tokio::test]
    async fn a_handful_runs_and_the_next_period_brings_others() -> anyhow::Result<()> {
        let data = tempfile::tempdir()?;
        let clock = Arc::new(ManualClock::at(1_000 * 7 * DAY_MS + 5));
        let options = Options { clock: clock.clone(), ..Options::default() };
        let engine: Arc<dyn Engine> = Arc::new(EmbeddedEngine::open(data.path(), options)?);
        let first = ensure(&engine).await?;
        let prices = |all: &[ListingId]| {
            let price = |listing: &ListingId| {
                let view = engine.view(listing)?;
                let BodyView::Auction(auction) = &view.body else { return None };
                Some((auction.price_minor, auction.bids))
            };
            all.iter().map(price).collect::<Vec<_>>()
        };
        assert_eq!(first.len(), 5);
        let (tea, watch) = ((Some(2_050), 2), (Some(9_100), 2));
        let (map, vase) = ((Some(26_000), 2), (Some(100), 1));
        let expected = [tea, watch, (None, 0), map, vase].map(Some);
        assert_eq!(prices(&first), expected);
        assert_eq!(ensure(&engine).await?, first);
        assert_eq!(prices(&first), expected, "the second start changes nothing");
        clock.set(1_000 * 7 * DAY_MS + HOUR_MS);
        let next = ensure(&engine).await?;
        assert!(next[0] != first[0] && next[1..] == first[1..]);
        Ok(())
    }
}
