//! The log over a recovery: facts of an older epoch are read page by page and followed on, and whoever has seen what was
//! lost is told where the log goes on.

use std::time::Duration;

use onsale_domain::ListingId;
use onsale_engine::{Engine, EngineError, Position};
use onsale_engine_redis::live::{Options, RedisEngine};

use super::house::{create, event, hold, open};
use super::support::{Brand, Server, Setup};

/// A recovery may take as long as it does on a machine whose cores are all taken.
const SOON: Duration = Duration::from_secs(60);

/// Holds a seat, however often the store says that it is being recovered.
async fn hold_at_last(engine: &RedisEngine, listing: ListingId, seat: u32) -> Position {
    let held = async {
        loop {
            match hold(engine, listing, seat, "ann", 600_000).await {
                Ok(answer) if answer.outcome.refused().is_none() => return answer.position,
                Ok(answer) => panic!("{:?}", answer.outcome),
                Err(error) => assert!(error.is_retryable(), "{error}"),
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(SOON, held).await.expect("it goes on")
}

/// Every fact's position behind one, read in small pages.
async fn read_all(engine: &RedisEngine, listing: ListingId, mut after: Position) -> Vec<Position> {
    let mut all = Vec::new();
    loop {
        let page = engine.facts_after(listing, after, 2).await.expect("a page");
        let Some(last) = page.steps.last() else { return all };
        after = Position { epoch: last.epoch, offset: last.last() };
        let facts = page
            .steps
            .iter()
            .flat_map(|step| step.numbered().map(|(offset, _)| Position { epoch: step.epoch, offset }));
        all.extend(facts);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn facts_of_an_older_epoch_are_read_page_by_page_and_followed_on() {
    for brand in Brand::BOTH {
        let server = Server::start(brand);
        let engine = open(&server.url(), Options::default()).await;
        let listing = event(1);
        create(&engine, listing).await;
        let first = hold_at_last(&engine, listing, 0).await;
        let mut follower = engine.follow(listing, first).await.expect("a follower");
        hold_at_last(&engine, listing, 1).await;
        server.tell("SCRIPT FLUSH");
        let last = hold_at_last(&engine, listing, 2).await;
        assert!(last.epoch > first.epoch, "another epoch");
        let offsets: Vec<u64> =
            read_all(&engine, listing, Position::default()).await.iter().map(|at| at.offset).collect();
        assert_eq!(offsets, (1..=last.offset).collect::<Vec<_>>(), "from the beginning");
        assert_eq!(read_all(&engine, listing, first).await.len(), 2, "from a position of the older epoch");
        let bare = Position { epoch: last.epoch, offset: 2 };
        assert_eq!(read_all(&engine, listing, bare).await.first(), Some(&Position { offset: 1, ..first }));
        let mut seen = first;
        while seen < last {
            let steps = tokio::time::timeout(SOON, follower.next()).await.expect("in time").expect("steps");
            for step in steps {
                assert_eq!(step.first, seen.offset + 1, "each once and in order");
                seen = Position { epoch: step.epoch, offset: step.last() };
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_has_seen_a_lost_fact_is_told_where_the_log_goes_on() {
    let mut server = Server::with(Brand::Redis, Setup::default().with("appendonly no"));
    let engine = open(&server.url(), Options::default()).await;
    let listing = event(1);
    create(&engine, listing).await;
    let kept = hold_at_last(&engine, listing, 0).await;
    server.tell("SAVE");
    hold_at_last(&engine, listing, 1).await;
    let lost = hold_at_last(&engine, listing, 2).await;
    let mut follower = engine.follow(listing, lost).await.expect("a follower");
    server.kill();
    server.start_again();
    let again = hold_at_last(&engine, listing, 3).await;
    assert_eq!((again.offset, again.epoch > lost.epoch), (kept.offset + 1, true), "the tail is lost");
    let told = tokio::time::timeout(SOON, follower.next()).await.expect("in time");
    assert_eq!(told.err(), Some(EngineError::Reload(kept)));
    assert_eq!(engine.facts_after(listing, lost, 9).await.err(), Some(EngineError::Reload(kept)));
    assert_eq!(read_all(&engine, listing, kept).await, [again]);
    let before = Position { epoch: again.epoch, offset: kept.offset };
    assert_eq!(read_all(&engine, listing, before).await, [again], "as the listing was right after");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_inside_of_a_step_is_told_it_from_its_start() {
    let server = Server::start(Brand::Redis);
    let engine = open(&server.url(), Options::default()).await;
    let listing = event(1);
    create(&engine, listing).await;
    let made = engine.view(&listing).expect("known").position;
    assert_eq!(made.offset, 3, "an event is made by three facts");
    let inside = Position { offset: 2, ..made };
    let page = engine.facts_after(listing, inside, 9).await.expect("a page");
    assert_eq!(page.steps.iter().map(|step| (step.first, step.last())).collect::<Vec<_>>(), [(1, 3)]);
}
