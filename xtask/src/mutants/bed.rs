//! Where bugs are planted: one copy of the source, and one of the scripts alone.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::patch::{CaughtBy, Patch, SCRIPTS};
use super::scratch::Scratch;
use super::trial::{self, Outcome};
use crate::programs::{self, TestProgram};
use crate::workspace;

#[derive(Debug)]
pub(crate) struct Bed {
    whole: Scratch,
    /// The scripts alone.
    scripts: Scratch,
    /// The test programs of the source as it is; empty before a bug in scripts needs one.
    programs: Vec<TestProgram>,
    /// Commands that were green without a bug, and whether on scripts of a folder.
    healthy: BTreeSet<(CaughtBy, bool)>,
    bound: Duration,
}

/// What became of one bug.
#[derive(Debug)]
pub(crate) struct Row {
    pub name: String,
    pub caught_by: String,
    pub seconds: f64,
    pub verdict: String,
    pub good: bool,
}

impl Bed {
    pub(crate) fn new(bound: Duration) -> Self {
        let folder = workspace::target().join("mutants");
        Self {
            whole: Scratch::new(&workspace::root(), &folder),
            scripts: Scratch::of_part(&workspace::root(), &folder.join("scripts"), SCRIPTS),
            programs: Vec::new(),
            healthy: BTreeSet::new(),
            bound,
        }
    }

    /// Plants one bug where it belongs and tries it.
    pub(crate) fn plant(&mut self, patch: &Patch) -> Row {
        let started = Instant::now();
        let (verdict, good) = match self.outcome(patch) {
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

    /// The copies are equal to the source again.
    pub(crate) fn heal(&self) -> Result<()> {
        self.whole.sync()?;
        self.scripts.sync()
    }

    fn outcome(&mut self, patch: &Patch) -> Result<Outcome> {
        self.heal()?;
        self.prove_healthy(&patch.caught_by, patch.of_scripts)?;
        let scratch = if patch.of_scripts { &self.scripts } else { &self.whole };
        scratch.apply(&patch.path)?;
        self.attempt(&patch.caught_by, patch.of_scripts)
    }

    /// A command must be green on the source as it is, or its red would mean nothing.
    fn prove_healthy(&mut self, command: &CaughtBy, of_scripts: bool) -> Result<()> {
        let this = (command.clone(), of_scripts);
        if self.healthy.contains(&this) {
            return Ok(());
        }
        if of_scripts && self.programs.is_empty() {
            self.programs = programs::build()?;
        }
        println!("        without a bug: {command}");
        let started = Instant::now();
        let outcome = self.attempt(command, of_scripts)?;
        if outcome != Outcome::Green {
            bail!("`{command}` without any planted bug: {outcome}");
        }
        println!("        green in {:.1} s", started.elapsed().as_secs_f64());
        self.healthy.insert(this);
        Ok(())
    }

    fn attempt(&self, command: &CaughtBy, of_scripts: bool) -> Result<Outcome> {
        match command {
            CaughtBy::Test(words) if of_scripts => {
                let program = trial::find(&self.programs, words);
                let program = program.with_context(|| format!("`{command}` names no test program"))?;
                trial::scripts(program, words, &self.scripts.work.join(SCRIPTS), self.bound)
            }
            CaughtBy::Test(words) => trial::tests(&self.whole, words, self.bound),
            CaughtBy::Sim(words) => trial::simulator(&self.whole, words, self.bound),
        }
    }
}
