//! What readers are owed, as plain functions over the port: lists, a buyer's holds, the log and its followers.

use std::sync::Arc;

use onsale_domain::by::Actor;
use onsale_domain::money::Currency;
use onsale_domain::seats::command::{BlockSeats, Pick, PlaceHold};
use onsale_domain::seats::{EventCommand, EventQuery};
use onsale_domain::stock::SaleCommand;
use onsale_domain::stock::command::CreateSale;
use onsale_domain::stock::details::{SaleDetails, Sku, StockRules};
use onsale_domain::{BuyerId, By, Command, HoldId, ListingId, ListingKind, Millis, Step, Tenant};

use onsale_domain::auction::AuctionDetails;

use super::Harness;
use super::table::{Settings, ZERO};
use crate::calendar::Calendar;
use crate::engine::{EngineError, Position, Request, View};
use crate::log::Cursor;
use crate::running::ActiveSales;

/// A sentence and the function that proves it.
pub type Read = (&'static str, fn(&mut dyn Harness) -> Result<(), String>);

pub const ALL: &[Read] = &[
    ("listings come in order of their id, by pages, of one tenant and kind", listings_in_order),
    ("a buyer's living holds are found over all events", holds_over_events),
    ("a page of facts begins after its position and ends with a whole step", pages_of_facts),
    ("a follower gets every step once, in order, old and new", followers),
    ("a position that is not in the log must reload", strange_positions),
    ("a view is at the position of the answer", views_follow_answers),
    ("a step says who made it, if that was not the buyer", steps_say_who),
    ("who asks what moved hears of each listing once, with its last position", moved_listings),
    ("a calendar has what is not over, the soonest end first, and follows what moves it", calendar),
    ("a question to all listings is about a buyer, and asked about nobody it finds nothing", about_nobody),
    ("the sale that is on began last, whatever has moved", active_sales),
    ("every step of every listing stands in one log, where there is one", one_log),
];

const TENANT: Tenant = Tenant::DEFAULT;

fn event(number: u64) -> ListingId {
    ListingId { tenant: TENANT, kind: ListingKind::Event, number }
}

fn block<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.expect("a runtime for one thread can be built").block_on(future)
}

fn submit(harness: &dyn Harness, listing: ListingId, command: Command) -> Result<Position, String> {
    let request = Request { listing, command, key: None, by: None };
    let answer = block(harness.engine().submit(request)).map_err(|error| error.to_string())?;
    match answer.outcome.refused() {
        Some(refusal) => Err(format!("refused: {refusal:?}")),
        None => Ok(answer.position),
    }
}

fn create(harness: &dyn Harness, number: u64) -> Result<Position, String> {
    submit(
        harness,
        event(number),
        Command::Event(EventCommand::CreateEvent(Box::new(Settings::default().create()?))),
    )
}

fn hold(
    harness: &dyn Harness,
    number: u64,
    seat: u32,
    buyer: &BuyerId,
    hold_ms: Millis,
) -> Result<Position, String> {
    let (pick, areas, hold_ms) = (Pick::Seats(vec![seat]), Vec::new(), Some(hold_ms));
    let hold = HoldId(u64::from(seat) + 1);
    submit(
        harness,
        event(number),
        Command::Event(EventCommand::PlaceHold(PlaceHold {
            hold,
            buyer: buyer.clone(),
            pick,
            areas,
            hold_ms,
        })),
    )
}

fn ensure<T: PartialEq + std::fmt::Debug>(got: T, expected: T) -> Result<(), String> {
    if got == expected { Ok(()) } else { Err(format!("got {got:?}, expected {expected:?}")) }
}

fn ann() -> BuyerId {
    BuyerId::parse("ann").expect("a short name")
}

fn listings_in_order(harness: &mut dyn Harness) -> Result<(), String> {
    harness.set_clock(ZERO);
    for number in [3, 1, 2] {
        create(harness, number)?;
    }
    let numbers = |page: Vec<Arc<View>>| page.iter().map(|view| view.listing.number).collect::<Vec<_>>();
    let list = |tenant, kind, after: Option<u64>, limit| {
        numbers(harness.engine().listings(tenant, kind, after.map(event), limit))
    };
    ensure(list(TENANT, ListingKind::Event, None, 2), vec![1, 2])?;
    ensure(list(TENANT, ListingKind::Event, Some(2), 2), vec![3])?;
    ensure(list(TENANT, ListingKind::Event, Some(3), 2), vec![])?;
    ensure(list(TENANT, ListingKind::Venue, None, 2), vec![])?;
    let other = Tenant::new(1).ok_or("a tenant")?;
    ensure(list(other, ListingKind::Event, None, 2), vec![])
}

