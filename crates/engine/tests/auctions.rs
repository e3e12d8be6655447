//! Auctions in the embedded engine, on a real folder: what was answered survives a restart, with and without a
//! snapshot, a key is replayed, and an auction closes by itself.

use std::path::Path;
use std::sync::Arc;

use onsale_domain::auction::command::PlaceBid;
use onsale_domain::auction::details::SoftClose;
use onsale_domain::auction::fact::Closing;
use onsale_domain::auction::increment::{Increment, NamedLadder};
use onsale_domain::auction::{
    AuctionCommand, AuctionDetails, AuctionFact, AuctionFound, AuctionQuery, AuctionTerms, AuctionView,
    BidAnswer,
};
use onsale_domain::listing::Key;
use onsale_domain::money::Currency;
use onsale_domain::{BuyerId, Code, Command, Fact, ListingId, ListingKind, Millis, Outcome, Tenant};
use onsale_domain::{Found, Query};
use onsale_engine::embedded::clock::ManualClock;
use onsale_engine::embedded::{EmbeddedEngine, Options};
use onsale_engine::engine::BodyView;
use onsale_engine::{Answer, Engine, Position, Request};

const AUCTION: ListingId = ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Auction, number: 1 };
const HOUR: Millis = 3_600_000;

fn open(folder: &Path, clock: &Arc<ManualClock>) -> EmbeddedEngine {
    let journal = onsale_engine::journal::Options { segment_bytes: 1 << 16, ..Default::default() };
    let options = Options { shards: 2, clock: clock.clone(), journal, ..Options::default() };
    EmbeddedEngine::open(folder, options).expect("opens")
}

fn buyer(name: &str) -> BuyerId {
    BuyerId::parse(name).expect("a buyer")
}

fn euro() -> Currency {
    Currency::parse("EUR").expect("a code")
}

fn request(command: AuctionCommand) -> Request {
    Request { listing: AUCTION, command: Command::Auction(command), key: None, by: None }
}

fn create() -> Request {
    let terms = AuctionTerms {
        start_minor: 1_000,
        tick_minor: 1,
        increment: Increment::Named(NamedLadder::EbayUs),
        reserve_minor: Some(2_000),
        buy_now: None,
        soft_close: Some(SoftClose::default()),
        bidders_may_retract: false,
    };
    request(AuctionCommand::CreateAuction(Box::new(AuctionDetails {
        name: "Clock".into(),
        description: String::new(),
        seller: buyer("sam"),
        currency: euro(),
        starts_at: 0,
        ends_at: HOUR,
        terms,
    })))
}

fn bid(name: &str, max_minor: i64, key: Option<u128>) -> Request {
    let bid = PlaceBid { bidder: buyer(name), max_minor, currency: euro() };
    let key = key.map(|scope| Key { scope, fingerprint: max_minor as u128 });
    Request { key, ..request(AuctionCommand::PlaceBid(bid)) }
}

fn told(answer: &Answer) -> BidAnswer {
    let facts = answer.facts().map(|(offset, fact)| {
        let Fact::Auction(fact) = fact else { panic!("{fact:?}") };
        (offset, fact)
    });
    BidAnswer::of(facts).expect("a bid was taken")
}

fn view(engine: &EmbeddedEngine) -> AuctionView {
    let view = engine.view(&AUCTION).expect("the auction is there");
    let BodyView::Auction(auction) = &view.body else { panic!("an auction") };
    auction.clone()
}

async fn max_of(engine: &EmbeddedEngine, name: &str) -> Option<i64> {
    let query = Query::Auction(AuctionQuery::Bidder(buyer(name)));
    let found = engine.ask(AUCTION, query).await.expect("answers");
    let Found::Auction(AuctionFound::Bidder(own)) = found else { panic!("{found:?}") };
    own.max_minor
}

