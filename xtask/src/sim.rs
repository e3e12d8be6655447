//! `cargo xtask sim`: the whole system on one thread from a seed. The same seed gives the same run.

use anyhow::Result;

use crate::programs;
use crate::step::{Program, Steps};

use std::time::Duration;

#[derive(clap::Args, Clone, Copy, Debug)]
pub(crate) struct Options {
    /// The seed; a failed run prints the one to repeat.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// How many steps each seed takes.
    #[arg(long, default_value_t = 20_000)]
    pub steps: u64,
    /// How many seeds, counted up from `--seed`.
    #[arg(long, default_value_t = 1)]
    pub seeds: u64,
}

/// Half a second a seed: both together take a quarter of a minute.
pub(crate) const DAILY: Options = Options { seed: 1, seeds: 20, steps: 20_000 };
/// Seeds of their own, see `is_keeping` in `crates/sim/src/world.rs`.
pub(crate) const DAILY_KEPT: Options = Options { seed: 56, seeds: 4, steps: 20_000 };

/// Building the simulator from nothing; how long it then runs is up to the caller.
const BUDGET: Duration = Duration::from_secs(24 * 3600);

/// The simulator of the test build, so that nothing is built in another profile.
pub(crate) fn program(options: Options) -> Program {
    let Options { seed, steps, seeds } = options;
    let binary = programs::binary("onsale-sim").display().to_string();
    Program::new("").arg(binary).args(["--seed", &seed.to_string()]).args([
        "--seeds",
        &seeds.to_string(),
        "--steps",
        &steps.to_string(),
    ])
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let mut steps = Steps::new(2);
    steps.run("build", BUDGET, &Program::new("cargo build --workspace --bin onsale-sim"))?;
    steps.run("simulation", BUDGET, &program(*options))
}
