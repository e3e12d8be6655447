//! Runs the command that must notice a bug: builds first, so that a compile error is never taken for a catch.

use std::fmt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
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

/// What Redis says of a text that is no Lua: a bug that nobody could ship is no bug.
const NO_LUA: &str = "Error compiling script";

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
            Ok(ended.map_or(Outcome::TookTooLong, |status| of_tests(status, Tally::of(&output))))
        }
    }
}

/// The test program behind `words`, built once from the source as it is.
pub fn built(scratch: &Scratch, words: &[String]) -> Result<PathBuf> {
    let build = Program::new("cargo test --no-run --message-format json-render-diagnostics");
    let told = here(scratch, build.args(split(words).0)).read()?;
    program(&told).with_context(|| format!("`cargo test {}` is not one test program", words.join(" ")))
}

/// Runs a test program that takes its scripts from a folder.
pub fn attempt_scripts(
    scratch: &Scratch,
    program: &Path,
    words: &[String],
    scripts: &Path,
    bound: Duration,
) -> Result<Outcome> {
    let run = Program::new("").arg(program.display().to_string()).args(split(words).1);
    let run = here(scratch, run).env("ONSALE_LUA", scripts.display().to_string());
    let (ended, output) = bounded(run, bound)?;
    if output.contains(NO_LUA) {
        return Ok(Outcome::DoesNotCompile);
    }
    Ok(ended.map_or(Outcome::TookTooLong, |status| of_tests(status, Tally::of(&output))))
}

/// What chooses the test program, and what is left for the program itself.
fn split(words: &[String]) -> (Vec<String>, Vec<String>) {
    let (mut chooses, mut own) = (Vec::new(), Vec::new());
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-p" | "--test" => chooses.extend([Some(word), words.next()].into_iter().flatten().cloned()),
            "--" => own.extend(words.by_ref().cloned()),
            word if word.starts_with("--") => chooses.push(word.to_owned()),
            word => own.push(word.to_owned()),
        }
    }
    (chooses, own)
}

/// The only test program that cargo tells of.
fn program(told: &str) -> Option<PathBuf> {
    let mut found = told.lines().filter_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        let test = message["profile"]["test"].as_bool() == Some(true);
        message["executable"].as_str().filter(|_| test).map(PathBuf::from)
    });
    found.next().filter(|_| found.next().is_none())
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
    fn a_test_line_is_a_program_and_what_it_is_given() {
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(split(&words("-p x --test seats tables")), (words("-p x --test seats"), words("tables")));
        assert_eq!(split(&words("-p x --lib -- --exact a")), (words("-p x --lib"), words("--exact a")));
    }

    #[test]
    fn cargo_must_tell_of_one_test_program() {
        let line = |path: &str, test: bool| {
            format!("{{\"executable\":\"{path}\",\"profile\":{{\"test\":{test}}}}}\n")
        };
        let library = "{\"executable\":null,\"profile\":{\"test\":false}}\n";
        let one = line("a", true);
        assert_eq!(program(&format!("{library}{one}{}", line("server", false))), Some(PathBuf::from("a")));
        assert_eq!(program(&format!("{one}{}", line("b", true))), None);
        assert_eq!(program(library), None);
    }

    #[test]
    fn whoever_hangs_is_ended_with_all_its_children() {
        let hang = Program::new("sh -c").arg("sleep 60 & sleep 60");
        let (ended, _) = bounded(hang, Duration::from_millis(100)).expect("the group is ended");
        assert!(ended.is_none());
    }
}
