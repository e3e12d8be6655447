//! The units of each part and how one is tried.

use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::Part;
use crate::mutants::{self, Bed};
use crate::programs::{self, TestProgram};
use crate::{cases, sim, test};

/// Seeds of one unit of the simulation: a minute or two.
const SEEDS: u64 = 20;
const SEEDS_ALL: u64 = 400;
const STEPS: u64 = 50_000;
/// Rounds of one unit of kills, and how many units.
const ROUNDS: u32 = 10;
const KILLS: u32 = 5;
/// Who compares the scripts with the domain.
const DIFFERENTIAL: [&str; 3] =
    ["onsale-engine-redis/seats", "onsale-engine-redis/kinds", "onsale-engine-redis/money"];
/// The longest history takes some minutes on a busy machine.
const BOUND: Duration = Duration::from_secs(1_800);
const KILL: &str = "onsale-server/kill";

/// What is built once for all parts.
#[derive(Debug)]
pub struct Workshop {
    programs: Vec<TestProgram>,
    bed: Bed,
}

impl Workshop {
    pub fn build() -> Result<Self> {
        Ok(Self { programs: programs::build()?, bed: mutants::bed() })
    }

    pub fn units(&self, part: Part) -> Result<Vec<String>> {
        Ok(match part {
            Part::Planted => mutants::all()?.into_iter().map(|patch| patch.name).collect(),
            Part::Simulation => (0..SEEDS_ALL / SEEDS).map(|unit| (1 + unit * SEEDS).to_string()).collect(),
            Part::Differential => DIFFERENTIAL.map(str::to_owned).to_vec(),
            Part::Topologies => self.programs.iter().map(TestProgram::title).collect(),
            Part::Kills => (1..=KILLS).map(|unit| unit.to_string()).collect(),
        })
    }

    pub fn try_unit(&mut self, part: Part, unit: &str) -> Result<()> {
        match part {
            Part::Planted => self.plant(unit),
            Part::Simulation => {
                let seed = unit.parse().context("a unit of the simulation is its first seed")?;
                sim::program(sim::Options { seed, seeds: SEEDS, steps: STEPS }).run()
            }
            Part::Differential => self.tests(unit, &[("ONSALE_DIFFERENTIAL", "full".to_owned())]),
            Part::Topologies => {
                let dice = ("ONSALE_SEED", "fresh".to_owned());
                self.tests(unit, &[("ONSALE_CONTRACT", "full".to_owned()), dice])
            }
            Part::Kills => self.tests(KILL, &[("ONSALE_KILL_ROUNDS", ROUNDS.to_string())]),
        }
    }

    fn plant(&mut self, name: &str) -> Result<()> {
        let patch = mutants::all()?.into_iter().find(|patch| patch.name == name);
        let row = self.bed.plant(&patch.with_context(|| format!("no planted bug {name}"))?);
        self.bed.heal()?;
        println!("  {} in {:.1} s", row.verdict, row.seconds);
        if !row.good {
            bail!("{}", row.verdict);
        }
        Ok(())
    }

    fn tests(&self, title: &str, environment: &[(&str, String)]) -> Result<()> {
        let program = self.programs.iter().find(|program| program.title() == title);
        let program = program.with_context(|| format!("no test program {title}"))?.clone();
        let (_, ignored) = program.list()?;
        let (tally, verdicts) = cases::run(&[program], &cases::Around { environment, bound: BOUND })?;
        if verdicts.is_empty() && ignored == 0 {
            return Ok(());
        }
        test::judge(tally)
    }
}
