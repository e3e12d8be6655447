//! The units of each part and how one is tried.

use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::Part;
use crate::cases::Choice;
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
/// Who needs a Redis, a Valkey, sentinels or a cluster.
const TOPOLOGIES: [&str; 2] = ["onsale-engine-redis/", "onsale/redis"];
/// The first seed of fuzzing lies behind those of the daily runs and of the differential.
const FUZZ_FIRST: u64 = 1_000_000;
const FUZZ_SEEDS: u64 = 50;
/// Who takes its dice from `ONSALE_SEED`: test programs, and which of their tests.
const FUZZED: [(&str, Choice); 14] = [
    ("onsale-domain/histories", every),
    ("onsale-domain/stock_histories", every),
    ("onsale-domain/order_histories", every),
    ("onsale-domain/registration", every),
    ("onsale-domain/auction", |name| !name.starts_with("tables::")),
    ("onsale-engine/lib", |name| name.contains("crash_tests::")),
    ("onsale-engine-redis/live", |name| name.starts_with("strange::")),
    ("onsale-engine-redis/seats", is_differential),
    ("onsale-engine-redis/kinds", is_differential),
    ("onsale-engine-redis/money", is_differential),
    // Bytes that decoders read.
    ("onsale-engine/damaged", every),
    ("onsale-engine-redis/damaged", every),
    ("onsale-edge/damaged", every),
    ("onsale/it", |name| name.starts_with("bad_input::bytes::")),
];
/// The longest history takes some minutes on a busy machine.
const BOUND: Duration = Duration::from_secs(1_800);
const KILL: &str = "onsale/kill";

/// What is built once for all parts.
#[derive(Debug)]
pub(super) struct Workshop {
    programs: Vec<TestProgram>,
    bed: Bed,
}

impl Workshop {
    pub(super) fn build() -> Result<Self> {
        Ok(Self { programs: programs::build()?, bed: mutants::bed() })
    }

    pub(super) fn units(&self, part: Part) -> Result<Vec<String>> {
        Ok(match part {
            Part::Planted => mutants::all()?.into_iter().map(|patch| patch.name).collect(),
            Part::Simulation => (0..SEEDS_ALL / SEEDS).map(|unit| (1 + unit * SEEDS).to_string()).collect(),
            Part::Differential => DIFFERENTIAL.map(str::to_owned).to_vec(),
            Part::Topologies => self.topologies()?,
            Part::Fuzzing => {
                (FUZZ_FIRST..FUZZ_FIRST + FUZZ_SEEDS).map(|seed| format!("seed {seed}")).collect()
            }
            Part::Kills => (1..=KILLS).map(|unit| unit.to_string()).collect(),
        })
    }

    pub(super) fn try_unit(&mut self, part: Part, unit: &str) -> Result<()> {
        match part {
            Part::Planted => self.plant(unit),
            Part::Simulation => {
                let seed = unit.parse().context("a unit of the simulation is its first seed")?;
                sim::program(sim::Options { seed, seeds: SEEDS, steps: STEPS }).run()
            }
            Part::Differential => self.tests(unit, &[("ONSALE_DIFFERENTIAL", "full")], every),
            Part::Topologies => self.tests(unit, &[("ONSALE_CONTRACT", "full")], every),
            Part::Fuzzing => {
                let seed = unit.strip_prefix("seed ").context("a unit of fuzzing is its seed")?;
                for (program, wanted) in FUZZED {
                    self.tests(program, &[("ONSALE_SEED", seed)], wanted)
                        .with_context(|| format!("{program} from ONSALE_SEED={seed}"))?;
                }
                Ok(())
            }
            Part::Kills => {
                let rounds = ROUNDS.to_string();
                self.tests(KILL, &[("ONSALE_KILL_ROUNDS", &rounds), ("ONSALE_SEED", unit)], every)
            }
        }
    }

    /// Whoever needs servers, and wherever else there is a deep test: none of them is left to nobody.
    fn topologies(&self) -> Result<Vec<String>> {
        let mut titles = Vec::new();
        for program in &self.programs {
            let title = program.title();
            if TOPOLOGIES.iter().any(|start| title.starts_with(start))
                || program.list()?.0.iter().any(|name| cases::is_deep(name))
            {
                titles.push(title);
            }
        }
        Ok(titles)
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

    fn tests(&self, title: &str, settings: &[(&'static str, &str)], wanted: Choice) -> Result<()> {
        let program = self.programs.iter().find(|program| program.title() == title);
        let program = program.with_context(|| format!("no test program {title}"))?.clone();
        let environment: Vec<_> = settings.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        let around = cases::Around { environment: &environment, bound: BOUND, wanted };
        let (tally, _) = cases::run(&[program], &around)?;
        test::judge(tally)
    }
}

fn every(_: &str) -> bool {
    true
}

fn is_differential(name: &str) -> bool {
    name.contains("differential::")
}
