//! The bound in bytes: over it the oldest answers are forgotten together with their facts.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use onsale_domain::listing::Key;
use onsale_domain::seats::command::{ConfirmHold, HoldKey, Pick, PlaceHold};
use onsale_domain::seats::{EventCommand, EventFound, EventQuery};
use onsale_domain::{Command, Found, HoldId, ListingId, Millis, OrderId};
use onsale_engine::{Answer, Engine, EngineError, Position, Request};
use onsale_engine_redis::live::{Options, RECORD_BYTES, RedisEngine};

use super::few::{NEVER, calls, make};
use super::house::{buyer, create, event, open, until};
use super::support::{Brand, Server};

/// What Redis' table of deadlines takes for a key: an entry and its place in the table.
const DEADLINE_BYTES: u64 = 24 + 16;

pub(crate) async fn hold_under(engine: &RedisEngine, listing: ListingId, number: u64) -> Answer {
    let pick = Pick::Seats(vec![number as u32 % 90]);
    let place = PlaceHold {
        hold: HoldId(number + 1_000),
        buyer: buyer("ann"),
        pick,
        areas: Vec::new(),
        hold_ms: Some(600_000),
    };
    let command = Command::Event(EventCommand::PlaceHold(place));
    let key = Some(Key { scope: u128::from(number) + (1 << 100), fingerprint: number.into() });
    engine.submit(Request { listing, command, key, by: None }).await.expect("an answer")
}

