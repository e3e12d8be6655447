//! The embedded engine on a real folder: what was answered survives a restart, with and without a snapshot.

use std::path::Path;
use std::sync::Arc;

use onsale_domain::event::{EventDetails, EventStatus, SaleRules, Tier};
use onsale_domain::layout::{Layout, Row, Seat, Section};
use onsale_domain::listing::Key;
use onsale_domain::money::Currency;
use onsale_domain::seats::Status;
use onsale_domain::seats::command::{AdoptChart, CreateEvent, HoldKey, Pick, PlaceHold};
use onsale_domain::seats::{EventCommand, EventFact, EventFound, EventQuery};
use onsale_domain::{BuyerId, Code, Command, Fact, HoldId, ListingId, ListingKind, Outcome, Tenant};
use onsale_domain::{Found, Query};
use onsale_engine::embedded::clock::ManualClock;
use onsale_engine::embedded::{EmbeddedEngine, Options};
use onsale_engine::engine::BodyView;
use onsale_engine::{Engine, EngineError, Position, Request};

const EVENT: ListingId = ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Event, number: 1 };

fn open(folder: &Path, clock: &Arc<ManualClock>) -> EmbeddedEngine {
    let options = Options { shards: 2, clock: clock.clone(), ..Options::default() };
    EmbeddedEngine::open(folder, options).expect("opens")
}

fn create(seats: usize) -> Request {
    let seat = |n: usize| Seat { id: format!("A-{n}"), label: n.to_string(), ..Seat::default() };
    let row = Row { label: "A".into(), seats: (1..=seats).map(seat).collect() };
    let layout =
        Layout { sections: vec![Section { name: "Stalls".into(), rows: vec![row] }], areas: Vec::new() };
    let details = EventDetails {
        name: "Concert".into(),
        description: String::new(),
        venue: None,
        starts_at: 1_000_000_000,
        ends_at: 2_000_000_000,
        sale_opens_at: None,
        sale_closes_at: None,
        time_zone: "UTC".into(),
        currency: Currency::parse("EUR").expect("a code"),
        tiers: vec![Tier { name: "all".into(), price_minor: 4_200 }],
        rules: SaleRules::default(),
    };
    let chart = AdoptChart { venue: None, version: 1, layout: layout.into() };
    let create = CreateEvent { details, status: EventStatus::OnSale, chart };
    Request {
        listing: EVENT,
        command: Command::Event(EventCommand::CreateEvent(Box::new(create))),
        key: None,
        by: None,
    }
}

fn hold(number: u64, seat: u32, buyer: &str, key: Option<u128>) -> Request {
    let command = Command::Event(EventCommand::PlaceHold(PlaceHold {
        hold: HoldId(number),
        buyer: BuyerId::parse(buyer).expect("a buyer"),
        pick: Pick::Seats(vec![seat]),
        areas: Vec::new(),
        hold_ms: None,
    }));
    Request {
        listing: EVENT,
        command,
        key: key.map(|scope| Key { scope, fingerprint: u128::from(seat) }),
        by: None,
    }
}

#[tokio::test]
async fn what_was_answered_is_there_after_a_restart() {
    let folder = tempfile::tempdir().expect("a folder");
    let clock = Arc::new(ManualClock::at(1_000));
    let engine = open(folder.path(), &clock);
    engine.submit(create(100)).await.expect("creates");
    let answer = engine.submit(hold(7, 3, "ann", Some(77))).await.expect("answers");
    assert_eq!(answer.outcome, Outcome::Done);
    let refused = engine.submit(hold(8, 3, "bob", None)).await.expect("answers");
    assert_eq!(refused.outcome.refused().map(|refusal| refusal.code), Some(Code::SeatHeld));
    engine.close();
    assert_eq!(engine.submit(hold(9, 4, "bob", None)).await.err(), Some(EngineError::Stopping));
    drop(engine);

    let engine = open(folder.path(), &clock);
    assert!(engine.report.snapshot.is_some(), "a graceful stop leaves a snapshot");
    let view = engine.view(&EVENT).expect("the event is there");
    let BodyView::Event(seats) = &view.body else { panic!("an event") };
    assert_eq!(seats.seat_status(3), Status::Held);
    let again = engine.submit(hold(70, 3, "ann", Some(77))).await.expect("answers");
    assert!(again.replayed);
    assert_eq!(again.step(), answer.step());
    let other_body = engine.submit(hold(70, 4, "ann", Some(77))).await.expect("answers");
    assert_eq!(other_body.outcome.refused().map(|refusal| refusal.code), Some(Code::KeyReused));
}

