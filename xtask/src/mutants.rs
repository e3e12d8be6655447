//! `cargo xtask mutants`: plants known bugs in a copy of the source, one at a time; each must be caught.
//! A bug that does not apply, does not compile or is not caught fails the run. Bugs in scripts need no build: the
//! test program, built once, takes its scripts from a folder.

mod patch;
mod scratch;
mod trial;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::workspace;
use patch::{CaughtBy, Patch, SCRIPTS};
use scratch::Scratch;
use trial::Outcome;

#[derive(clap::Args, Debug)]
pub struct Options {
    /// Only bugs whose name contains this.
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
    /// A shorter bound on each command, as in the daily test run.
    #[arg(long)]
    quick: bool,
    /// One part of them all, `1/3` to `3/3`.
    #[arg(long, value_name = "PART/PARTS", value_parser = share)]
    share: Option<Share>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Share {
    part: usize,
    parts: usize,
}

/// All planted bugs take longer than everything else together, so that a daily run tries a sixth of them, and the
/// next commit another sixth.
const DAILY_PARTS: usize = 6;

fn share(text: &str) -> Result<Share, String> {
    let numbers =
        text.split_once('/').and_then(|(part, parts)| Some((part.parse().ok()?, parts.parse().ok()?)));
    match numbers {
        Some((part, parts)) if part >= 1 && part <= parts => Ok(Share { part, parts }),
        Some(_) | None => Err("two numbers, the first at most the second: 1/3".to_owned()),
    }
}

/// How many commits there are; none is as good as the first.
fn commits() -> usize {
    let counted =
        Command::new("git").args(["rev-list", "--count", "HEAD"]).current_dir(workspace::root()).output();
    counted.ok().and_then(|output| String::from_utf8(output.stdout).ok()?.trim().parse().ok()).unwrap_or(0)
}

/// How long one command may take: the unplanted source is well below the quick bound,
/// so whoever exceeds it hangs.
const QUICK: Duration = Duration::from_secs(180);
const PATIENT: Duration = Duration::from_secs(900);

impl Options {
    /// What the test run tries: a part of them in the daily one, all of them in the long one.
    pub fn bounded(quick: bool) -> Self {
        let share = quick.then(|| Share { part: commits() % DAILY_PARTS + 1, parts: DAILY_PARTS });
        Self { only: None, quick, share }
    }

    pub fn command_line(&self) -> String {
        let quick = if self.quick { " --quick" } else { "" };
        let share = self.share.map(|share| format!(" --share {}/{}", share.part, share.parts));
        format!("cargo xtask mutants{quick}{}", share.unwrap_or_default())
    }
}

/// One row of the closing table.
struct Row {
    name: String,
    caught_by: String,
    seconds: f64,
    verdict: String,
    good: bool,
}

pub fn run(options: &Options) -> Result<()> {
    let mut patches = patch::all(&workspace::root())?;
    if let Some(part) = &options.only {
        patches.retain(|patch| patch.name.contains(part.as_str()));
    }
    if let Some(Share { part, parts }) = options.share {
        // Neighbours are of one kind and need the same builds: each part gets some of every kind.
        let mut number = 0;
        patches.retain(|_| {
            number += 1;
            number % parts == part % parts
        });
    }
    if patches.is_empty() {
        bail!("no planted bug to try");
    }
    // Programs are built once from the source as it is, so those who need no more come first.
    patches.sort_by_key(|patch| !patch.of_scripts);
    let bound = if options.quick { QUICK } else { PATIENT };
    let folder = workspace::target().join("mutants");
    let mut bed = Bed {
        whole: Scratch::new(&workspace::root(), &folder),
        scripts: Scratch::of_part(&workspace::root(), &folder.join("scripts"), SCRIPTS),
        programs: BTreeMap::new(),
        bound,
    };
    bed.healthy(&patches)?;
    let mut rows = Vec::new();
    for (index, patch) in patches.iter().enumerate() {
        println!("  [{}/{}] {}: {}", index + 1, patches.len(), patch.name, patch.breaks);
        let row = plant(&bed, patch);
        println!("        {} in {:.1} s", row.verdict, row.seconds);
        rows.push(row);
    }
    bed.whole.sync()?;
    report(&rows)
}

/// Where bugs are planted.
struct Bed {
    whole: Scratch,
    /// The scripts alone.
    scripts: Scratch,
    /// By the arguments of `cargo test`, what is run on scripts of a folder.
    programs: BTreeMap<CaughtBy, PathBuf>,
    bound: Duration,
}

impl Bed {
    /// Every command must be green on the source as it is, or its red would mean nothing.
    fn healthy(&mut self, patches: &[Patch]) -> Result<()> {
        self.whole.sync()?;
        self.scripts.sync()?;
        let mut seen = Vec::new();
        for patch in patches {
            let this = (&patch.caught_by, patch.of_scripts);
            if seen.contains(&this) {
                continue;
            }
            seen.push(this);
            let (command, of_scripts) = this;
            println!("  without a bug: {command}");
            let started = Instant::now();
            if let (CaughtBy::Test(words), true) = this {
                let program = trial::built(&self.whole, words)?;
                println!("        built in {:.1} s", started.elapsed().as_secs_f64());
                self.programs.insert(command.clone(), program);
            }
            let started = Instant::now();
            let outcome = self.attempt(command, of_scripts)?;
            if outcome != Outcome::Green {
                bail!("`{command}` without any planted bug: {outcome}");
            }
            println!("        green in {:.1} s", started.elapsed().as_secs_f64());
        }
        Ok(())
    }

