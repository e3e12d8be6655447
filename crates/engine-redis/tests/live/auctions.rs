//! Auctions on two engines at once: bids on either, one close, a second chance, and the keys that follow.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use onsale_domain::auction::command::{PlaceBid, RetractBid, Retractor};
use onsale_domain::auction::details::SoftClose;
use onsale_domain::auction::increment::{Increment, NamedLadder};
use onsale_domain::auction::{
    AuctionCommand, AuctionDetails, AuctionFact, AuctionFound, AuctionQuery, AuctionTerms, AuctionView,
    AwardState,
};
use onsale_domain::money::Currency;
use onsale_domain::{Command, Fact, ListingId, ListingKind, Millis, Outcome, Tenant};
use onsale_domain::{Found, Query};
use onsale_engine::engine::BodyView;
use onsale_engine::{Engine, Position};
use onsale_engine_redis::live::{Options, RedisEngine};

use super::house::{buyer, open, submit, until};
use super::support::{Brand, Server, Setup};

const START: Millis = 1_800_000_000_000;
const HOUR: Millis = 3_600_000;
const AUCTION: ListingId = ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Auction, number: 1 };

fn euro() -> Currency {
    Currency::parse("EUR").expect("three letters")
}

fn create() -> Command {
    let terms = AuctionTerms {
        start_minor: 1_000,
        tick_minor: 1,
        increment: Increment::Named(NamedLadder::EbayUs),
        reserve_minor: None,
        buy_now: None,
        soft_close: Some(SoftClose::default()),
        bidders_may_retract: false,
    };
    Command::Auction(AuctionCommand::CreateAuction(Box::new(AuctionDetails {
        name: "Clock".into(),
        description: String::new(),
        seller: buyer("sam"),
        currency: euro(),
        starts_at: START,
        ends_at: START + HOUR,
        terms,
    })))
}

async fn bid(engine: &RedisEngine, name: &str, max_minor: i64) -> Outcome {
    let bid = PlaceBid { bidder: buyer(name), max_minor, currency: euro() };
    let command = Command::Auction(AuctionCommand::PlaceBid(bid));
    submit(engine, AUCTION, command).await.expect("an answer").outcome
}

fn view(engine: &RedisEngine) -> Option<AuctionView> {
    let view = engine.view(&AUCTION)?;
    let BodyView::Auction(view) = &view.body else { panic!("no auction") };
    Some(view.clone())
}

fn states(engine: &RedisEngine) -> Vec<(String, AwardState)> {
    let closed = view(engine).and_then(|view| view.closed);
    let awards = closed.map(|closed| closed.awards.clone()).unwrap_or_default();
    awards.iter().map(|line| (line.award.bidder.as_str().to_owned(), line.state)).collect()
}

async fn pair(server: &Server, clock: &Arc<AtomicI64>) -> (RedisEngine, RedisEngine) {
    let options = Options { clock: Some(clock.clone()), ..Options::default() };
    (open(&server.url(), options.clone()).await, open(&server.url(), options).await)
}