/// Large batches go to the committer's thread, small ones are synced where they are decided. If a small one overtook a
/// large one, offsets in the journal would not follow each other, and the next start would refuse it.
#[tokio::test(flavor = "multi_thread")]
async fn small_batches_never_overtake_large_ones() {
    let folder = tempfile::tempdir().expect("a folder");
    let clock = Arc::new(ManualClock::at(1_000));
    let engine = open(folder.path(), &clock);
    engine.submit(create(50_000)).await.expect("creates");
    let mut next = 0u32;
    for _ in 0..100 {
        let mut fresh = || {
            next += 1;
            hold(u64::from(next), next, &format!("buyer-{next}"), None)
        };
        let large = engine.submit_many((0..300).map(|_| fresh()).collect());
        let small = engine.submit(fresh());
        let (large, small) = tokio::join!(large, small);
        let done = large.into_iter().chain([small]).map(|answer| answer.expect("answers").outcome);
        assert!(done.into_iter().all(|outcome| outcome == Outcome::Done));
    }
    drop(engine);
    for file in std::fs::read_dir(folder.path()).expect("a folder") {
        let path = file.expect("a file").path();
        if path.extension().is_some_and(|kind| kind == "snap") {
            std::fs::remove_file(path).expect("goes");
        }
    }
    let engine = open(folder.path(), &clock);
    assert!(engine.report.snapshot.is_none(), "the journal alone was read");
    let view = engine.view(&EVENT).expect("the event is there");
    assert_eq!(view.position.offset, 3 + u64::from(next));
}

#[tokio::test]
async fn a_sale_is_sold_exactly_and_comes_back_after_a_restart() {
    use onsale_domain::CheckoutId;
    use onsale_domain::stock::command::{Checkout, CreateSale, SaleCommand};
    use onsale_domain::stock::details::{SaleDetails, Sku, StockRules};
    use onsale_domain::stock::fact::SkuCount;

    const SALE: ListingId = ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Sale, number: 1 };
    let details = SaleDetails {
        name: "Flash".into(),
        description: String::new(),
        starts_at: 0,
        ends_at: 2_000_000_000,
        currency: Currency::parse("EUR").expect("a code"),
        rules: StockRules { buyer_limit: 3, checkout_ms: 60_000 },
        origin: None,
    };
    let skus =
        vec![Sku { id: "mug".into(), name: "Mug".into(), price_minor: 900, stock: 100, picture: None }];
    let create = SaleCommand::Create(Box::new(CreateSale { details, skus }));
    let request = |command| Request { listing: SALE, command: Command::Sale(command), key: None, by: None };
    let checkout = |number: u64| {
        let buyer = BuyerId::parse(&format!("buyer-{number}")).expect("a buyer");
        let lines = vec![SkuCount { sku: 0, count: 3 }];
        let checkout = Checkout { checkout: CheckoutId(number), buyer, lines, checkout_ms: None };
        request(SaleCommand::Checkout(checkout))
    };
    let folder = tempfile::tempdir().expect("a folder");
    let clock = Arc::new(ManualClock::at(1_000));
    let engine = open(folder.path(), &clock);
    assert_eq!(engine.submit(request(create)).await.expect("creates").outcome, Outcome::Done);
    let mut done = 0;
    for number in 0..50 {
        let answer = engine.submit(checkout(number)).await.expect("answers");
        done += u32::from(answer.outcome == Outcome::Done);
    }
    assert_eq!(done, 33);
    engine.close();
    drop(engine);

    let engine = open(folder.path(), &clock);
    let levels = |engine: &EmbeddedEngine| {
        let view = engine.view(&SALE).expect("the sale is there");
        let BodyView::Sale(sale) = &view.body else { panic!("a sale") };
        (sale.levels[0].available(), sale.levels[0].reserved, sale.levels[0].sold)
    };
    assert_eq!(levels(&engine), (1, 99, 0));
    clock.set(61_000);
    // The codes are over, though no sweep may have said so yet.
    assert_eq!(engine.submit(checkout(99)).await.expect("answers").outcome, Outcome::Done);
}