#[tokio::test(flavor = "multi_thread")]
async fn over_the_bound_the_oldest_answers_go_with_their_facts_and_a_repeat_is_decided_anew() {
    for brand in Brand::BOTH {
        let server = Server::start(brand);
        let room = open(&server.url(), Options::default()).await;
        let listing = event(1);
        create(&room, listing).await;
        for number in 0..40 {
            assert!(hold_under(&room, listing, number).await.outcome.refused().is_none());
        }
        room.keep_history().await;
        let full = room.status().history_bytes;
        assert!(full > 40 * RECORD_BYTES, "{full} bytes are measured");
        assert_eq!((room.status().dedup_forgotten, room.status().dedup_window_ms), (0, None));
        assert!(hold_under(&room, listing, 0).await.replayed, "below the bound all is remembered");

        let bound = full / 2;
        // Everything is old enough to go.
        let options = Options { history_max_bytes: bound, history_min_ms: -60_000, ..Options::default() };
        let tight = open(&server.url(), options).await;
        tight.keep_history().await;
        tight.keep_history().await;
        let status = tight.status();
        assert!(status.history_bytes <= bound, "{} of {bound} bytes", status.history_bytes);
        assert!(status.dedup_forgotten > 10 && status.dedup_window_ms.is_some(), "{status:?}");
        let prefix = &tight.link().config().prefix;
        let records =
            server.say::<Vec<String>>(&format!("KEYS {prefix}idem:v1:{{{listing}}}:*")).expect("keys");
        let facts = server.say::<u64>(&format!("XLEN {prefix}event:facts:{{{listing}}}")).expect("a length");
        // The record of the listing's own making was an operation of the server; it is there for ten minutes.
        assert_eq!(records.len() as u64 - 1, facts, "an answer is there as long as its fact");

        // The newest is told again, the oldest is decided anew: by now somebody has its seat.
        assert!(hold_under(&tight, listing, 39).await.replayed);
        let again = hold_under(&tight, listing, 0).await;
        assert!(!again.replayed, "{again:?}");
        let gone =
            tight.facts_after(listing, Position::default(), 9).await.expect_err("the first facts are gone");
        let EngineError::Reload(left) = gone else { panic!("{gone}") };
        assert!(left.offset > 3 && tight.facts_after(listing, left, 9).await.is_ok(), "{left:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_that_have_nothing_to_give_are_looked_at_once() {
    const SALES: usize = 300;
    let server = Server::start(Brand::Redis);
    let room = open(&server.url(), Options { poll: NEVER, ..Options::default() }).await;
    // A sale is made in one step, and the newest step of a listing never goes.
    make(&room, SALES).await;
    let listing = event(1);
    create(&room, listing).await;
    for number in 0..40 {
        hold_under(&room, listing, number).await;
    }
    let options =
        Options { poll: NEVER, history_max_bytes: 1, history_min_ms: -60_000, ..Options::default() };
    let tight = open(&server.url(), options).await;
    let asked = || ["xrange", "memory|usage", "xtrim"].map(|command| calls(&server, command));
    let before = asked();
    tight.keep_history().await;
    let looked = asked()[0] - before[0];
    assert!(looked <= SALES as u64 + 8, "{looked} looks at {SALES} streams of one step");
    let facts = server.say::<u64>(&format!("XLEN onsale:event:facts:{{{listing}}}")).expect("a length");
    assert_eq!(facts, 1, "what could go is gone");
    let forgotten = tight.status().dedup_forgotten;
    assert!(forgotten > 30, "{forgotten} answers");
    // The one that was cut is measured again.
    tight.keep_history().await;
    let [looks, measured, cuts] = asked();
    for _ in 0..3 {
        tight.keep_history().await;
    }
    assert_eq!(asked(), [looks, measured, cuts], "nothing has moved, and nothing can go");
    // And what moves is seen to as before.
    for number in 40..43 {
        hold_under(&room, listing, number).await;
    }
    let last = room.view(&listing).expect("an event").position;
    until("the other has heard of it", || tight.view(&listing).is_some_and(|view| view.position >= last))
        .await;
    tight.keep_history().await;
    let facts = server.say::<u64>(&format!("XLEN onsale:event:facts:{{{listing}}}")).expect("a length");
    assert_eq!(facts, 1, "the listing has something to give again");
    assert!(asked()[0] - looks <= 8, "and only that listing is looked at");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_answered_a_moment_ago_is_never_forgotten() {
    let server = Server::start(Brand::Redis);
    let options = Options { history_max_bytes: 1, ..Options::default() };
    let engine = open(&server.url(), options).await;
    let listing = event(1);
    create(&engine, listing).await;
    hold_under(&engine, listing, 0).await;
    hold_under(&engine, listing, 1).await;
    engine.keep_history().await;
    assert!(hold_under(&engine, listing, 0).await.replayed);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_remembered_answer_takes_no_more_than_is_counted_for_it() {
    let server = Server::start(Brand::Redis);
    let engine = open(&server.url(), Options::default()).await;
    let listing = event(1);
    create(&engine, listing).await;
    hold_under(&engine, listing, 0).await;
    let prefix = &engine.link().config().prefix;
    let records = server.say::<Vec<String>>(&format!("KEYS {prefix}idem:v1:{{{listing}}}:*")).expect("keys");
    assert!(!records.is_empty(), "answers are remembered");
    for record in records {
        let bytes = server.say::<u64>(&format!("MEMORY USAGE {record}")).expect("a size") + DEADLINE_BYTES;
        println!("{record}: {bytes} bytes");
        assert!(bytes <= RECORD_BYTES, "{record}: {bytes} bytes");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sale_is_told_again_under_its_key_hours_after_its_hold_was_forgotten() {
    const ZERO: Millis = 1_900_000_000_000;
    const HOUR: Millis = 3_600_000;
    for brand in Brand::BOTH {
        let server = Server::start(brand);
        let clock = Arc::new(AtomicI64::new(ZERO));
        let engine = open(&server.url(), Options { clock: Some(clock.clone()), ..Options::default() }).await;
        let listing = event(1);
        create(&engine, listing).await;
        let held = hold_under(&engine, listing, 1).await;
        let fence = held.step().expect("a fact").fence(held.position.offset);
        let hold = HoldId(1_001);
        let command = EventCommand::ConfirmHold(ConfirmHold {
            key: HoldKey { hold, fence, buyer: buyer("ann") },
            order: OrderId(1),
            settled: true,
        });
        let confirm = Request {
            listing,
            command: Command::Event(command),
            key: Some(Key { scope: 7, fingerprint: 7 }),
            by: None,
        };
        let sold = engine.submit(confirm.clone()).await.expect("an answer");
        assert!(sold.outcome.refused().is_none() && !sold.replayed, "{:?}", sold.outcome);
        for hours in [1, 23] {
            clock.store(ZERO + hours * HOUR + 1, Ordering::Relaxed);
            // Whatever happens next makes the listing forget holds that ended more than an hour ago.
            hold_under(&engine, listing, 1 + hours as u64).await;
            let found = engine.ask(listing, EventQuery::Hold(hold).into()).await.expect("an answer");
            assert!(matches!(found, Found::Event(EventFound::Nothing)), "{found:?}");
            let again = engine.submit(confirm.clone()).await.expect("an answer");
            assert!(again.replayed, "after {hours} hours: {:?}", again.outcome);
            assert_eq!(again.step(), sold.step());
        }
    }
}
