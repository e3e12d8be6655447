//! Deadlines: found by polling, by notification, and right when the notification is lost or late.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use onsale_domain::ListingId;
use onsale_domain::seats::Status;
use onsale_engine::Engine;
use onsale_engine_redis::link::Config;
use onsale_engine_redis::link::config::Notify;
use onsale_engine_redis::live::{Options, RedisEngine, Sweep};

use super::house::{create, event, hold, open, status, until};
use super::support::{Brand, Server};

const ZERO: i64 = 1_900_000_000_000;
const MINUTE: i64 = 60_000;

struct Night {
    server: Server,
    clock: Arc<AtomicI64>,
    engine: RedisEngine,
    listing: ListingId,
}

impl Night {
    /// One seat held until a minute after `ZERO`.
    async fn new(brand: Brand, sweep: Sweep) -> Night {
        let server = Server::start(brand);
        let clock = Arc::new(AtomicI64::new(ZERO));
        let options = Options { clock: Some(clock.clone()), sweep, ..Options::default() };
        let config = Config { notify: Notify::Set, ..Config::from(&server.url()) };
        let engine = open(config, options).await;
        let listing = event(1);
        create(&engine, listing).await;
        hold(&engine, listing, 1, "ann", MINUTE).await.expect("held");
        assert_eq!(status(&engine, &listing, 1), Some(Status::Held));
        Night { server, clock, engine, listing }
    }

    fn marker(&self) -> String {
        format!("onsale:event:marker:{{{}}}", self.listing)
    }

    fn pass(&self, ms: i64) {
        self.clock.fetch_add(ms, Ordering::Relaxed);
    }

    /// Redis says that the marker has ended: its own time is over, whatever the test's clock says.
    fn notify(&self) {
        assert_eq!(self.server.say::<u64>(&format!("PEXPIRE {} 1", self.marker())).expect("an answer"), 1);
    }

    fn seat(&self) -> Option<Status> {
        status(&self.engine, &self.listing, 1)
    }

    fn sweeps(&self) -> u64 {
        self.engine.counts().into_iter().find(|(name, _)| *name == "sweeps").expect("a count").1
    }
}

const POLLING: Sweep = Sweep { polls: true, notified: false };
const NOTIFIED: Sweep = Sweep { polls: false, notified: true };

#[tokio::test(flavor = "multi_thread")]
async fn polling_frees_a_seat_that_nobody_touches() {
    for brand in Brand::BOTH {
        let night = Night::new(brand, POLLING).await;
        night.pass(MINUTE - 1);
        // Three looks of the sweeper, and it is not yet time.
        let looks = Duration::from_millis(100);
        tokio::time::sleep(looks).await;
        assert_eq!((night.seat(), night.sweeps()), (Some(Status::Held), 0));
        night.pass(1);
        let took = until("the seat is free", || night.seat() == Some(Status::Available)).await;
        println!("polling: {took:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_notification_frees_a_seat_without_polling() {
    for brand in Brand::BOTH {
        let night = Night::new(brand, NOTIFIED).await;
        night.pass(MINUTE);
        night.notify();
        let took = until("the seat is free", || night.seat() == Some(Status::Available)).await;
        println!("notified: {took:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_notification_delays_nothing_that_is_right() {
    let night = Night::new(Brand::Redis, NOTIFIED).await;
    night.server.tell(&format!("DEL {}", night.marker()));
    night.pass(MINUTE);
    // Nobody has swept, and yet the seat is there for whoever wants it.
    let taken = hold(&night.engine, night.listing, 1, "bob", MINUTE).await.expect("an answer");
    assert!(taken.outcome.refused().is_none(), "{:?}", taken.outcome);
    assert_eq!(
        taken.facts().map(|(_, fact)| fact.kind()).collect::<Vec<_>>(),
        ["hold_expired", "hold_placed"]
    );
    assert_eq!(night.sweeps(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_notification_does_not_take_the_seat_from_the_next_one() {
    let night = Night::new(Brand::Redis, NOTIFIED).await;
    night.pass(MINUTE);
    hold(&night.engine, night.listing, 1, "bob", MINUTE).await.expect("held");
    // The end of ann's deadline is told only now.
    night.notify();
    until("somebody sweeps", || night.sweeps() > 0).await;
    let fresh = night.engine.view(&night.listing).expect("known").position;
    assert_eq!(night.seat(), Some(Status::Held), "it is bob's");
    night.pass(MINUTE);
    assert_eq!(night.engine.view(&night.listing).expect("known").position, fresh);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_index_tells_a_server_that_missed_everything() {
    let night = Night::new(Brand::Redis, Sweep { polls: false, notified: false }).await;
    until("the index is written", || {
        night.server.say::<u64>("ZCARD onsale:due").is_ok_and(|count| count == 1)
    })
    .await;
    // The one who decided is gone; another, whose replica knows nothing of the hold, sweeps.
    let options = Options { clock: Some(night.clock.clone()), sweep: POLLING, ..Options::default() };
    let other = open(&night.server.url(), options).await;
    night.engine.close();
    night.pass(MINUTE);
    until("the seat is free", || status(&other, &night.listing, 1) == Some(Status::Available)).await;
    until("the index is done with it", || {
        night
            .server
            .say::<Vec<String>>(&format!("ZRANGEBYSCORE onsale:due -inf {}", ZERO + MINUTE))
            .is_ok_and(|due| due.is_empty())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_sweepers_sweep_once() {
    let night = Night::new(Brand::Redis, POLLING).await;
    let options = Options { clock: Some(night.clock.clone()), sweep: POLLING, ..Options::default() };
    let other = open(&night.server.url(), options).await;
    let before = night.engine.view(&night.listing).expect("known").position;
    night.pass(MINUTE);
    until("both show it", || {
        night.seat() == Some(Status::Available)
            && status(&other, &night.listing, 1) == Some(Status::Available)
    })
    .await;
    let page = other.facts_after(night.listing, before, 10).await.expect("facts");
    assert_eq!(page.position.offset, before.offset + 1, "one fact: {:?}", page.steps);
}