    fn attempt(&self, command: &CaughtBy, of_scripts: bool) -> Result<Outcome> {
        match (command, self.programs.get(command)) {
            (CaughtBy::Test(words), Some(program)) if of_scripts => {
                let folder = self.scripts.work.join(SCRIPTS);
                trial::attempt_scripts(&self.whole, program, words, &folder, self.bound)
            }
            _ => trial::attempt(&self.whole, command, self.bound),
        }
    }

    /// Plants one bug where it belongs and tries it.
    fn plant(&self, patch: &Patch) -> Result<Outcome> {
        let scratch = if patch.of_scripts { &self.scripts } else { &self.whole };
        scratch.sync()?;
        scratch.apply(&patch.path)?;
        self.attempt(&patch.caught_by, patch.of_scripts)
    }
}

fn plant(bed: &Bed, patch: &Patch) -> Row {
    let started = Instant::now();
    let outcome = bed.plant(patch);
    let (verdict, good) = match outcome {
        Ok(Outcome::Red) => ("caught".to_owned(), true),
        Ok(Outcome::Green) => ("SURVIVED".to_owned(), false),
        Ok(
            other @ (Outcome::DoesNotCompile
            | Outcome::NothingRan
            | Outcome::TookTooLong
            | Outcome::BadCommand(_)),
        ) => (format!("NO VERDICT: {other}"), false),
        Err(error) => (format!("NO VERDICT: {error:#}"), false),
    };
    let seconds = started.elapsed().as_secs_f64();
    Row { name: patch.name.clone(), caught_by: patch.caught_by.to_string(), seconds, verdict, good }
}

fn report(rows: &[Row]) -> Result<()> {
    let name = rows.iter().map(|row| row.name.len()).max().unwrap_or(0).max(4);
    let by = rows.iter().map(|row| row.caught_by.len()).max().unwrap_or(0).max(9);
    println!("\n  {:name$} | {:by$} | seconds | verdict", "name", "caught by");
    for row in rows {
        println!("  {:name$} | {:by$} | {:>7.1} | {}", row.name, row.caught_by, row.seconds, row.verdict);
    }
    let caught = rows.iter().filter(|row| row.good).count();
    println!("\n  planted bugs: {} caught, {} not", caught, rows.len() - caught);
    if caught < rows.len() {
        bail!("{} planted bugs were not caught", rows.len() - caught);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_one_of_its_parts() {
        assert_eq!(share("2/3"), Ok(Share { part: 2, parts: 3 }));
        for wrong in ["0/3", "4/3", "3", "a/b", "/", "1/0"] {
            assert!(share(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_daily_run_says_which_part_it_tries() {
        let line = Options::bounded(true).command_line();
        let parts = format!("/{DAILY_PARTS}");
        assert!(line.starts_with("cargo xtask mutants --quick --share ") && line.ends_with(&parts), "{line}");
        assert_eq!(Options::bounded(false).command_line(), "cargo xtask mutants");
    }
}
