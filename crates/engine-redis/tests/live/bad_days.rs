//! Bad days of a server, each from beginning to end: what is asked meanwhile gets a clear answer and no hang, views
//! go on, nothing is ever unknown, and the engine is well again by itself.

use std::time::Duration;

use onsale_domain::layout::{Area, Layout};
use onsale_domain::seats::Status;
use onsale_domain::seats::{EventFound, EventQuery};
use onsale_domain::venue::VenueCommand;
use onsale_domain::venue::command::CreateVenue;
use onsale_domain::{Command, ListingId, ListingKind};
use onsale_domain::{Found, Query};
use onsale_engine::{Engine, EngineError};
use onsale_engine_redis::link::Config;
use onsale_engine_redis::link::config::Topology;
use onsale_engine_redis::live::{Options, RedisEngine};
use tokio::time::Instant;

use super::house::{buyer, create, event, hold, open, status, submit, tempest};
use super::support::server::free_port;
use super::support::{Brand, Server, Setup, Six};

/// Nobody waits longer for an answer, whatever happens: three tries of a quarter of a second and a busy machine.
const HANG: Duration = Duration::from_secs(10);
/// As long as a trouble may take to be noticed, and to be over.
const SOON: Duration = Duration::from_secs(60);

struct Day {
    engine: RedisEngine,
    listing: ListingId,
    next_seat: u32,
}

impl Day {
    async fn begin(config: impl Into<Config>) -> Day {
        let engine = open(config, Options::default()).await;
        let listing = event(1);
        create(&engine, listing).await;
        let mut day = Day { engine, listing, next_seat: 0 };
        day.well().await;
        day
    }

    /// Asks once for the next seat.
    async fn ask(&self) -> Result<(), EngineError> {
        let asked = hold(&self.engine, self.listing, self.next_seat, "ann", 600_000);
        let answer = tokio::time::timeout(HANG, asked).await.expect("no hang")?;
        assert!(answer.outcome.refused().is_none(), "{:?}", answer.outcome);
        Ok(())
    }

