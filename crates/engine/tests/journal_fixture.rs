//! Old journals open for ever: a folder written by the first format, with every kind of fact in it.
//! `ONSALE_WRITE_FIXTURE=1 cargo test -p onsale-engine --test journal_fixture` writes a new one; never over an old one.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use onsale_domain::event::{EventDetails, EventStatus, SaleRules, Tier};
use onsale_domain::layout::{Area, Layout, Row, Seat, Section};
use onsale_domain::listing::Key;
use onsale_domain::money::Currency;
use onsale_domain::seats::EventCommand;
use onsale_domain::seats::EventFact;
use onsale_domain::seats::command::{
    AdoptChart, BlockSeats, ChangeEvent, ConfirmHold, CreateEvent, DropSeats, ExtendHold, HoldKey, JoinQueue,
    LeaveQueue, OverrideHold, Pick, PlaceHold, RefundOrder, UnblockSeats,
};
use onsale_domain::seats::fact::AreaCount;
use onsale_domain::venue::VenueCommand;
use onsale_domain::venue::VenueFact;
use onsale_domain::venue::command::CreateVenue;
use onsale_domain::{
    BuyerId, Command, Fact, HoldId, ListingId, ListingKind, Millis, OrderId, Outcome, Tenant,
};
use onsale_engine::embedded::clock::ManualClock;
use onsale_engine::embedded::{Embedded, Options};
use onsale_engine::engine::BodyView;
use onsale_engine::journal::{self, Preparation};
use onsale_engine::{Answer, Engine, Position, Request};

const VENUE: ListingId = ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Venue, number: 1 };
const EVENT: ListingId = ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Event, number: 2 };
const START: Millis = 1_800_000_000_000;

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/journal-v1")
}

fn open(folder: &Path, clock: &Arc<ManualClock>) -> Embedded {
    let journal = journal::Options { segment_bytes: 16 << 10, preparation: Preparation::OnRequest };
    let options = Options { shards: 1, journal, clock: clock.clone(), ..Options::default() };
    Embedded::open(folder, options).expect("an old journal opens")
}

#[tokio::test]
async fn a_journal_of_the_first_format_opens_and_has_every_kind_of_fact() {
    if std::env::var_os("ONSALE_WRITE_FIXTURE").is_some() {
        write().await;
    }
    let folder = tempfile::tempdir().expect("a folder");
    for file in std::fs::read_dir(fixture()).expect("the fixture is in the repository") {
        let file = file.expect("a file");
        std::fs::copy(file.path(), folder.path().join(file.file_name())).expect("copied");
    }
    let clock = Arc::new(ManualClock::at(START));
    let engine = open(folder.path(), &clock);
    assert_eq!(engine.report.snapshot, None, "the journal alone tells everything");
    let mut kinds = BTreeSet::new();
    for listing in [VENUE, EVENT] {
        let page = engine.facts_after(listing, Position::default(), 10_000).await.expect("facts are read");
        kinds.extend(page.steps.iter().flat_map(|step| step.facts.iter().map(Fact::kind)));
    }
    // Of the other kinds one of each is in the domain's own fixture.
    let wanted = EventFact::KINDS.iter().chain(VenueFact::KINDS);
    let missing: Vec<_> = wanted.filter(|kind| !kinds.contains(**kind)).collect();
    assert!(missing.is_empty(), "not in the fixture: {missing:?}; write a new one beside it");
    let view = engine.view(&EVENT).expect("the event is there");
    let BodyView::Event(seats) = &view.body else { panic!("an event") };
    assert_eq!(seats.totals(), [9, 4, 0, 1], "available, held, sold, blocked");
    let again = engine.submit(hold(1, 1, "ann", &[0, 1])).await.expect("answers");
    assert!(again.replayed, "idempotency records come back with their facts");
}

