//! `cargo xtask test`: every check, as numbered steps, ending with counts.
//! A missing service or an ignored test fails the run; nothing is ever skipped.

use std::path::Path;

use anyhow::{Result, bail};

use crate::step::{Program, Steps};
use crate::tally::Tally;
use crate::{install, mutants, tidy, workspace};

#[derive(clap::Args, Debug, Default)]
pub struct Options {
    /// New random histories, longer simulation, longer bounds for planted bugs, more kill rounds.
    #[arg(long)]
    long: bool,
}

/// How far the random proofs go: bounded in the daily run, further with `--long`.
struct Reach {
    seeds: u32,
    kept_seeds: u32,
    steps: u32,
    kill_rounds: u32,
}

const DAILY: Reach = Reach { seeds: 20, kept_seeds: 4, steps: 20_000, kill_rounds: 10 };
const LONG: Reach = Reach { seeds: 400, kept_seeds: 8, steps: 50_000, kill_rounds: 50 };

const STEPS: usize = 11;

pub fn run(options: &Options) -> Result<()> {
    let mut tally = Tally::default();
    let mut steps = Steps::new(STEPS);
    let outcome = all(options, &mut steps, &mut tally);
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

fn all(options: &Options, steps: &mut Steps, tally: &mut Tally) -> Result<()> {
    let reach = if options.long { LONG } else { DAILY };
    steps.step("tools", "cargo xtask test", install::missing)?;
    steps.run("format", &Program::new("cargo fmt --all --check"))?;
    steps.run("lints", &Program::new("cargo clippy --workspace --all-targets -- -D warnings"))?;
    // The kill test is no part of `cargo test`, and so none of `--all-targets`. Whoever names a package
    // instead of the workspace gets its libraries with other features: everything would be built once more.
    steps.run(
        "lints of the kill test",
        &Program::new("cargo clippy --workspace --test kill -- -D warnings"),
    )?;
    steps.step("tidy", "cargo xtask tidy", tidy::run)?;
    let tests = Program::new("cargo test --workspace --no-fail-fast");
    let tests =
        if options.long { tests.env("ONSALE_SEED", "fresh").env("ONSALE_CONTRACT", "full") } else { tests };
    counted(steps, "tests", &tests, tally)?;
    steps
        .run("release build", &Program::new("cargo build --release -p onsale-server -p onsale-sim --bins"))?;
    let simulation = format!("--seed 1 --seeds {} --steps {}", reach.seeds, reach.steps);
    steps
        .run("simulation", &Program::new(&format!("cargo run --release -q -p onsale-sim -- {simulation}")))?;
    // Seeds of their own, see `is_keeping` in `crates/sim/src/world.rs`; the long run has met some before.
    let kept = format!("--seed 56 --seeds {} --steps {}", reach.kept_seeds, reach.steps);
    steps.run(
        "simulation of awards and places",
        &Program::new(&format!("cargo run --release -q -p onsale-sim -- {kept}")),
    )?;
    let quick = mutants::Options::bounded(!options.long);
    steps.step("planted bugs", &quick.command_line(), || mutants::run(&quick))?;
    let binary = workspace::release_binary();
    let kill = Program::new("cargo test --workspace --test kill")
        .env("ONSALE_BIN", display(&binary))
        .env("ONSALE_KILL_ROUNDS", reach.kill_rounds.to_string());
    counted(steps, "kill -9", &kill, tally)
}

/// A step whose tests are counted. It fails if any test failed, was skipped, or if none ran.
fn counted(steps: &mut Steps, title: &str, program: &Program, tally: &mut Tally) -> Result<()> {
    steps.step(title, &program.to_string(), || {
        let mut here = Tally::default();
        let succeeded = program.watch(|line| here.see(line))?;
        tally.add(here);
        judge(succeeded, here)
    })
}

fn judge(succeeded: bool, tally: Tally) -> Result<()> {
    if tally.failed > 0 {
        bail!("{} tests failed", tally.failed);
    }
    if !succeeded {
        bail!("the tests could not be built or ended badly");
    }
    if tally.skipped > 0 {
        bail!("{} tests were skipped; a test that does not run proves nothing", tally.skipped);
    }
    if tally.passed == 0 {
        bail!("no test ran");
    }
    Ok(())
}

/// The path as one would type it in the workspace's folder would not work from the test's own folder,
/// so the program gets the full one.
fn display(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_run_in_which_everything_ran_and_passed_is_good() {
        let good = Tally { passed: 3, failed: 0, skipped: 0 };
        assert!(judge(true, good).is_ok());
        assert!(judge(false, good).is_err());
        assert!(judge(true, Tally { skipped: 1, ..good }).is_err());
        assert!(judge(false, Tally { failed: 1, ..good }).is_err());
        assert!(judge(true, Tally::default()).is_err());
    }
}