#[tokio::test]
async fn facts_can_be_read_again_and_followed() {
    let folder = tempfile::tempdir().expect("a folder");
    let clock = Arc::new(ManualClock::at(1_000));
    let engine = open(folder.path(), &clock);
    engine.submit(create(100)).await.expect("creates");
    let mut follower = engine.follow(EVENT, Position::default()).await.expect("follows");
    let mut seen = Vec::new();
    for n in 0..50u32 {
        engine.submit(hold(u64::from(n) + 1, n, &format!("buyer-{n}"), None)).await.expect("answers");
    }
    while seen.len() < 53 {
        for step in follower.next().await.expect("goes on") {
            seen.extend(step.numbered().map(|(offset, fact)| (offset, fact.clone())));
        }
    }
    assert!(seen.iter().enumerate().all(|(n, (offset, _))| *offset == n as u64 + 1));
    let page = engine.facts_after(EVENT, Position { epoch: 1, offset: 40 }, 5).await.expect("reads");
    assert_eq!(page.steps.iter().map(|step| step.first).collect::<Vec<_>>(), [41, 42, 43, 44, 45]);
    let future = engine.facts_after(EVENT, Position { epoch: 1, offset: 54 }, 5).await;
    assert_eq!(future.err(), Some(EngineError::Reload(Position { epoch: 1, offset: 53 })));
}

#[tokio::test]
async fn a_hold_expires_by_itself() {
    let folder = tempfile::tempdir().expect("a folder");
    let clock = Arc::new(ManualClock::at(1_000));
    let engine = open(folder.path(), &clock);
    engine.submit(create(10)).await.expect("creates");
    engine.submit(hold(1, 0, "ann", None)).await.expect("answers");
    let after = engine.view(&EVENT).expect("a view").position;
    let mut follower = engine.follow(EVENT, after).await.expect("follows");
    clock.set(121_000);
    let steps = follower.next().await.expect("something happens");
    assert_eq!(steps[0].facts, [Fact::Event(EventFact::HoldExpired { hold: HoldId(1), offer: None })]);
    let found = engine.ask(EVENT, Query::Event(EventQuery::Hold(HoldId(1)))).await.expect("answers");
    assert_eq!(found, Found::Event(EventFound::Ended(onsale_domain::ended::End::Expired)));
    let key = HoldKey { hold: HoldId(1), fence: 1 << 40 | 4, buyer: BuyerId::parse("ann").expect("a buyer") };
    let late = Request {
        listing: EVENT,
        command: Command::Event(EventCommand::ReleaseHold(key)),
        key: None,
        by: None,
    };
    let refused = engine.submit(late).await.expect("answers");
    assert_eq!(refused.outcome.refused().map(|refusal| refusal.code), Some(Code::Expired));
}

#[tokio::test]
async fn an_answer_without_facts_tells_when_it_was_decided() {
    let folder = tempfile::tempdir().expect("a folder");
    let clock = Arc::new(ManualClock::at(1_000));
    let engine = open(folder.path(), &clock);
    engine.submit(create(10)).await.expect("creates");
    engine.submit(hold(1, 0, "ann", Some(1))).await.expect("answers");
    clock.set(50_000);
    let refused = engine.submit(hold(2, 0, "bob", None)).await.expect("answers");
    assert_eq!((refused.outcome.refused().map(|one| one.code), refused.at), (Some(Code::SeatHeld), 50_000));
    clock.set(500);
    let reused = engine.submit(hold(3, 5, "ann", Some(1))).await.expect("answers");
    assert_eq!((reused.outcome.refused().map(|one| one.code), reused.at), (Some(Code::KeyReused), 1_000));
}

