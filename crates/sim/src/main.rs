//! `onsale-sim`: runs seeds and says for each whether every answer and every restart was right.

use std::process::ExitCode;

use clap::Parser;
use onsale_sim::coverage::Coverage;
use onsale_sim::{Config, run};

/// Simulates the embedded engine from a seed, with failing disks and clocks, against a second model of the rules.
#[derive(Debug, Parser)]
#[command(name = "onsale-sim", after_help = "Example: onsale-sim --seed 1 --seeds 20 --steps 10000")]
struct Options {
    /// The first seed. Of every 64, the last eight (56 to 63) are about orders for awards and places.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many seeds to run, one after the other.
    #[arg(long, default_value_t = 1)]
    seeds: u64,
    #[arg(long, default_value_t = 20_000)]
    steps: u64,
    /// Print the whole history.
    #[arg(long)]
    trace: bool,
    /// Print what was met: verbs by outcome, faults, facts.
    #[arg(long)]
    coverage: bool,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let mut all = Coverage::default();
    for seed in options.seed..options.seed + options.seeds {
        match run(Config { seed, steps: options.steps, print: options.trace }) {
            Ok(run) => {
                let met = &run.coverage;
                let accepted = (100 * met.accepted).checked_div(met.commands).unwrap_or(0);
                let faults: Vec<_> =
                    met.faults.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
                println!(
                    "seed {seed} steps {} commands {} accepted {accepted}% restarts {} [{}] facts {} hash {:016x} ok",
                    run.steps,
                    met.commands,
                    met.restarts,
                    faults.join(", "),
                    run.facts,
                    run.hash
                );
                all.add(met);
            }
            Err(failure) => {
                failure.last.iter().for_each(|line| println!("  {line}"));
                println!("seed {seed} FAILED at step {}: {}", failure.step, failure.why);
                println!("repeat: cargo xtask sim --seed {seed} --steps {}", options.steps);
                return ExitCode::FAILURE;
            }
        }
    }
    if options.coverage {
        println!("{all}");
    }
    ExitCode::SUCCESS
}
