//! Every test as a process of its own, over a small pool: its own group, its own time limit, its exact duration.
//! No test is tried twice. What it says is shown if it fails.

use std::collections::BTreeMap;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};

use crate::process;
use crate::programs::TestProgram;
use crate::tally::Tally;
use crate::{watchdog, workspace};

/// The longest wait inside a test is two minutes, for a failover on a busy machine; twice that, and it hangs.
pub(crate) const BOUND: Duration = Duration::from_secs(300);
/// A test that takes longer on a quiet machine belongs into `cargo xtask prove`.
const SLOW: Duration = Duration::from_secs(20);
const SLOWEST: usize = 10;
/// The module whose tests are no part of the daily run.
const DEEP: &str = "deep";
/// A line of progress after so many tests.
const PROGRESS: usize = 200;

/// One test.
#[derive(Clone, Debug)]
pub(crate) struct Case<'a> {
    pub program: &'a TestProgram,
    pub name: String,
}

impl Case<'_> {
    pub(crate) fn title(&self) -> String {
        format!("{} {}", self.program.title(), self.name)
    }

    fn repeat(&self) -> String {
        format!("{} -- --exact {}", self.program.command_line(), self.name)
    }
}

/// What became of it.
#[derive(Debug)]
pub(crate) struct Verdict {
    pub title: String,
    pub took: Duration,
    pub passed: bool,
}

/// Chooses tests by their names.
pub(crate) type Choice = fn(&str) -> bool;

/// What is the same for every test of a run.
#[derive(Debug)]
pub(crate) struct Around<'a> {
    pub environment: &'a [(&'a str, String)],
    pub bound: Duration,
    pub wanted: Choice,
}

/// Tests that take more than a daily run has time for live in a module `deep`; `cargo xtask prove` runs them.
pub(crate) fn is_deep(name: &str) -> bool {
    name.split("::").any(|part| part == DEEP)
}

/// Runs the wanted tests of these programs.
pub(crate) fn run(programs: &[TestProgram], around: &Around<'_>) -> Result<(Tally, Vec<Verdict>)> {
    let mut cases = Vec::new();
    let (mut skipped, mut deep) = (0, 0);
    for program in programs {
        let (names, ignored) = program.list()?;
        if ignored > 0 {
            println!("  {}: {ignored} tests are marked to be left out", program.title());
        }
        skipped += ignored as u64;
        let (wanted, others): (Vec<_>, Vec<_>) =
            names.into_iter().partition(|name| (around.wanted)(name.as_str()));
        deep += others.iter().filter(|name| is_deep(name)).count();
        cases.extend(wanted.into_iter().map(|name| Case { program, name }));
    }
    if deep > 0 {
        println!("  {deep} tests are deep proofs: cargo xtask prove");
    }
    let known = Durations::read();
    // The longest first, so that none of them begins when all others are done.
    cases.sort_by_key(|case| std::cmp::Reverse(known.of(&case.title())));
    let (alone, together): (Vec<_>, Vec<_>) =
        cases.into_iter().partition(|case| needs_the_machine(case.program));
    println!(
        "  {} tests in {} programs, {} at a time",
        alone.len() + together.len(),
        programs.len(),
        slots()
    );
    let mut verdicts = pool(together, slots(), around)?;
    verdicts.extend(pool(alone, 1, around)?);
    known.write(&verdicts);
    let failed = verdicts.iter().filter(|verdict| !verdict.passed).count() as u64;
    let tally = Tally { passed: verdicts.len() as u64 - failed, failed, skipped };
    show_slowest(&mut verdicts);
    Ok((tally, verdicts))
}

/// These fill the machine by themselves.
const FILL_THE_MACHINE: [&str; 2] = ["onsale/kill", "onsale/redis"];

fn needs_the_machine(program: &TestProgram) -> bool {
    FILL_THE_MACHINE.contains(&program.title().as_str())
}

/// Many tests wait for a server more than they compute, so that there are more of them than cores.
fn slots() -> usize {
    2 * std::thread::available_parallelism().map_or(2, usize::from)
}