#[tokio::test]
async fn what_was_made_just_before_a_stop_can_be_read_after_it() {
    for round in 0..30 {
        let folder = tempfile::tempdir().expect("a folder");
        let clock = Arc::new(ManualClock::at(1_000));
        // Small segments: this is about the stop, not about filling a disk.
        let journal = onsale_engine::journal::Options { segment_bytes: 1 << 16, ..Default::default() };
        let options = Options { shards: 1, clock: clock.clone(), journal, ..Options::default() };
        let engine = EmbeddedEngine::open(folder.path(), options.clone()).expect("opens");
        let created = engine.submit(create(10));
        std::thread::sleep(std::time::Duration::from_micros(40 * round));
        engine.close();
        let created = created.await.expect("what was taken before the stop is answered");
        drop(engine);
        let engine = EmbeddedEngine::open(folder.path(), options).expect("opens");
        let page = engine.facts_after(EVENT, Position::default(), 10).await.expect("reads");
        assert_eq!(page.steps.first(), created.step(), "round {round}");
    }
}

/// The engine itself writes one epoch; a listing that is brought back goes on under the next one, in the same journal.
#[tokio::test]
async fn a_listing_goes_on_under_the_epoch_of_its_last_step() {
    use onsale_engine::disk::FolderDisk;
    use onsale_engine::embedded::entry::{self, Entry, StepHead};
    use onsale_engine::journal;

    let folder = tempfile::tempdir().expect("a folder");
    let clock = Arc::new(ManualClock::at(1_000));
    let engine = open(folder.path(), &clock);
    let made = engine.submit(create(10)).await.expect("creates");
    assert_eq!(made.position.epoch, 1);
    engine.close();
    drop(engine);

    let disk = Arc::new(FolderDisk::open(folder.path()).expect("nobody else has it"));
    let mut number = None;
    let mut find = |_, payload: &[u8]| {
        number = number.or(entry::read(payload).find_map(|entry| match entry {
            Ok(Entry::Opened { number, listing }) => (listing == EVENT).then_some(number),
            _ => None,
        }));
        Ok::<(), std::convert::Infallible>(())
    };
    let opened = journal::recovery::open(disk, journal::Options::default(), 1, &mut find, None);
    let (mut writer, _) = opened.expect("the journal opens");
    let first = made.position.offset + 1;
    let number = number.expect("the event was opened");
    let head = StepHead { number, epoch: 3, first, at: 2_000, key: None, sealed: false, by: None };
    let fact = Fact::Event(EventFact::StatusChanged { status: EventStatus::Closed, by_schedule: false });
    let back = Fact::Event(EventFact::StatusChanged { status: EventStatus::OnSale, by_schedule: false });
    let mut payload = Vec::new();
    entry::write_step(&mut payload, head, &[fact, back]);
    writer.append(&payload).expect("written");
    writer.sync().expect("synced");
    drop(writer);

    // The second start has it from a snapshot.
    for start in 1..=2 {
        let engine = open(folder.path(), &clock);
        let view = engine.view(&EVENT).expect("the event is there");
        assert_eq!(view.position, Position { epoch: 3, offset: first + start });
        let held = engine.submit(hold(start, start as u32, "ann", None)).await.expect("answers");
        assert_eq!(held.position, Position { epoch: 3, offset: first + start + 1 });
        assert_eq!(held.step().map(|step| step.epoch), Some(3));
        let page = engine.facts_after(EVENT, Position::default(), 10).await.expect("reads");
        let (before, after): (Vec<_>, Vec<_>) = page.steps.iter().partition(|step| step.first < first);
        assert!(before.iter().all(|step| step.epoch == 1) && !before.is_empty(), "{before:?}");
        assert!(after.iter().all(|step| step.epoch == 3) && after.len() as u64 == start + 1, "{after:?}");
        engine.close();
    }
}