async fn one_auction_on_two_servers(brand: Brand) {
    let server = Server::start(brand);
    let clock = Arc::new(AtomicI64::new(START));
    let (one, other) = pair(&server, &clock).await;
    assert_eq!(submit(&one, AUCTION, create()).await.expect("an answer").outcome, Outcome::Done);
    until("the other knows it", || view(&other).is_some()).await;
    let bids = [(&one, "ann", 5_000), (&other, "bob", 3_000), (&one, "cem", 4_000)];
    for (engine, name, max) in bids {
        assert_eq!(bid(engine, name, max).await, Outcome::Done, "{name}");
    }
    let low = bid(&other, "bob", 4_099).await;
    assert_eq!(low.refused().map(|refusal| refusal.code.as_str()), Some("bid_too_low"));
    until("both have heard of all bids", || {
        [&one, &other].iter().all(|it| view(it).is_some_and(|it| it.bids == 3))
    })
    .await;
    let history = other.ask(AUCTION, Query::Auction(AuctionQuery::History { before: None, limit: 9 })).await;
    let Ok(Found::Auction(AuctionFound::History(lines))) = history else { panic!("{history:?}") };
    let shown: Vec<_> = lines.iter().map(|line| (line.bidder.as_str(), line.amount_minor)).collect();
    assert_eq!(
        shown,
        [("cem", Some(4_000)), ("bob", Some(3_000)), ("ann", Some(4_100))],
        "no living maximum"
    );

    // A late bid moves the end; whoever sweeps, it closes once.
    clock.store(START + HOUR - 10_000, Ordering::Relaxed);
    assert_eq!(bid(&other, "bob", 4_200).await, Outcome::Done);
    until("the end has moved", || view(&one).is_some_and(|view| view.ends_at == START + HOUR + 20_000)).await;
    clock.store(START + HOUR + 20_000, Ordering::Relaxed);
    until("it is closed", || !states(&one).is_empty()).await;
    let ann = ("ann".to_owned(), AwardState::Unpaid);
    clock.store(START + 50 * HOUR, Ordering::Relaxed);
    until("the winner did not pay", || states(&one).first() == Some(&ann)).await;
    until("the other has heard of it", || states(&other) == states(&one)).await;
    assert_eq!(states(&other), [ann, ("bob".to_owned(), AwardState::Pending)]);
    assert_eq!(one.image(&AUCTION), other.image(&AUCTION));
    let epoch = one.view(&AUCTION).map_or(0, |view| view.position.epoch);
    let page = one.facts_after(AUCTION, Position { epoch, offset: 0 }, 100).await.expect("facts");
    let kinds: Vec<&str> = page.steps.iter().flat_map(|step| step.facts.iter().map(Fact::kind)).collect();
    let closes = kinds.iter().filter(|kind| **kind == "auction_closed").count();
    assert_eq!((closes, kinds.len()), (1, 7), "{kinds:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_auction_closes_once_and_is_passed_on_by_whoever_sweeps_on_redis() {
    one_auction_on_two_servers(Brand::Redis).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_auction_closes_once_and_is_passed_on_by_whoever_sweeps_on_valkey() {
    one_auction_on_two_servers(Brand::Valkey).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn auctions_that_are_on_and_active_bids_are_written_behind_the_facts() {
    let server = Server::start(Brand::Redis);
    let clock = Arc::new(AtomicI64::new(START));
    let (engine, _other) = pair(&server, &clock).await;
    until("the lease is taken", || server.say::<u64>("EXISTS onsale:derived:writer").ok() == Some(1)).await;
    assert_eq!(submit(&engine, AUCTION, create()).await.expect("an answer").outcome, Outcome::Done);
    let ends =
        || server.say::<Option<i64>>(&format!("ZSCORE onsale:auctions:active:0 {AUCTION}")).ok().flatten();
    let bids =
        |name: &str| server.say::<Vec<String>>(&format!("SMEMBERS onsale:user:active_bids:0:{name}")).ok();
    until("it is shown", || ends() == Some(START + HOUR)).await;
    // Whichever of the two writes has heard of the auction by now, and of every bid from here on.
    assert_eq!(bid(&engine, "ann", 5_000).await, Outcome::Done);
    assert_eq!(bid(&engine, "bob", 3_000).await, Outcome::Done);
    let own = Some(vec![AUCTION.to_string()]);
    until("their bids are shown", || bids("ann") == own && bids("bob") == own).await;
    clock.store(START + HOUR - 1, Ordering::Relaxed);
    assert_eq!(bid(&engine, "ann", 6_000).await, Outcome::Done, "a raise moves nothing");
    assert_eq!(bid(&engine, "bob", 4_000).await, Outcome::Done);
    until("the end that moved is shown", || ends() == Some(START + HOUR + 29_999)).await;
    clock.store(START + 2 * HOUR, Ordering::Relaxed);
    until("it is gone", || ends().is_none()).await;
    until("nobody bids any more", || bids("ann") == Some(Vec::new()) && bids("bob") == Some(Vec::new()))
        .await;
}

/// Bids until the store is well again; the number that the bid was given.
async fn number_at_last(engine: &RedisEngine, name: &str, max_minor: i64) -> u32 {
    let bid = PlaceBid { bidder: buyer(name), max_minor, currency: euro() };
    let command = Command::Auction(AuctionCommand::PlaceBid(bid));
    loop {
        match submit(engine, AUCTION, command.clone()).await {
            Ok(answer) => {
                let step = answer.step().unwrap_or_else(|| panic!("{:?}", answer.outcome));
                let Some(Fact::Auction(AuctionFact::BidPlaced { bid, .. })) = step.facts.last() else {
                    panic!("{step:?}")
                };
                return *bid;
            }
            Err(error) => assert!(error.is_retryable(), "{error}"),
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bid_number_names_one_bid_for_ever_also_after_lost_tails() {
    let mut server = Server::with(Brand::Redis, Setup::default().with("appendonly no"));
    let clock = Arc::new(AtomicI64::new(START));
    let options = Options { clock: Some(clock), ..Options::default() };
    let one = open(&server.url(), options.clone()).await;
    assert_eq!(submit(&one, AUCTION, create()).await.expect("an answer").outcome, Outcome::Done);
    let mut max = 1_000;
    let mut numbers = Vec::new();
    for round in 0..3 {
        for name in ["ann", "bob", "cem"] {
            max += 1_000;
            numbers.push(number_at_last(&one, name, max).await);
            if round == 0 && name == "ann" {
                server.tell("SAVE");
            }
        }
        // What came after the first bid is lost, in the last round with what told that something was lost before.
        server.kill();
        server.start_again();
    }
    numbers.push(number_at_last(&one, "dan", 50_000).await);
    let last = number_at_last(&one, "eve", 60_000).await;
    numbers.push(last);
    let all: BTreeSet<u32> = numbers.iter().copied().collect();
    assert_eq!(all.len(), numbers.len(), "given twice: {numbers:?}");
    assert_eq!(numbers[..3], [1, 2, 3]);
    // Bids are found by their numbers, by this server and by one that reads the state.
    let retract = RetractBid { bid: last, by: Retractor::Staff, reason: "a mistake".into() };
    let retract = Command::Auction(AuctionCommand::RetractBid(retract));
    assert_eq!(submit(&one, AUCTION, retract).await.expect("an answer").outcome, Outcome::Done);
    let other = open(&server.url(), options).await;
    assert_eq!(one.image(&AUCTION), other.image(&AUCTION));
    let history = other.ask(AUCTION, Query::Auction(AuctionQuery::History { before: None, limit: 9 })).await;
    let Ok(Found::Auction(AuctionFound::History(history))) = history else { panic!("{history:?}") };
    let listed: Vec<u32> = history.iter().rev().map(|line| line.bid).collect();
    assert_eq!(listed, [numbers[0], numbers[9], last]);
}
