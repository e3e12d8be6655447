//! `cargo xtask test`: every check, as numbered steps, ending with counts.
//! A missing service or an ignored test fails the run; nothing is ever skipped or tried twice.

use std::time::Duration;

use anyhow::{Result, bail};

use crate::programs::{self, TestProgram};
use crate::step::{Program, Steps};
use crate::tally::Tally;
use crate::{cases, clients, install, mutants, pages, sim, tidy};

/// Budgets, in seconds, for two cores with nothing built yet while other builds run beside; a step is ended at twice
/// its budget. A warm run takes about a third of their sum.
const TOOLS: Duration = Duration::from_secs(300);
const FORMAT: Duration = Duration::from_secs(30);
const LINTS: Duration = Duration::from_secs(300);
const TIDY: Duration = Duration::from_secs(60);
const BUILD: Duration = Duration::from_secs(900);
const TESTS: Duration = Duration::from_secs(420);
const SIMULATION: Duration = Duration::from_secs(60);
const PLANTED: Duration = Duration::from_secs(240);

/// Rounds of `kill -9` in the daily run; `cargo xtask prove --part kills` goes further.
const KILL_ROUNDS: u32 = 3;

const STEPS: usize = 11;

pub(crate) fn run() -> Result<()> {
    let mut tally = Tally::default();
    let mut steps = Steps::new(STEPS);
    let outcome = all(&mut steps, &mut tally);
    if let Err(error) = &outcome {
        println!("\n{error:#}");
        // A step that failed without a failed test is still a failure: the closing line must not look green.
        tally.failed = tally.failed.max(1);
    }
    println!("\neverything took {:.0} s", steps.seconds());
    println!("tests passed: {}", tally.passed);
    println!("tests failed: {}", tally.failed);
    println!("skipped: {}", tally.skipped);
    println!("{tally}");
    if outcome.is_err() {
        // The reason is printed above; the counts stay the last thing one sees.
        std::process::exit(1);
    }
    Ok(())
}

fn all(steps: &mut Steps, tally: &mut Tally) -> Result<()> {
    steps.step("tools", TOOLS, "cargo xtask tools", install::missing)?;
    steps.run("format", FORMAT, &Program::new("cargo fmt --all --check"))?;
    steps.step("tidy", TIDY, "cargo xtask tidy", tidy::run)?;
    steps.run("lints", LINTS, &Program::new("cargo clippy --workspace --all-targets -- -D warnings"))?;
    // Tests, simulator and the server that is killed come from this one build.
    let programs = steps.step("build", BUILD, programs::BUILD, programs::build)?;
    steps.step("tests", TESTS, "cargo test --workspace --no-fail-fast", || tests(&programs, tally))?;
    steps.step("clients", clients::CLIENTS, clients::REPEAT, clients::check)?;
    steps.step("pages", pages::PAGES, pages::REPEAT, pages::check)?;
    steps.run("simulation", SIMULATION, &sim::program(sim::DAILY))?;
    steps.run("simulation of awards and places", SIMULATION, &sim::program(sim::DAILY_KEPT))?;
    let sample = mutants::Options::sample();
    steps.step("planted bugs", PLANTED, &sample.command_line(), || mutants::run(&sample))
}

fn tests(programs: &[TestProgram], tally: &mut Tally) -> Result<()> {
    let environment = [("ONSALE_KILL_ROUNDS", KILL_ROUNDS.to_string())];
    let around = cases::Around { environment: &environment, bound: cases::BOUND, wanted: is_daily };
    let (here, _) = cases::run(programs, &around)?;
    tally.add(here);
    judge(here)
}

fn is_daily(name: &str) -> bool {
    !cases::is_deep(name)
}

/// Good only if every test ran and passed.
pub(crate) fn judge(tally: Tally) -> Result<()> {
    if tally.failed > 0 {
        bail!("{} tests failed", tally.failed);
    }
    if tally.skipped > 0 {
        bail!("{} tests were skipped; a test that does not run proves nothing", tally.skipped);
    }
    if tally.passed == 0 {
        bail!("no test ran");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_run_in_which_everything_ran_and_passed_is_good() {
        let good = Tally { passed: 3, failed: 0, skipped: 0 };
        assert!(judge(good).is_ok());
        assert!(judge(Tally { skipped: 1, ..good }).is_err());
        assert!(judge(Tally { failed: 1, ..good }).is_err());
        assert!(judge(Tally::default()).is_err());
    }
}
