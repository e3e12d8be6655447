//! Runs the command that must notice a bug: builds first, so that a compile error is never taken for a catch.

use std::fmt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::patch::CaughtBy;
use super::scratch::Scratch;
use crate::step::Program;
use crate::tally::Tally;

#[derive(Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Everything passed.
    Green,
    /// A test or the auditor said no, or an assertion stopped the program.
    Red,
    DoesNotCompile,
    NothingRan,
    TookTooLong,
    /// The command itself was wrong, so it said nothing about the source.
    BadCommand(String),
}

/// Builds and runs `command` in the scratch copy.
pub fn attempt(scratch: &Scratch, command: &CaughtBy, bound: Duration) -> Result<Outcome> {
    let build = match command {
        CaughtBy::Sim(_) => Program::new("cargo build -p onsale-sim --bin onsale-sim"),
        CaughtBy::Test(words) => Program::new("cargo test --no-run").args(before_filters(words)),
    };
    if !here(scratch, build).command().stdin(Stdio::null()).status()?.success() {
        return Ok(Outcome::DoesNotCompile);
    }
    match command {
        CaughtBy::Sim(words) => {
            let binary = scratch.target.join("debug").join("onsale-sim").display().to_string();
            let (ended, _) = bounded(here(scratch, Program::new("").arg(binary).args(words.clone())), bound)?;
            Ok(ended.map_or(Outcome::TookTooLong, of_simulator))
        }
        CaughtBy::Test(words) => {
            let (ended, output) =
                bounded(here(scratch, Program::new("cargo test").args(words.clone())), bound)?;
            let mut tally = Tally::default();
            output.lines().for_each(|line| tally.see(line));
            Ok(ended.map_or(Outcome::TookTooLong, |status| of_tests(status, tally)))
        }
    }
}

fn here(scratch: &Scratch, program: Program) -> Program {
    program.folder(&scratch.work).env("CARGO_TARGET_DIR", scratch.target.display().to_string())
}

/// Test names do not matter for building; everything from `--` on belongs to the test program.
fn before_filters(words: &[String]) -> Vec<String> {
    words.iter().take_while(|word| *word != "--").cloned().collect()
}

fn of_simulator(status: ExitStatus) -> Outcome {
    match (status.code(), status.signal()) {
        (Some(0), _) => Outcome::Green,
        // clap's answer to arguments it does not know.
        (Some(2), _) => Outcome::BadCommand("the simulator does not know these arguments".to_owned()),
        _ => Outcome::Red,
    }
}

fn of_tests(status: ExitStatus, tally: Tally) -> Outcome {
    match (status.success(), tally.failed, tally.passed) {
        (true, _, 0) => Outcome::NothingRan,
        (true, _, _) => Outcome::Green,
        // A test program that aborts prints no result line, but a signal is a verdict all the same.
        (false, 0, _) if status.signal().is_none() && status.code() != Some(101) => {
            Outcome::BadCommand(format!("cargo test ended with {status}"))
        }
        (false, _, _) => Outcome::Red,
    }
}

/// Runs a program in its own process group and ends the whole group when the time is over.
fn bounded(program: Program, bound: Duration) -> Result<(Option<ExitStatus>, String)> {
    let log = tempfile::NamedTempFile::new().context("a file for the output")?;
    let mut child = program
        .command()
        .stdin(Stdio::null())
        .stdout(log.reopen()?)
        .stderr(log.reopen()?)
        .process_group(0)
        .spawn()
        .with_context(|| format!("`{program}` could not be started"))?;
    let started = Instant::now();
    let ended = loop {
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if started.elapsed() > bound {
            let group = format!("-{}", child.id());
            Command::new("kill").args(["-9", "--", &group]).status().context("ending a process group")?;
            child.wait()?;
            break None;
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    let output = std::fs::read(log.path()).context("reading the output")?;
    Ok((ended, String::from_utf8_lossy(&output).into_owned()))
}

impl fmt::Display for Outcome {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Green => out.write_str("green"),
            Self::Red => out.write_str("red"),
            Self::DoesNotCompile => out.write_str("does not compile"),
            Self::NothingRan => out.write_str("no test ran"),
            Self::TookTooLong => out.write_str("took too long"),
            Self::BadCommand(why) => out.write_str(why),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(code: i32) -> ExitStatus {
        ExitStatus::from_raw(code << 8)
    }

    #[test]
    fn a_usage_error_is_not_a_catch() {
        assert_eq!(of_simulator(status(0)), Outcome::Green);
        assert_eq!(of_simulator(status(1)), Outcome::Red);
        assert_eq!(of_simulator(status(101)), Outcome::Red);
        assert!(matches!(of_simulator(status(2)), Outcome::BadCommand(_)));
    }

    #[test]
    fn a_test_filter_that_matches_nothing_is_not_green() {
        assert_eq!(of_tests(status(0), Tally::default()), Outcome::NothingRan);
        assert_eq!(of_tests(status(0), Tally { passed: 1, ..Tally::default() }), Outcome::Green);
        assert_eq!(of_tests(status(101), Tally { failed: 1, ..Tally::default() }), Outcome::Red);
    }

    #[test]
    fn whoever_hangs_is_ended_with_all_its_children() {
        let hang = Program::new("sh -c").arg("sleep 60 & sleep 60");
        let (ended, _) = bounded(hang, Duration::from_millis(100)).expect("the group is ended");
        assert!(ended.is_none());
    }
}