fn holds_over_events(harness: &mut dyn Harness) -> Result<(), String> {
    harness.set_clock(ZERO);
    for number in [2, 1, 3] {
        create(harness, number)?;
    }
    hold(harness, 2, 0, &ann(), 60_000)?;
    hold(harness, 1, 0, &ann(), 120_000)?;
    hold(harness, 1, 1, &ann(), 60_000)?;
    let found = |harness: &dyn Harness, tenant, buyer: &str| {
        let buyer = BuyerId::parse(buyer).ok_or("a buyer")?;
        let held = block(harness.engine().holds_of(tenant, buyer)).map_err(|error| error.to_string())?;
        let seats = |one: &crate::engine::HeldAt| {
            let seats = one.holds.iter().flat_map(|hold| &hold.seats).map(|line| line.seat);
            (one.listing.number, seats.collect::<Vec<_>>())
        };
        Ok::<_, String>(held.iter().map(seats).collect::<Vec<_>>())
    };
    ensure(found(harness, TENANT, "ann")?, vec![(1, vec![0, 1]), (2, vec![0])])?;
    harness.restart();
    ensure(found(harness, TENANT, "ann")?, vec![(1, vec![0, 1]), (2, vec![0])])?;
    ensure(found(harness, TENANT, "bob")?, vec![])?;
    ensure(found(harness, Tenant::new(1).ok_or("a tenant")?, "ann")?, vec![])?;
    // Listings come to rest, and one of them moves again.
    let bob = BuyerId::parse("bob").ok_or("a buyer")?;
    for (seconds, of_bob) in [(15, vec![]), (30, vec![(2, vec![1])]), (45, vec![(2, vec![1]), (3, vec![0])])]
    {
        harness.set_clock(ZERO + seconds * 1_000);
        match seconds {
            30 => drop(hold(harness, 2, 1, &bob, 600_000)?),
            45 => drop(hold(harness, 3, 0, &bob, 600_000)?),
            _ => {}
        }
        for _ in 0..2 {
            ensure(found(harness, TENANT, "ann")?, vec![(1, vec![0, 1]), (2, vec![0])])?;
            ensure(found(harness, TENANT, "bob")?, of_bob.clone())?;
        }
    }
    harness.set_clock(ZERO + 60_000);
    ensure(found(harness, TENANT, "ann")?, vec![(1, vec![0])])
}

fn pages_of_facts(harness: &mut dyn Harness) -> Result<(), String> {
    harness.set_clock(ZERO);
    let created = create(harness, 1)?;
    ensure(created.offset, 3)?;
    let last = hold(harness, 1, 0, &ann(), 60_000)?;
    let read = |after: Position, limit| {
        let page =
            block(harness.engine().facts_after(event(1), after, limit)).map_err(|error| error.to_string())?;
        let steps = page.steps.iter().map(|step| (step.first, step.facts.len())).collect::<Vec<_>>();
        Ok::<_, String>((steps, page.position))
    };
    ensure(read(Position::default(), 1)?, (vec![(1, 3)], last))?;
    ensure(read(Position::default(), 100)?, (vec![(1, 3), (4, 1)], last))?;
    ensure(read(created, 100)?, (vec![(4, 1)], last))?;
    ensure(read(last, 100)?, (vec![], last))
}