    /// Asks until the trouble shows, and says what was told. Whatever else is told on the way may pass by itself.
    async fn trouble(&mut self, words: &str) -> EngineError {
        let begun = Instant::now();
        loop {
            match self.ask().await {
                Ok(()) => self.next_seat += 1,
                Err(error) if error.to_string().contains(words) => {
                    self.views_go_on();
                    return error;
                }
                Err(error) => assert!(error.is_retryable(), "{words}: {error}"),
            }
            assert!(begun.elapsed() < SOON, "{words}: never told");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    fn views_go_on(&self) {
        let first = status(&self.engine, &self.listing, 0);
        assert!(self.next_seat == 0 || first == Some(Status::Held), "{first:?}");
    }

    /// Asks until a seat is held again; a seat that was taken without an answer is ours, so the next one is asked for.
    async fn well(&mut self) {
        let begun = Instant::now();
        loop {
            let asked = hold(&self.engine, self.listing, self.next_seat, "ann", 600_000);
            match tokio::time::timeout(HANG, asked).await.expect("no hang") {
                Ok(answer) if answer.outcome.refused().is_none() => break,
                Ok(_) => self.next_seat += 1,
                Err(error) => assert!(error.is_retryable(), "{error}"),
            }
            assert!(begun.elapsed() < SOON, "it never goes on");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        self.next_seat += 1;
    }
}

fn unavailable(error: &EngineError) -> bool {
    matches!(error, EngineError::Unavailable(_))
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_server_refuses_is_told_with_what_to_do() {
    for brand in Brand::BOTH {
        let server = Server::start(brand);
        let mut day = Day::begin(&server.url()).await;
        let nobody = free_port();
        for (trouble, cure, words) in [
            ("CONFIG SET maxmemory 1", "CONFIG SET maxmemory 0", "out of memory; raise maxmemory"),
            (
                "CONFIG SET min-replicas-to-write 1",
                "CONFIG SET min-replicas-to-write 0",
                "too few replicas in step",
            ),
            (
                &format!("REPLICAOF 127.0.0.1 {nobody}"),
                "REPLICAOF NO ONE",
                "is a replica and takes no writes",
            ),
        ] {
            server.tell(trouble);
            let error = day.trouble(words).await;
            assert!(unavailable(&error), "{error}");
            server.tell(cure);
            day.well().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_script_that_never_ends_is_told_and_waited_for() {
    for brand in Brand::BOTH {
        let server = Server::start(brand);
        server.tell("CONFIG SET busy-reply-threshold 50");
        let mut day = Day::begin(&server.url()).await;
        let mut foreign = server.connect().expect("a connection");
        foreign.set_read_timeout(None).expect("patience");
        let endless = std::thread::spawn(move || {
            redis::cmd("EVAL").arg("while true do end").arg(0).exec(&mut foreign).expect_err("it is ended")
        });
        let error = day.trouble("busy with a slow script; `SCRIPT KILL` ends").await;
        assert!(unavailable(&error), "{error}");
        server.tell("SCRIPT KILL");
        endless.join().expect("ended");
        day.well().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_loads_its_data_is_told_and_waited_for() {
    let slowly = Setup::default()
        .with("key-load-delay 300")
        .with("loading-process-events-interval-bytes 1024")
        .with("appendonly no");
    for brand in Brand::BOTH {
        let mut server = Server::with(brand, slowly.clone());
        let mut day = Day::begin(&server.url()).await;
        let mut pipe = redis::pipe();
        (0..20_000).for_each(|number| {
            pipe.cmd("SET").arg(format!("other:{number}")).arg(number).ignore();
        });
        pipe.query::<()>(&mut server.connect().expect("a connection")).expect("written");
        let epoch = day.engine.view(&day.listing).expect("known").position.epoch;
        server.tell("SAVE");
        server.kill();
        let error = day.trouble("no redis server answers").await;
        assert!(unavailable(&error), "{error}");
        server.spawn_again();
        let error = day.trouble("is loading its data").await;
        assert!(unavailable(&error), "{error}");
        day.well().await;
        let after = day.engine.view(&day.listing).expect("known").position.epoch;
        assert!(after > epoch, "a restarted server may have forgotten something");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_stands_still_is_told_as_unknown() {
    let server = Server::start(Brand::Redis);
    let mut day = Day::begin(&server.url()).await;
    server.pause();
    let error = day.trouble("did not answer in time").await;
    assert!(matches!(error, EngineError::Unanswered(_)), "it may have been done: {error}");
    server.resume();
    day.well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn forgotten_scripts_are_no_forgotten_event() {
    for brand in Brand::BOTH {
        let server = Server::start(brand);
        let mut day = Day::begin(&server.url()).await;
        let before = day.engine.view(&day.listing).expect("known").position;
        server.tell("SCRIPT FLUSH");
        // The trouble may be over before it is met; either way another epoch begins.
        day.well().await;
        let after = day.engine.view(&day.listing).expect("known").position;
        assert!(after.epoch > before.epoch && after.offset > before.offset, "{before:?} {after:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_password_that_changed_is_told_until_it_is_put_right() {
    for brand in Brand::BOTH {
        let server = Server::with(brand, Setup::default().password("right"));
        let mut day = Day::begin(&server.url()).await;
        server.tell("CONFIG SET requirepass other");
        let mut admin = redis::Client::open(format!("redis://:other@{}", server.address()))
            .and_then(|it| it.get_connection());
        let admin = admin.as_mut().expect("a connection");
        redis::cmd("CLIENT").arg("KILL").arg("SKIPME").arg("yes").exec(admin).expect("killed");
        let error = day.trouble("refuses user or password").await;
        assert!(unavailable(&error), "{error}");
        redis::cmd("CONFIG").arg("SET").arg("requirepass").arg("right").exec(admin).expect("put right");
        day.well().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_key_in_the_place_of_ours_is_told_as_damage_and_touches_nothing_else() {
    for brand in Brand::BOTH {
        let server = Server::start(brand);
        let mut day = Day::begin(&server.url()).await;
        let healthy = event(2);
        create(&day.engine, healthy).await;
        let key = format!("event:due:{{{}}}", day.listing);
        server.tell(&format!("RENAME {key} aside:{{{}}}", day.listing));
        server.tell(&format!("SET {key} foreign"));
        let error = day.ask().await.expect_err("it cannot be decided");
        assert!(matches!(error, EngineError::Damaged(_)), "{error}");
        assert!(error.to_string().contains("find out who wrote it"), "{error}");
        assert!(hold(&day.engine, healthy, 1, "bob", 60_000).await.is_ok());
        server.tell(&format!("RENAME aside:{{{}}} {key}", day.listing));
        day.well().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_a_buyer_is_called_all_keys_stay_in_one_slot() {
    let six = Six::start(Brand::Redis);
    let config = Config { url: six.urls(), topology: Topology::Cluster, ..Config::default() };
    let (one, other) = (
        open(config.clone(), Options::default()).await,
        open(config, Options { compact_from: 1, ..Options::default() }).await,
    );
    assert!(onsale_domain::BuyerId::parse("a\nb").is_none(), "no name has a line of its own");
    let names = [
        "{",
        "}",
        "{}",
        "{a}",
        "a:b",
        "a}{b",
        "a b",
        "{evt_1}",
        "\"; redis.call('FLUSHALL') --",
        "a|b,c;d",
        "%7b",
        "é",
        "\u{2028}",
        "a\\nb",
        "*",
        "usr:locks:{x}",
        "'\"\\",
    ];
    for (engine, listing) in [(&one, event(1)), (&other, event(2))] {
        create(engine, listing).await;
        for (seat, name) in (0_u32..).zip(names) {
            let held = hold(engine, listing, seat, name, 600_000).await.expect("an answer");
            assert!(held.outcome.refused().is_none(), "{name}: {:?}", held.outcome);
        }
        for name in names {
            let found =
                engine.ask(listing, Query::Event(EventQuery::HoldsOf(buyer(name)))).await.expect("an answer");
            assert!(
                matches!(&found, Found::Event(EventFound::Holds(held)) if held.len() == 1),
                "{name}: {found:?}"
            );
        }
    }
    // The same from what Redis has kept, at a server that was told nothing.
    for (asked, listing) in [(&other, event(1)), (&one, event(2))] {
        for name in names {
            let found =
                asked.ask(listing, Query::Event(EventQuery::HoldsOf(buyer(name)))).await.expect("an answer");
            assert!(
                matches!(&found, Found::Event(EventFound::Holds(held)) if held.len() == 1),
                "{name}: {found:?}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_brace_in_the_prefix_is_refused_before_anything_is_sent() {
    let server = Server::start(Brand::Redis);
    let config = Config { prefix: "{house}:".to_owned(), ..Config::from(&server.url()) };
    let refused = onsale_engine_redis::Link::open(config).await.expect_err("two slots").to_string();
    assert!(refused.contains("prefix"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_made_without_memory_can_be_made_later() {
    let server = Server::start(Brand::Redis);
    let small = open(&server.url(), Options::default()).await;
    let large = open(&server.url(), Options { compact_from: 1, ..Options::default() }).await;
    let globe = ListingId { kind: ListingKind::Venue, ..event(3) };
    let layout = Layout {
        sections: Vec::new(),
        areas: vec![Area { id: "pit".into(), capacity: 9, ..Area::default() }],
    };
    let venue = CreateVenue { name: "The Globe".into(), place: "Southwark".into(), layout: layout.into() };
    let wishes = [
        (&small, event(1), tempest(small.now(), 10)),
        (&large, event(2), tempest(small.now(), 10)),
        (&small, globe, Command::Venue(VenueCommand::CreateVenue(Box::new(venue)))),
    ];
    server.tell("CONFIG SET maxmemory 1");
    for (engine, listing, command) in &wishes {
        let error = submit(engine, *listing, command.clone()).await.expect_err("no memory");
        assert!(unavailable(&error) && engine.view(listing).is_none(), "{listing}: {error}");
    }
    server.tell("CONFIG SET maxmemory 0");
    for (engine, listing, command) in wishes {
        let made = submit(engine, listing, command).await.expect("an answer");
        assert!(made.outcome.refused().is_none() && engine.view(&listing).is_some(), "{:?}", made.outcome);
    }
}
