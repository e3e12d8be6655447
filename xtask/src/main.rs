//! `cargo xtask`: the project's own commands, one file each.
//! Called by people, by `.ci/run` and by nobody else; it never becomes part of what we ship.

mod bench;
mod bundle;
mod cases;
mod clients;
mod install;
mod mutants;
mod pages;
mod process;
mod programs;
mod prove;
mod run;
mod sim;
mod step;
mod tally;
mod test;
mod tidy;
mod watchdog;
mod workspace;

use clap::{Parser, Subcommand};

/// Everything there is to remember about working on Onsale.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Build the server and start it with the demo listings.
    Run(run::Options),
    /// Install what is missing and run every check there is.
    Test,
    /// The deep proofs of a commit, part by part; an interrupted run goes on where it was.
    Prove(prove::Options),
    /// What the build server runs; the same as `test`.
    Ci,
    /// Install the services that tests and benchmarks start for themselves.
    Tools,
    /// Lint the OpenAPI document, and make, check and run clients from it.
    Clients,
    /// Type README and the tours as they are written, against servers.
    Pages(pages::Options),
    /// Our own rules about the source tree.
    Tidy,
    /// Run the simulator from a seed.
    Sim(sim::Options),
    /// Plant known bugs in a copy of the source; each must be caught.
    Mutants(mutants::Options),
    /// Measure Onsale and its rivals in one run.
    Bench(bench::Options),
    /// Make the one self-contained binary, `dist/onsale`.
    Package,
}

fn main() -> anyhow::Result<()> {
    match Arguments::parse().command {
        Verb::Run(options) => run::run(&options),
        Verb::Test | Verb::Ci => test::run(),
        Verb::Prove(options) => prove::run(&options),
        Verb::Tools => install::missing(),
        Verb::Clients => clients::run(),
        Verb::Pages(options) => pages::run(&options),
        Verb::Tidy => tidy::run(),
        Verb::Sim(options) => sim::run(&options),
        Verb::Mutants(options) => mutants::run(&options),
        Verb::Bench(options) => bench::run(&options),
        Verb::Package => bundle::run(),
    }
}