fn followers(harness: &mut dyn Harness) -> Result<(), String> {
    harness.set_clock(ZERO);
    let created = create(harness, 1)?;
    let follow = |after| block(harness.engine().follow(event(1), after)).map_err(|error| error.to_string());
    let mut from_start = follow(Position::default())?;
    let mut from_now = follow(created)?;
    for seat in 0..8 {
        hold(harness, 1, seat, &ann(), 60_000)?;
    }
    let collect = |follower: &mut crate::engine::Follower, last: u64| {
        let mut steps: Vec<Arc<Step>> = Vec::new();
        while steps.last().map_or(0, |step| step.last()) < last {
            steps.extend(block(follower.next()).map_err(|error| error.to_string())?);
        }
        Ok::<_, String>(steps.iter().map(|step| step.first).collect::<Vec<_>>())
    };
    ensure(collect(&mut from_start, 11)?, vec![1, 4, 5, 6, 7, 8, 9, 10, 11])?;
    ensure(collect(&mut from_now, 11)?, vec![4, 5, 6, 7, 8, 9, 10, 11])?;
    let bob = BuyerId::parse("bob").ok_or("a buyer")?;
    hold(harness, 1, 9, &bob, 60_000)?;
    ensure(collect(&mut from_start, 12)?, vec![12])
}

fn strange_positions(harness: &mut dyn Harness) -> Result<(), String> {
    harness.set_clock(ZERO);
    let known = create(harness, 1)?;
    let later = Position { offset: known.offset + 1, ..known };
    let other = Position { epoch: known.epoch + 1, ..known };
    for (listing, after, expected) in [
        (event(1), later, EngineError::Reload(known)),
        (event(1), other, EngineError::Reload(known)),
        (event(9), Position::default(), EngineError::UnknownListing),
    ] {
        let read = block(harness.engine().facts_after(listing, after, 10));
        ensure(read.err(), Some(expected.clone()))?;
        let followed = block(harness.engine().follow(listing, after));
        ensure(followed.err(), Some(expected))?;
    }
    ensure(harness.engine().view(&event(9)).is_none(), true)
}

fn views_follow_answers(harness: &mut dyn Harness) -> Result<(), String> {
    harness.set_clock(ZERO);
    let created = create(harness, 1)?;
    let position = |harness: &dyn Harness| harness.engine().view(&event(1)).map(|view| view.position);
    ensure(position(harness), Some(created))?;
    let held = hold(harness, 1, 0, &ann(), 60_000)?;
    ensure(position(harness), Some(held))?;
    harness.restart();
    ensure(position(harness), Some(held))
}

fn moved_listings(harness: &mut dyn Harness) -> Result<(), String> {
    harness.set_clock(ZERO);
    create(harness, 1)?;
    let moved = harness.engine().moved(&[ListingKind::Event]);
    let sales = harness.engine().moved(&[ListingKind::Sale]);
    create(harness, 2)?;
    hold(harness, 1, 0, &ann(), 60_000)?;
    let last = hold(harness, 1, 1, &ann(), 60_000)?;
    let created = harness.engine().view(&event(2)).ok_or("event 2 has no view")?.position;
    ensure(moved.take(8), vec![(event(1), last), (event(2), created)])?;
    // Nobody asked for anything: the sweep moves it, too.
    harness.set_clock(ZERO + 60_000);
    let swept = submit(harness, event(1), Command::ExpireDue { limit: 8 })?;
    ensure(block(moved.next(8)), vec![(event(1), swept)])?;
    ensure(moved.take(8), vec![])?;
    ensure(sales.take(8), vec![])
}

fn about_nobody(harness: &mut dyn Harness) -> Result<(), String> {
    harness.set_clock(ZERO);
    create(harness, 1)?;
    hold(harness, 1, 0, &ann(), 60_000)?;
    let known = |query: EventQuery| {
        let found = block(harness.engine().ask_all(TENANT, ListingKind::Event, query.into()));
        found.map(|found| found.len()).map_err(|error| error.to_string())
    };
    let of_ann =
        block(harness.engine().ask_all(TENANT, ListingKind::Event, EventQuery::HoldsOf(ann()).into()));
    if matches!(of_ann, Err(EngineError::Unsupported(_))) {
        return Ok(());
    }
    ensure(known(EventQuery::HoldsOf(ann()))?, 1)?;
    ensure(known(EventQuery::Hold(HoldId(1)))?, 0)
}

fn auction(number: u64) -> ListingId {
    ListingId { tenant: TENANT, kind: ListingKind::Auction, number }
}

