//! `cargo xtask prove`: the deep proofs, part by part, of a commit. Each part is a list of units; what is done at a
//! commit is kept below `target/prove`, so that an interrupted run goes on where it was.

mod state;
mod units;

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::step::Program;
use crate::{install, watchdog};
use state::State;
use units::Workshop;

#[derive(clap::Args, Debug)]
pub(crate) struct Options {
    /// Only this part.
    #[arg(long, value_name = "NAME", value_enum)]
    part: Option<Part>,
    /// No unit begins after so many minutes; the next run goes on.
    #[arg(long, value_name = "N")]
    minutes: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Part {
    /// Every planted bug is caught.
    Planted,
    /// Four hundred seeds of fifty thousand steps.
    Simulation,
    /// Every history of the scripts against the domain.
    Differential,
    /// The whole contract and the long faults on every topology.
    Topologies,
    /// Random histories, bids and disk faults from fifty seeds that no daily run has.
    Fuzzing,
    /// Fifty kills.
    Kills,
}

const PARTS: [Part; 6] =
    [Part::Planted, Part::Simulation, Part::Differential, Part::Topologies, Part::Fuzzing, Part::Kills];

/// A unit takes minutes at most; its own commands have bounds of their own.
const UNIT: Duration = Duration::from_secs(3_600);

impl Part {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Planted => "planted",
            Self::Simulation => "simulation",
            Self::Differential => "differential",
            Self::Topologies => "topologies",
            Self::Fuzzing => "fuzzing",
            Self::Kills => "kills",
        }
    }

    /// What is true once all its units have passed.
    pub(crate) fn says(self) -> &'static str {
        match self {
            Self::Planted => "every planted bug is caught",
            Self::Simulation => "the simulation is right from 400 seeds of 50,000 steps",
            Self::Differential => "every history ends the same in the scripts and in the domain",
            Self::Topologies => "the whole contract and the long faults on every topology",
            Self::Fuzzing => "random histories, bids and disk faults from 50 seeds of their own",
            Self::Kills => "nothing that was answered is lost in 50 kills",
        }
    }
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let commit = commit()?;
    let deadline = options.minutes.map(|minutes| Instant::now() + Duration::from_secs(60 * minutes));
    install::missing()?;
    let mut workshop = Workshop::build()?;
    let mut states = Vec::new();
    for part in PARTS {
        let mut state = State::read(&commit, part, workshop.units(part)?)?;
        if options.part.is_none_or(|only| only == part) {
            prove(&mut state, &mut workshop, deadline)?;
        }
        states.push(state);
    }
    let text = state::report(&commit, &states)?;
    println!("\n{text}");
    match states.iter().map(State::failed).sum::<usize>() {
        0 => Ok(()),
        failed => bail!("{failed} units failed at {commit}"),
    }
}

/// Tries what has not passed yet.
fn prove(state: &mut State, workshop: &mut Workshop, deadline: Option<Instant>) -> Result<()> {
    for unit in state.open() {
        if deadline.is_some_and(|deadline| Instant::now() > deadline) {
            println!("\nthe time is over: {}", state.line());
            return Ok(());
        }
        let part = state.part;
        println!("\n{} {unit}", part.name());
        let begun = Instant::now();
        let outcome = watchdog::guard(&unit, UNIT, || workshop.try_unit(part, &unit));
        if let Err(error) = &outcome {
            println!("FAILED {unit}: {error:#}");
        }
        state.note(unit, outcome.is_ok(), begun.elapsed())?;
    }
    Ok(())
}

/// A proof is of a commit, so that there must be one.
fn commit() -> Result<String> {
    let changed = Program::new("git status --porcelain").read()?;
    if !changed.trim().is_empty() {
        bail!("there are changes that are not committed; a proof is of a commit, so commit them first");
    }
    let commit = Program::new("git rev-parse --short=12 HEAD").read().context("the commit to prove")?;
    Ok(commit.trim().to_owned())
}
