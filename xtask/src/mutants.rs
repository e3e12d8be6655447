//! `cargo xtask mutants`: plants known bugs in a copy of the source, one at a time; each must be caught.
//! A bug that does not apply, does not compile or is not caught fails the run. Bugs in scripts need no build: the
//! test programs, built once, take their scripts from a folder.

mod bed;
mod patch;
mod sample;
mod scratch;
mod trial;

use std::time::Duration;

use anyhow::{Result, bail};

use crate::workspace;
pub(crate) use bed::Bed;
use bed::Row;
use patch::Patch;

#[derive(clap::Args, Debug)]
pub(crate) struct Options {
    /// Only bugs whose name contains this.
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
    /// The few bugs that a daily run tries; the next number means others.
    #[arg(long, value_name = "NUMBER")]
    sample: Option<usize>,
}

/// How long one command may take: the unplanted source is well below it, so that a command above it hangs.
const BOUND: Duration = Duration::from_secs(180);

impl Options {
    /// What the daily run tries; the next commit tries others.
    pub(crate) fn sample() -> Self {
        Self { only: None, sample: Some(sample::commits()) }
    }

    pub(crate) fn command_line(&self) -> String {
        let only = self.only.as_ref().map(|name| format!(" --only {name}")).unwrap_or_default();
        let sample = self.sample.map(|number| format!(" --sample {number}")).unwrap_or_default();
        format!("cargo xtask mutants{only}{sample}")
    }
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let mut patches = all()?;
    if let Some(part) = &options.only {
        patches.retain(|patch| patch.name.contains(part.as_str()));
    }
    if let Some(number) = options.sample {
        patches = sample::choose(patches, number);
    }
    if patches.is_empty() {
        bail!("no planted bug to try");
    }
    let mut bed = bed();
    let mut rows = Vec::new();
    for (index, patch) in patches.iter().enumerate() {
        println!("  [{}/{}] {}: {}", index + 1, patches.len(), patch.name, patch.breaks);
        let row = bed.plant(patch);
        println!("        {} in {:.1} s", row.verdict, row.seconds);
        rows.push(row);
    }
    bed.heal()?;
    report(&rows)
}

/// Every planted bug; those that need no build come first.
pub(crate) fn all() -> Result<Vec<Patch>> {
    let mut patches = patch::all(&workspace::root())?;
    patches.sort_by_key(|patch| !patch.of_scripts);
    Ok(patches)
}

/// A bed with the usual bound, for a caller that plants by itself.
pub(crate) fn bed() -> Bed {
    Bed::new(BOUND)
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
    fn the_daily_run_says_which_sample_it_tries() {
        let line = Options { only: None, sample: Some(7) }.command_line();
        assert_eq!(line, "cargo xtask mutants --sample 7");
    }
}