/// Makes each kind of fact happen at least once.
async fn write() {
    assert!(!fixture().exists(), "an old fixture is never overwritten: make a folder of the next version");
    std::fs::create_dir_all(fixture()).expect("a folder");
    let clock = Arc::new(ManualClock::at(START));
    let engine = open(&fixture(), &clock);
    let at = |seconds: i64| clock.set(START + seconds * 1_000);
    let done = async |request: Request| -> Answer {
        let answer = engine.submit(request).await.expect("answers");
        assert_eq!(answer.outcome, Outcome::Done, "{answer:?}");
        answer
    };
    let layout: Arc<Layout> = Arc::new(layout());
    let (name, place) = ("Hall".to_owned(), "Oslo".to_owned());
    let venue = CreateVenue { name, place, layout: layout.clone() };
    done(Request {
        listing: VENUE,
        command: Command::Venue(VenueCommand::CreateVenue(Box::new(venue))),
        key: None,
        by: None,
    })
    .await;
    let chart = AdoptChart { venue: Some(VENUE), version: 1, layout };
    let create = CreateEvent { details: details(), status: EventStatus::OnSale, chart };
    done(ask(Command::Event(EventCommand::CreateEvent(Box::new(create))))).await;
    let rename = ChangeEvent { name: Some("Late concert".into()), ..ChangeEvent::default() };
    done(ask(Command::Event(EventCommand::ChangeEvent(Box::new(rename))))).await;

    let ann = done(hold(1, 1, "ann", &[0, 1])).await;
    done(ask(Command::Event(EventCommand::ExtendHold(ExtendHold {
        key: key(&ann, 1, "ann"),
        extension_ms: None,
    }))))
    .await;
    done(ask(Command::Event(EventCommand::DropSeats(DropSeats {
        key: key(&ann, 1, "ann"),
        seats: vec![1],
        areas: vec![],
    }))))
    .await;
    // In line for seat 0: erin who is at her limit, bob who renews, carol who leaves, dave who is never heard of again.
    done(hold(2, 2, "erin", &[2, 3])).await;
    for (place, buyer) in [(10, "erin"), (11, "bob"), (12, "carol"), (13, "dave")] {
        done(ask(Command::Event(EventCommand::JoinQueue(JoinQueue {
            place: HoldId(place),
            seat: 0,
            buyer: buyer_of(buyer),
        }))))
        .await;
    }
    done(ask(Command::Event(EventCommand::LeaveQueue(LeaveQueue { seat: 0, buyer: buyer_of("carol") }))))
        .await;
    at(200);
    for (place, buyer) in [(10, "erin"), (11, "bob")] {
        done(ask(Command::Event(EventCommand::JoinQueue(JoinQueue {
            place: HoldId(place),
            seat: 0,
            buyer: buyer_of(buyer),
        }))))
        .await;
    }
    at(310);
    done(ask(Command::Event(EventCommand::ReleaseHold(key(&ann, 1, "ann"))))).await;

    let gina = done(hold(3, 3, "gina", &[4])).await;
    let confirm = ConfirmHold { key: key(&gina, 3, "gina"), order: OrderId(30) };
    done(ask(Command::Event(EventCommand::ConfirmHold(confirm)))).await;
    let refund =
        RefundOrder { order: OrderId(30), seats: Vec::new(), areas: Vec::new(), reason: "ill".into() };
    done(ask(Command::Event(EventCommand::RefundOrder(refund)))).await;
    let areas = vec![AreaCount { area: 0, count: 1 }];
    let block = BlockSeats { seats: vec![5], areas: areas.clone(), reason: "camera".into() };
    done(ask(Command::Event(EventCommand::BlockSeats(block)))).await;
    done(ask(Command::Event(EventCommand::UnblockSeats(UnblockSeats { seats: vec![5], areas: Vec::new() }))))
        .await;
    done(hold(4, 4, "hugo", &[6])).await;
    let to = Some((buyer_of("ida"), Some(600_000)));
    let staff = OverrideHold { hold: HoldId(4), staff: "box office".into(), reason: "mix-up".into(), to };
    done(ask(Command::Event(EventCommand::OverrideHold(staff)))).await;
    // The offer to bob lapses unnoticed until somebody wants the seat.
    at(400);
    done(hold(5, 5, "kim", &[0])).await;
    engine.close();
    drop(engine);
    for file in std::fs::read_dir(fixture()).expect("the folder").flatten() {
        let name = file.file_name().to_string_lossy().into_owned();
        if !name.ends_with(".log") {
            std::fs::remove_file(file.path()).expect("only the journal stays");
        }
    }
}

fn ask(command: Command) -> Request {
    Request { listing: EVENT, command, key: None, by: None }
}

fn buyer_of(name: &str) -> BuyerId {
    BuyerId::parse(name).expect("a buyer")
}

fn hold(number: u128, scope: u128, buyer: &str, seats: &[u32]) -> Request {
    let place = PlaceHold {
        hold: HoldId(number),
        buyer: buyer_of(buyer),
        pick: Pick::Seats(seats.to_vec()),
        areas: Vec::new(),
        hold_ms: None,
    };
    Request {
        key: Some(Key { scope, fingerprint: 1 }),
        ..ask(Command::Event(EventCommand::PlaceHold(place)))
    }
}

fn key(granted: &Answer, hold: u128, buyer: &str) -> HoldKey {
    let fence = 1 << 40 | granted.position.offset;
    HoldKey { hold: HoldId(hold), fence, buyer: buyer_of(buyer) }
}

fn layout() -> Layout {
    let seat = |n: usize| Seat { id: format!("A-{n}"), label: n.to_string(), ..Seat::default() };
    let row = Row { label: "A".into(), seats: (0..10).map(seat).collect() };
    let floor =
        Area { id: "floor".into(), label: "Floor".into(), section: "Stalls".into(), tier: 0, capacity: 4 };
    Layout { sections: vec![Section { name: "Stalls".into(), rows: vec![row] }], areas: vec![floor] }
}

fn details() -> EventDetails {
    EventDetails {
        name: "Concert".into(),
        description: String::new(),
        venue: Some(VENUE),
        starts_at: START + 900_000_000,
        ends_at: START + 990_000_000,
        sale_opens_at: None,
        sale_closes_at: None,
        is_virtual: false,
        currency: Currency::parse("NOK").expect("a code"),
        tiers: vec![Tier { name: "all".into(), price_minor: 4_200 }],
        rules: SaleRules { hold_ms: 900_000, buyer_limit: 2, ..SaleRules::default() },
    }
}
