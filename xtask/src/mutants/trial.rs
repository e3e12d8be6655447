//! Runs the command that must notice a bug: builds first, so that a compile error is never taken for a catch.

use std::fmt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

use anyhow::Result;

use super::scratch::Scratch;
use crate::programs::{self, TestProgram};
use crate::step::Program;
use crate::tally::Tally;
use crate::{process, workspace};

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outcome {
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

/// Builds the simulator with the bug and runs it.
pub(super) fn simulator(scratch: &Scratch, words: &[String], bound: Duration) -> Result<Outcome> {
    let build = here(scratch, Program::new("cargo build -q --workspace --bin onsale-sim"));
    if build.run().is_err() {
        return Ok(Outcome::DoesNotCompile);
    }
    let binary = scratch.target.join("debug").join("onsale-sim").display().to_string();
    let run = Program::new("").arg(binary).args(words.to_vec()).folder(&scratch.work);
    let ended = process::bounded(&run, bound, None)?;
    Ok(ended.status.map_or(Outcome::TookTooLong, of_simulator))
}

/// Builds the test program with the bug and runs it.
pub(super) fn tests(scratch: &Scratch, words: &[String], bound: Duration) -> Result<Outcome> {
    let build = Program::new("cargo test -q --no-run --message-format json-render-diagnostics");
    let Ok(programs) = programs::built(&here(scratch, build.args(choice(words))), &scratch.work) else {
        return Ok(Outcome::DoesNotCompile);
    };
    let Some(program) = find(&programs, words) else {
        return Ok(Outcome::BadCommand(format!("`cargo test {}` is not one test program", words.join(" "))));
    };
    let ended = process::bounded(&program.run().args(split(words).1), bound, None)?;
    Ok(ended.status.map_or(Outcome::TookTooLong, |status| of_tests(status, Tally::of(&ended.output))))
}

/// Runs a test program of the source as it is, which takes its scripts from a folder.
pub(super) fn scripts(
    program: &TestProgram,
    words: &[String],
    scripts: &Path,
    bound: Duration,
) -> Result<Outcome> {
    let run = program.run().args(split(words).1).env("ONSALE_LUA", scripts.display().to_string());
    let ended = process::bounded(&run, bound, None)?;
    if ended.output.contains(NO_LUA) {
        return Ok(Outcome::DoesNotCompile);
    }
    Ok(ended.status.map_or(Outcome::TookTooLong, |status| of_tests(status, Tally::of(&ended.output))))
}

/// The test program that the arguments of `cargo test` choose.
pub(super) fn find<'a>(programs: &'a [TestProgram], words: &[String]) -> Option<&'a TestProgram> {
    let line = format!("cargo test {}", split(words).0.join(" "));
    programs.iter().find(|program| program.command_line() == line)
}

/// What to build. A package by itself gets its libraries with other features than the workspace, and they would be
/// built once more; a test target can be named in the workspace, a library cannot.
fn choice(words: &[String]) -> Vec<String> {
    let (chooses, _) = split(words);
    match chooses.iter().position(|word| word == "--test") {
        Some(at) => [vec!["--workspace".to_owned()], chooses[at..].to_vec()].concat(),
        None => chooses,
    }
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

/// Intermediate files lie with those of the source, so that libraries are built once for both; what is finished lies
/// apart, so that no binary with a bug in it is taken for ours.
fn here(scratch: &Scratch, program: Program) -> Program {
    let program = program.env("CARGO_BUILD_BUILD_DIR", workspace::target().display().to_string());
    program.folder(&scratch.work).env("CARGO_TARGET_DIR", scratch.target.display().to_string())
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
    fn a_test_target_is_built_with_the_features_of_the_workspace() {
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(choice(&words("-p x --test seats tables")), words("--workspace --test seats"));
        assert_eq!(choice(&words("-p x --lib tables")), words("-p x --lib"));
    }
}