fn pool(cases: Vec<Case<'_>>, slots: usize, around: &Around<'_>) -> Result<Vec<Verdict>> {
    let queue = Mutex::new(VecDeque::from(cases));
    let verdicts = Mutex::new(Vec::new());
    let outcomes: Vec<Result<()>> = std::thread::scope(|scope| {
        let work = || {
            loop {
                let next = queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
                let Some(case) = next else { return Ok(()) };
                // The step's time is over: what has not begun would only be ended and complained of.
                if watchdog::is_over() {
                    return Ok(());
                }
                let verdict = attempt(&case, around)?;
                let mut verdicts = verdicts.lock().unwrap_or_else(PoisonError::into_inner);
                verdicts.push(verdict);
                if verdicts.len().is_multiple_of(PROGRESS) {
                    println!("  {} tests done", verdicts.len());
                }
            }
        };
        let workers: Vec<_> = (0..slots).map(|_| scope.spawn(work)).collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap_or_else(|_| anyhow::bail!("a worker panicked")))
            .collect()
    });
    outcomes.into_iter().collect::<Result<()>>()?;
    Ok(verdicts.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Runs one test in a folder of its own for temporary files: what it leaves there goes with it.
fn attempt(case: &Case<'_>, around: &Around<'_>) -> Result<Verdict> {
    // Short, because sockets are made in it, and the name of a socket has a hundred letters.
    let folder = tempfile::Builder::new().prefix("onsale-test-").tempdir().context("a folder for a test")?;
    let mut program = case.program.run().args(["--exact", &case.name, "--nocapture"]);
    program = program.env("TMPDIR", folder.path().display().to_string());
    for (name, value) in around.environment {
        program = program.env(name, value.clone());
    }
    let ended = process::bounded(&program, around.bound, Some(folder.path()))?;
    let tally = Tally::of(&ended.output);
    let passed =
        ended.status.is_some_and(|status| status.success()) && (tally.passed, tally.failed) == (1, 0);
    let took = ended.took;
    if !passed {
        let how = match ended.status {
            Some(status) => format!("{status}\n{}", ended.output),
            None => format!("ended after {:.0} s\n{}", took.as_secs_f64(), ended.report),
        };
        println!("\nFAILED {}: {how}\nrepeat it with: {}\n", case.title(), case.repeat());
    }
    Ok(Verdict { title: case.title(), took, passed })
}

fn show_slowest(verdicts: &mut [Verdict]) {
    verdicts.sort_by_key(|verdict| std::cmp::Reverse(verdict.took));
    println!("  the slowest tests:");
    for Verdict { title, took, .. } in verdicts.iter().take(SLOWEST) {
        let remark = if *took > SLOW { "  more than a test of the daily run should take" } else { "" };
        println!("  {:>7.1} s  {title}{remark}", took.as_secs_f64());
    }
}

/// How long each test took the last time, in milliseconds.
struct Durations(BTreeMap<String, u64>);

impl Durations {
    fn file() -> PathBuf {
        workspace::target().join("xtask").join("durations.json")
    }

    fn read() -> Self {
        let text = std::fs::read_to_string(Self::file()).unwrap_or_default();
        Self(serde_json::from_str(&text).unwrap_or_default())
    }

    /// Whoever is not known yet may be long.
    fn of(&self, title: &str) -> u64 {
        self.0.get(title).copied().unwrap_or(u64::MAX)
    }

    /// It only makes the next run faster, so that nothing is lost if it cannot be kept.
    fn write(mut self, verdicts: &[Verdict]) {
        self.0.extend(verdicts.iter().map(|one| (one.title.clone(), one.took.as_millis() as u64)));
        let file = Self::file();
        let folder = file.parent().map_or(Path::new("."), Path::new);
        if let (Ok(()), Ok(text)) = (std::fs::create_dir_all(folder), serde_json::to_string_pretty(&self.0)) {
            let _ = std::fs::write(file, text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deep_proof_is_known_by_its_module() {
        assert!(is_deep("deep::sentinels_of_redis") && is_deep("faults::deep::sentinels"));
        assert!(!is_deep("deeply::hidden") && !is_deep("a_deep_test"));
    }
}