#[tokio::test]
async fn bids_and_their_keys_survive_a_restart_with_and_without_a_snapshot() {
    for with_snapshot in [true, false] {
        let folder = tempfile::tempdir().expect("a folder");
        let clock = Arc::new(ManualClock::at(1_000));
        let engine = open(folder.path(), &clock);
        assert_eq!(engine.submit(create()).await.expect("creates").outcome, Outcome::Done);
        let first = engine.submit(bid("ann", 5_000, Some(7))).await.expect("answers");
        assert_eq!((told(&first).price_minor, told(&first).bid), (2_000, Some(1)), "raised to the reserve");
        clock.set(HOUR - 10_000);
        let second = engine.submit(bid("bob", 3_000, None)).await.expect("answers");
        assert_eq!((told(&second).price_minor, told(&second).until), (3_100, HOUR + 20_000));
        engine.close();
        drop(engine);
        if !with_snapshot {
            forget_snapshots(folder.path());
        }

        let engine = open(folder.path(), &clock);
        assert_eq!(engine.report.snapshot.is_some(), with_snapshot);
        let after = view(&engine);
        assert_eq!((after.price_minor, after.leader.clone()), (Some(3_100), Some(buyer("ann"))));
        assert_eq!((after.ends_at, after.extensions, after.bids), (HOUR + 20_000, 1, 2));
        assert_eq!(max_of(&engine, "ann").await, Some(5_000));
        let again = engine.submit(bid("ann", 5_000, Some(7))).await.expect("answers");
        assert!(again.replayed);
        assert_eq!(told(&again), told(&first));
        let other = engine.submit(bid("ann", 6_000, Some(7))).await.expect("answers");
        assert_eq!(other.outcome.refused().map(|refusal| refusal.code), Some(Code::KeyReused));
        let third = engine.submit(bid("bob", 5_000, None)).await.expect("answers");
        assert_eq!((told(&third).price_minor, told(&third).bid), (5_000, Some(3)), "a tie stays with ann");
    }
}

fn forget_snapshots(folder: &Path) {
    for file in std::fs::read_dir(folder).expect("a folder") {
        let path = file.expect("a file").path();
        if path.extension().is_some_and(|kind| kind == "snap") {
            std::fs::remove_file(path).expect("goes");
        }
    }
}

#[tokio::test]
async fn an_auction_closes_by_itself_and_its_award_lapses_by_itself() {
    let folder = tempfile::tempdir().expect("a folder");
    let clock = Arc::new(ManualClock::at(1_000));
    let engine = open(folder.path(), &clock);
    engine.submit(create()).await.expect("creates");
    engine.submit(bid("ann", 5_000, None)).await.expect("answers");
    engine.submit(bid("bob", 3_000, None)).await.expect("answers");
    let after = engine.view(&AUCTION).expect("a view").position;
    let mut follower = engine.follow(AUCTION, after).await.expect("follows");
    clock.set(HOUR);
    let steps = follower.next().await.expect("something happens");
    let [Fact::Auction(AuctionFact::AuctionClosed { how: Closing::Won, award: Some(award) })] =
        &steps[0].facts[..]
    else {
        panic!("{steps:?}")
    };
    assert_eq!((&award.bidder, award.price_minor, award.until), (&buyer("ann"), 3_100, 49 * HOUR));
    clock.set(49 * HOUR);
    let steps = follower.next().await.expect("something happens");
    let [Fact::Auction(AuctionFact::AwardPassed { to: Some(next), .. })] = &steps[0].facts[..] else {
        panic!("{steps:?}")
    };
    assert_eq!((&next.bidder, next.price_minor), (&buyer("bob"), 3_000), "at bob's own maximum");
    let log = engine.facts_after(AUCTION, Position::default(), 100).await.expect("reads");
    assert_eq!(log.steps.iter().flat_map(|step| &step.facts).count(), 5);
}

#[tokio::test]
async fn an_end_that_passed_while_the_engine_was_down_is_written_down_at_the_start() {
    let folder = tempfile::tempdir().expect("a folder");
    let clock = Arc::new(ManualClock::at(1_000));
    let engine = open(folder.path(), &clock);
    engine.submit(create()).await.expect("creates");
    engine.submit(bid("ann", 1_500, None)).await.expect("answers");
    let after = engine.view(&AUCTION).expect("a view").position;
    engine.close();
    drop(engine);
    clock.set(10 * HOUR);
    let engine = open(folder.path(), &clock);
    let mut follower = engine.follow(AUCTION, after).await.expect("follows");
    let steps = follower.next().await.expect("something happens");
    let closed = AuctionFact::AuctionClosed { how: Closing::ReserveNotMet, award: None };
    assert_eq!(steps[0].facts, [Fact::Auction(closed)]);
    let late = engine.submit(bid("bob", 9_000, None)).await.expect("answers");
    assert_eq!(late.outcome.refused().map(|refusal| refusal.code), Some(Code::AuctionOver));
}
