//! `cargo xtask mutants`: plants known bugs in a copy of the source, one at a time; each must be caught.
//! A bug that does not apply, does not compile or is not caught fails the run. Bugs in scripts need no build: the
//! test program, built once, takes its scripts from a folder.

mod patch;
mod scratch;
mod trial;

use std::collections::BTreeMap;
use std::path::PathBuf;
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
}

/// How long one command may take: the unplanted source is well below the quick bound,
/// so whoever exceeds it hangs.
const QUICK: Duration = Duration::from_secs(180);
const PATIENT: Duration = Duration::from_secs(900);

impl Options {
    pub fn bounded(quick: bool) -> Self {
        Self { only: None, quick }
    }

    pub fn command_line(&self) -> String {
        format!("cargo xtask mutants{}", if self.quick { " --quick" } else { "" })
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
