//! A bounded run of the simulation, that it is the same twice, and that it meets what it should.

use onsale_domain::{Code, Command, Fact};
use onsale_sim::coverage::Coverage;
use onsale_sim::model::{AWARD_COURSES, PLACE_COURSES};
use onsale_sim::world::is_keeping;
use onsale_sim::{Config, Run, run};

const SEEDS: u64 = 48;
const STEPS: u64 = 5_000;
/// The first seeds whose orders are for awards and places.
const KEPT: std::ops::RangeInclusive<u64> = 56..=61;
/// Each course must have been run so often.
const COURSES_MIN: u64 = 3;

/// Nothing is lost by an engine that never forgets, no line here is a hundred thousand long, and nobody is declined that often.
const NOT_YET: [Code; 6] = [
    Code::Lost,
    Code::WaitingListFull,
    Code::BidsFull,
    Code::WatchersFull,
    Code::BansFull,
    Code::PaymentAttempts,
];
/// Each verb must have been granted this often.
const YES_MIN: u64 = 10;

const FAULTS: [&str; 16] = [
    "crash_at_write_or_sync",
    "write_fails",
    "sync_fails",
    "disk_full",
    "space_back",
    "power_cut",
    "process_killed",
    "clock_set_back",
    "clock_set_forward",
    "clock_forward",
    "snapshot",
    "snapshot_damaged",
    "snapshot_passed_over",
    "recovered_from_snapshot",
    "died_in_snapshot",
    "fault_in_recovery",
];

fn simulate(seed: u64, steps: u64) -> Run {
    match run(Config { seed, steps, print: false }) {
        Ok(run) => run,
        Err(failure) => panic!(
            "seed {seed}, step {}: {}\n{}\nrepeat: cargo run --release -p onsale-sim -- --seed {seed} --steps {steps}",
            failure.step,
            failure.why,
            failure.last.join("\n")
        ),
    }
}

#[test]
fn every_answer_and_every_restart_is_right_and_everything_was_met() {
    let mut met = Coverage::default();
    for seed in 1..=SEEDS {
        met.add(&simulate(seed, STEPS).coverage);
    }
    println!("{met}");
    // A run has one desk.
    let least = |verb: &str| if verb == "open_desk" { 1 } else { YES_MIN };
    // Awards are ordered, and paid back, in histories about them: see below.
    let here = |name: &&str| !matches!(*name, "refund_award" | "award_refunded");
    let asked = Command::verbs().map(|verb| verb.name).filter(here);
    let rare: Vec<_> = asked.filter(|verb| met.yes(verb) < least(verb)).collect();
    assert!(rare.is_empty(), "hardly ever granted: {rare:?}");
    let reachable = Code::ALL.iter().filter(|code| !NOT_YET.contains(code));
    let missing: Vec<_> = reachable.filter(|code| met.code(code.as_str()) == 0).collect();
    assert!(missing.is_empty(), "never refused with: {missing:?}");
    let missing: Vec<_> = FAULTS.iter().filter(|kind| !met.faults.contains_key(*kind)).collect();
    assert!(missing.is_empty(), "never broke: {missing:?}");
    let told = Fact::kinds().filter(here);
    let missing: Vec<_> = told.filter(|kind| !met.facts.contains_key(kind)).collect();
    assert!(missing.is_empty(), "never happened: {missing:?}");
    assert!(met.code("disk_full") > 0, "a full disk was never answered");
}

#[test]
fn awards_and_places_are_paid_lapse_and_are_had_back_or_paid_back() {
    let mut met = Coverage::default();
    for seed in KEPT {
        assert!(is_keeping(seed), "seed {seed} is about something else");
        met.add(&simulate(seed, STEPS).coverage);
    }
    println!("{met}");
    let often = |course: &&&str| met.courses.get(**course).copied().unwrap_or(0) >= COURSES_MIN;
    let rare: Vec<_> = AWARD_COURSES.iter().chain(&PLACE_COURSES).filter(|course| !often(course)).collect();
    assert!(rare.is_empty(), "hardly ever: {rare:?}");
    assert!(met.yes("refund_award") >= COURSES_MIN, "awards are hardly ever paid back");
}

#[test]
fn the_same_seed_is_the_same_history() {
    for seed in [3, 77, 58] {
        assert_eq!(simulate(seed, 1_500).hash, simulate(seed, 1_500).hash);
    }
}
