//! Random histories of one small event: whatever is asked, the seats add up, and the facts alone tell the story.
//! `ONSALE_SEED=<number>` repeats a run; a failure prints its seed and the shortest history that shows it.

#[path = "support/dice.rs"]
mod dice;
#[path = "histories/world.rs"]
mod world;

use std::cell::RefCell;
use std::collections::BTreeSet;

use onsale_domain::seats::EventFact;
use onsale_domain::{Fact, Listing, Outcome};
use proptest::prelude::{Strategy, any};
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use world::{Ask, EVENT, World, create, picture};

const CASES: u32 = 1_000;
const STEPS_MAX: usize = 120;

#[test]
fn every_history_adds_up_and_can_be_replayed() {
    let seed = dice::seed();
    let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, dice::rng(seed));
    let asks = proptest::collection::vec(any::<[u8; 6]>().prop_map(Ask), 1..STEPS_MAX);
    let kinds = RefCell::new(BTreeSet::new());
    let result = runner.run(&asks, |asks| play(&asks, &mut kinds.borrow_mut()).map_err(TestCaseError::fail));
    if let Err(error) = result {
        panic!("ONSALE_SEED={seed}\n{error}");
    }
    let missing: Vec<_> =
        EventFact::KINDS[1..].iter().filter(|kind| !kinds.borrow().contains(*kind)).collect();
    dice::all_happened(seed, &missing);
}

/// Plays a history on the event itself and, from the middle on, on two that were made from its facts and its image.
fn play(asks: &[Ask], kinds: &mut BTreeSet<&'static str>) -> Result<(), String> {
    let mut listing = Listing::new(EVENT, 3);
    let mut log: Vec<(i64, Fact)> = Vec::new();
    let mut world = World::default();
    let mut others: Vec<Listing> = Vec::new();
    let mut facts = Vec::new();
    listing.execute(&create(), world.now, &mut facts);
    log.extend(facts.iter().map(|fact| (world.now, fact.clone())));
    for (n, ask) in asks.iter().enumerate() {
        if n == asks.len() / 2 {
            let mut replayed = Listing::new(EVENT, 3);
            log.iter().for_each(|(at, fact)| replayed.apply(fact, *at));
            let reread = Listing::from_image(&listing.image()).map_err(|error| error.to_string())?;
            others = vec![replayed, reread];
        }
        let command = world.command(ask, &listing);
        let before = Before::of(&listing, world.now);
        let mut facts = Vec::new();
        let outcome = listing.execute(&command, world.now, &mut facts);
        let at = listing.last_at.max(world.now);
        let told = || format!("step {n}: {command:?} at {at} -> {outcome:?} with {facts:?}");
        before.check(&listing, &outcome, &facts).map_err(|why| format!("{}: {why}", told()))?;
        if !world::is_staff_excess(&command) {
            before.check_limit(&listing, at).map_err(|why| format!("{}: {why}", told()))?;
        }
        for fact in &facts {
            let bytes = minicbor::to_vec(fact).map_err(|error| error.to_string())?;
            let back: Fact = minicbor::decode(&bytes).map_err(|error| error.to_string())?;
            if back != *fact {
                return Err(format!("{fact:?} was read back as {back:?}"));
            }
            kinds.insert(fact.kind());
        }
        for other in &mut others {
            let mut same = Vec::new();
            let answer = other.execute(&command, world.now, &mut same);
            if answer != outcome || same != facts {
                return Err(format!("{}, but a copy said {answer:?} with {same:?}", told()));
            }
        }
        world.learn(&facts, listing.offset, listing.epoch);
        log.extend(facts.into_iter().map(|fact| (at, fact)));
    }
    let mut replayed = Listing::new(EVENT, 3);
    log.iter().for_each(|(at, fact)| replayed.apply(fact, *at));
    others.push(replayed);
    let picture_of = |listing: &Listing| picture(listing, &world);
    match others.iter().map(picture_of).find(|other| *other != picture_of(&listing)) {
        Some(other) => Err(format!("the event is\n{}\na copy\n{other}", picture_of(&listing))),
        None => Ok(()),
    }
}

/// What was so before a command.
struct Before {
    offset: u64,
    above: Vec<(String, u32)>,
}

impl Before {
    fn of(listing: &Listing, now: i64) -> Before {
        let now = listing.last_at.max(now);
        let above = listing.event().map_or(Vec::new(), |seats| seats.above_limit(now));
        Before { offset: listing.offset, above }
    }

    fn check(&self, listing: &Listing, outcome: &Outcome, facts: &[Fact]) -> Result<(), String> {
        listing.check_invariants()?;
        if listing.offset != self.offset + facts.len() as u64 {
            return Err("the offset does not count the facts".into());
        }
        if *outcome == Outcome::Done && facts.is_empty() {
            return Err("a yes that did nothing".into());
        }
        Ok(())
    }

    /// Nobody but staff brings a buyer above the limit.
    fn check_limit(&self, listing: &Listing, now: i64) -> Result<(), String> {
        let Some(seats) = listing.event() else { return Ok(()) };
        for (buyer, taken) in seats.above_limit(now) {
            if !self.above.iter().any(|(known, before)| *known == buyer && *before >= taken) {
                return Err(format!("{buyer} has {taken} places"));
            }
        }
        match seats.above_queue_limit(now) {
            true => Err("somebody waits in more than twenty queues".into()),
            false => Ok(()),
        }
    }
}
