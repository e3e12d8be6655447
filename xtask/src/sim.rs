//! `cargo xtask sim`: the whole system on one thread from a seed. The same seed gives the same run.

use anyhow::Result;

use crate::step::Program;

#[derive(clap::Args, Debug)]
pub struct Options {
    /// The seed; a failed run prints the one to repeat.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many steps each seed takes.
    #[arg(long, default_value_t = 20_000)]
    steps: u64,
    /// How many seeds, counted up from `--seed`.
    #[arg(long, default_value_t = 1)]
    seeds: u64,
}

pub fn run(options: &Options) -> Result<()> {
    let Options { seed, steps, seeds } = options;
    let line = format!("cargo run --release -p onsale-sim -- --seed {seed} --seeds {seeds} --steps {steps}");
    let program = Program::new(&line);
    println!("{program}");
    program.run()
}
