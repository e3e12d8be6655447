//! `cargo xtask mutants`: plants known bugs in a copy of the source, one at a time; each must be caught.
//! A bug that does not apply, does not compile or is not caught fails the run.

mod patch;
mod scratch;
mod trial;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::workspace;
use patch::Patch;
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
    let bound = if options.quick { QUICK } else { PATIENT };
    let scratch = Scratch::new(&workspace::root(), &workspace::target().join("mutants"));
    healthy(&scratch, &patches, bound)?;
    let mut rows = Vec::new();
    for (index, patch) in patches.iter().enumerate() {
        println!("  [{}/{}] {}: {}", index + 1, patches.len(), patch.name, patch.breaks);
        let row = plant(&scratch, patch, bound);
        println!("        {} in {:.1} s", row.verdict, row.seconds);
        rows.push(row);
    }
    scratch.sync()?;
    report(&rows)
}

/// Every command must be green on the source as it is, or its red would mean nothing.
fn healthy(scratch: &Scratch, patches: &[Patch], bound: Duration) -> Result<()> {
    scratch.sync()?;
    let commands: BTreeSet<_> = patches.iter().map(|patch| &patch.caught_by).collect();
    for command in commands {
        println!("  without a bug: {command}");
        let started = Instant::now();
        let outcome = trial::attempt(scratch, command, bound)?;
        if outcome != Outcome::Green {
            bail!("`{command}` without any planted bug: {outcome}");
        }
        println!("        green in {:.1} s", started.elapsed().as_secs_f64());
    }
    Ok(())
}

fn plant(scratch: &Scratch, patch: &Patch, bound: Duration) -> Row {
    let started = Instant::now();
    let outcome = scratch
        .sync()
        .and_then(|()| scratch.apply(&patch.path))
        .and_then(|()| trial::attempt(scratch, &patch.caught_by, bound));
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
