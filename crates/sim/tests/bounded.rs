//! A bounded run of the simulation, that it is the same twice, and that it meets what it should.

use onsale_domain::{Code, Command};
use onsale_sim::coverage::Coverage;
use onsale_sim::{Config, Run, run};

const SEEDS: u64 = 10;
const STEPS: u64 = 3_000;

/// Not for seats yet: nothing is lost by an engine that never forgets, and nothing is paid.
const NOT_YET: [Code; 2] = [Code::Lost, Code::HoldPaying];
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
    let rare: Vec<_> = Command::VERBS.iter().filter(|verb| met.yes(verb) < YES_MIN).collect();
    assert!(rare.is_empty(), "hardly ever granted: {rare:?}");
    // Auctions are decided by the domain alone so far; their codes begin here.
    let seats = |code: &&Code| **code < Code::AuctionNotStarted;
    let reachable = Code::ALL.iter().filter(seats).filter(|code| !NOT_YET.contains(code));
    let missing: Vec<_> = reachable.filter(|code| met.code(code.as_str()) == 0).collect();
    assert!(missing.is_empty(), "never refused with: {missing:?}");
    let missing: Vec<_> = FAULTS.iter().filter(|kind| !met.faults.contains_key(*kind)).collect();
    assert!(missing.is_empty(), "never broke: {missing:?}");
    let missing: Vec<_> =
        onsale_domain::Fact::KINDS.iter().filter(|kind| !met.facts.contains_key(*kind)).collect();
    assert!(missing.is_empty(), "never happened: {missing:?}");
    assert!(met.code("disk_full") > 0, "a full disk was never answered");
}

#[test]
fn the_same_seed_is_the_same_history() {
    for seed in [3, 77] {
        assert_eq!(simulate(seed, 1_500).hash, simulate(seed, 1_500).hash);
    }
}