/// An auction from the beginning on for so many milliseconds, whose end a bid in the last minute moves by a minute.
fn sell(harness: &dyn Harness, number: u64, length: Millis) -> Result<(), String> {
    let mut details = onsale_tables::auction::usual();
    onsale_tables::auction::change(&mut details, "soft=reset/60s/60s/60m");
    (details.starts_at, details.ends_at) = (ZERO, ZERO + length);
    ask_auction(harness, number, "create", &details)
}

fn ask_auction(
    harness: &dyn Harness,
    number: u64,
    asked: &str,
    details: &AuctionDetails,
) -> Result<(), String> {
    let command = onsale_tables::auction::command(asked, details).ok_or_else(|| format!("{asked}?"))?;
    submit(harness, auction(number), command).map(drop)
}

fn calendar(harness: &mut dyn Harness) -> Result<(), String> {
    const HOUR: Millis = 3_600_000;
    harness.set_clock(ZERO);
    for (number, hours) in [(1, 3), (2, 1), (3, 2), (4, 2)] {
        sell(harness, number, hours * HOUR)?;
    }
    let calendar = Calendar::new(harness.engine(), &[ListingKind::Auction]);
    ensure(coming(&calendar, harness, ZERO), vec![(1, 2), (2, 3), (2, 4), (3, 1)])?;
    // One is moved by a bid just before its end, one is called off, one is new; the first is over.
    let usual = onsale_tables::auction::usual();
    ask_auction(harness, 4, "cancel", &usual)?;
    sell(harness, 5, 4 * HOUR)?;
    harness.set_clock(ZERO + 2 * HOUR - 1);
    ask_auction(harness, 3, "bid ann 2000", &usual)?;
    let now = ZERO + 2 * HOUR;
    harness.set_clock(now);
    ensure(coming(&calendar, harness, now), vec![(2, 3), (3, 1), (4, 5)])?;
    ensure(
        calendar.next(harness.engine(), AUCTIONS, now, None).map(|((end, _), _)| end),
        Some(now + 59_999),
    )?;
    harness.restart();
    let calendar = Calendar::new(harness.engine(), &[ListingKind::Auction]);
    ensure(coming(&calendar, harness, now), vec![(2, 3), (3, 1), (4, 5)])
}

const AUCTIONS: (Tenant, ListingKind) = (TENANT, ListingKind::Auction);

/// Whole hours until each end, with the auction's number.
fn coming(calendar: &Calendar, harness: &dyn Harness, now: Millis) -> Vec<(Millis, u64)> {
    let mut place = None;
    let next = || {
        let (at, view) = calendar.next(harness.engine(), AUCTIONS, now, place)?;
        place = Some(at);
        Some(((at.0 - ZERO) / 3_600_000, view.listing.number))
    };
    std::iter::from_fn(next).collect()
}

fn active_sales(harness: &mut dyn Harness) -> Result<(), String> {
    let sale = |number| ListingId { tenant: TENANT, kind: ListingKind::Sale, number };
    harness.set_clock(ZERO);
    let make = |harness: &dyn Harness, number: u64, starts_at: Millis, ends_at: Millis| {
        let details = SaleDetails {
            name: "Drop".into(),
            description: String::new(),
            starts_at: ZERO + starts_at,
            ends_at: ZERO + ends_at,
            currency: Currency::parse("EUR").ok_or("a code")?,
            rules: StockRules::default(),
            origin: None,
        };
        let shirt = Sku { id: "S".into(), name: "Shirt".into(), price_minor: 1, stock: 9, picture: None };
        let create = SaleCommand::Create(Box::new(CreateSale { details, skus: vec![shirt] }));
        submit(harness, sale(number), Command::Sale(create)).map(drop)
    };
    for (number, starts_at, ends_at) in [(1, 10, 100_000), (2, 20, 50_000), (3, 60_000, 70_000)] {
        make(harness, number, starts_at, ends_at)?;
    }
    let active = ActiveSales::new(harness.engine());
    let on = |harness: &mut dyn Harness, active: &ActiveSales, now: Millis| {
        harness.set_clock(ZERO + now);
        active.of(harness.engine(), TENANT, ZERO + now).map(|sale| sale.number)
    };
    ensure(on(harness, &active, 9), None)?;
    ensure(on(harness, &active, 10), Some(1))?;
    ensure(on(harness, &active, 20), Some(2))?;
    make(harness, 4, 30, 40_000)?;
    ensure(on(harness, &active, 30), Some(4))?;
    submit(harness, sale(4), Command::Sale(SaleCommand::Cancel))?;
    ensure(on(harness, &active, 31), Some(2))?;
    ensure(on(harness, &active, 50_000), Some(1))?;
    ensure(on(harness, &active, 60_000), Some(3))?;
    harness.restart();
    let active = ActiveSales::new(harness.engine());
    ensure(on(harness, &active, 60_001), Some(3))?;
    ensure(on(harness, &active, 70_000), Some(1))?;
    ensure(on(harness, &active, 100_000), None)
}

fn one_log(harness: &mut dyn Harness) -> Result<(), String> {
    harness.set_clock(ZERO);
    let Some(log) = harness.engine().log() else { return Ok(()) };
    create(harness, 1)?;
    create(harness, 2)?;
    for seat in 0..5 {
        hold(harness, 1 + u64::from(seat % 2), seat, &ann(), 60_000)?;
    }
    let own = |number| block(harness.engine().facts_after(event(number), Position::default(), 1_000));
    let mut expected = Vec::new();
    for number in [1, 2] {
        let page = own(number).map_err(|error| error.to_string())?;
        expected.extend(page.steps.iter().map(|step| (step.listing, step.first)));
    }
    for (seat, limit) in [(5, 1), (6, 2), (7, 1_000)] {
        let (mut told, mut cursor) = (Vec::new(), Cursor::default());
        loop {
            let page = block(log.after(cursor, limit)).map_err(|error| error.to_string())?;
            let parsed = Cursor::parse(&page.next.to_string());
            ensure(parsed, Some(page.next))?;
            cursor = page.next;
            if page.steps.is_empty() {
                break;
            }
            ensure(page.steps.len() <= limit, true)?;
            told.extend(page.steps.iter().map(|step| (step.listing, step.first)));
        }
        let of = |number| told.iter().filter(move |(listing, _)| *listing == event(number)).copied();
        // One order for all; within it each listing's own.
        ensure(of(1).chain(of(2)).collect::<Vec<_>>(), expected.clone())?;
        // What comes next is waited for, and found from the same cursor.
        let number = 2;
        let next = hold(harness, number, seat, &ann(), 60_000)?;
        block(log.wait(cursor)).map_err(|error| error.to_string())?;
        let page = block(log.after(cursor, 8)).map_err(|error| error.to_string())?;
        ensure(page.steps.iter().map(|step| step.last()).collect::<Vec<_>>(), vec![next.offset])?;
        expected.push((event(number), next.offset));
    }
    Ok(())
}

fn steps_say_who(harness: &mut dyn Harness) -> Result<(), String> {
    harness.set_clock(ZERO);
    create(harness, 1)?;
    hold(harness, 1, 0, &ann(), 60_000)?;
    let staff = By::Staff(Actor::parse("usr_7").ok_or("an id")?);
    let pillar = BlockSeats { seats: vec![1], areas: Vec::new(), reason: "a pillar".to_owned() };
    let command = Command::Event(EventCommand::BlockSeats(pillar));
    let request = Request { listing: event(1), command, key: None, by: Some(staff.clone()) };
    block_on_done(harness, request)?;
    harness.set_clock(ZERO + 60_000);
    let command = Command::ExpireDue { limit: 8 };
    let request = Request { listing: event(1), command, key: None, by: Some(By::Clock) };
    block_on_done(harness, request)?;
    for round in 0..2 {
        let page = block(harness.engine().facts_after(event(1), Position::default(), 100));
        let steps = page.map_err(|error| error.to_string())?.steps;
        let by: Vec<Option<By>> = steps.iter().map(|step| step.by.clone()).collect();
        let expected = vec![None, None, Some(staff.clone()), Some(By::Clock)];
        ensure((round, by), (round, expected))?;
        harness.restart();
    }
    Ok(())
}

fn block_on_done(harness: &dyn Harness, request: Request) -> Result<(), String> {
    let answer = block(harness.engine().submit(request)).map_err(|error| error.to_string())?;
    match answer.outcome.refused() {
        Some(refusal) => Err(format!("refused: {refusal:?}")),
        None => Ok(()),
    }
}
