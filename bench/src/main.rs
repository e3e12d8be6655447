//! Measures Onsale and what one would run instead, interleaved in one run.
//! Started by `cargo xtask bench`; starts itself again as the empty HTTP server.

mod aims;
mod contest;
mod http;
mod latency;
mod machine;
mod ours;
mod process;
mod report;
mod rivals;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, Subcommand};

use contest::{Contestant, Plan};

/// The shipped server uses it too; the empty handler must not lose by its allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Measure everything.
    Run(Options),
    /// The empty HTTP handler, until its standard input closes.
    TrivialServer,
    /// Prints the memory of a held seat in a folder of its own.
    Memory { folder: PathBuf },
    /// Prints the memory of 10,000 auctions in a folder of its own.
    AuctionsMemory {
        folder: PathBuf,
        /// Every command under an idempotency key, whose record is kept.
        #[arg(long)]
        keyed: bool,
    },
    /// Prints where the time of a durable command goes, stage by stage, on one thread.
    Stages {
        folder: PathBuf,
        #[arg(long, default_value_t = 1)]
        events: u64,
    },
}

#[derive(clap::Args)]
struct Options {
    /// Three short rounds instead of five.
    #[arg(long)]
    quick: bool,
    /// Write every figure as one flat JSON object.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Measure only contestants whose name contains this, or is this with a `=` before it.
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
    /// Where data folders are made; must be on a disk, not in memory.
    #[arg(long, default_value = "/var/tmp")]
    folder: PathBuf,
}

fn main() -> anyhow::Result<()> {
    // As the shipped binary does it. The rivals inherit it; Redis asks for the same by itself.
    rustix::thread::disable_transparent_huge_pages(true)?;
    match Arguments::parse().command {
        Verb::Run(options) => run(&options),
        Verb::TrivialServer => rivals::trivial::serve(),
        Verb::Memory { folder } => ours::memory::measure(&folder),
        Verb::AuctionsMemory { folder, keyed } => ours::memory::auctions::measure(&folder, keyed),
        Verb::Stages { folder, events } => ours::stages::measure(&folder, events),
    }
}

fn run(options: &Options) -> anyhow::Result<()> {
    let plan = if options.quick {
        Plan { rounds: 3, length: Duration::from_secs(1) }
    } else {
        Plan { rounds: 5, length: Duration::from_secs(3) }
    };
    let folder = machine::private_folder(&options.folder)?;
    machine::tidy_up_on_interrupt(folder.path())?;
    let mut contestants = everybody(folder.path());
    if let Some(part) = &options.only {
        // The disk is always measured: no durable figure is worth anything without it.
        let wanted = |one: &dyn Contestant| match part.strip_prefix('=') {
            Some(name) => one.subject() == name,
            None => one.title().contains(part.as_str()),
        };
        contestants.retain(|one| wanted(&**one) || one.subject() == "fdatasync");
    }
    let mut figures = contest::Figures::new();
    figures.extend(machine::load_before());
    figures.extend(contest::hold(&mut contestants, &aims::duels(), &plan)?);
    // Servers end before their folders go.
    drop(contestants);
    report::print(&figures, &plan, options.only.is_some());
    if let Some(file) = &options.json {
        report::write(&figures, file)?;
        println!("\nwritten to {}", file.display());
    }
    Ok(())
}

/// Everyone who takes part; a new contestant is one file and one line here.
fn everybody(folder: &std::path::Path) -> Vec<Box<dyn Contestant>> {
    let mut all: Vec<Box<dyn Contestant>> = vec![Box::new(machine::Fdatasync::new(folder))];
    all.extend(rivals::redis::contestants(folder));
    all.extend(rivals::postgres::contestants(folder));
    all.push(Box::new(rivals::trivial::TrivialPost::default()));
    all.push(Box::new(ours::http::HttpHold::new(folder)));
    all.extend(ours::http::fight::contestants(folder));
    all.extend(ours::http::exact::contestants(folder));
    all.push(Box::new(ours::http::HttpHold::on_redis(folder)));
    all.push(Box::new(ours::http::SeatMap::new(folder)));
    all.extend(ours::on_redis::contestants(folder));
    all.extend(ours::engine::contestants(folder));
    all.extend(ours::fight::contestants(folder));
    all.extend(ours::bidding::contestants());
    all.extend(ours::cost::contestants(folder));
    all.push(Box::new(ours::memory::BytesPerSeat::new(folder)));
    all.push(Box::new(ours::memory::auctions::AuctionsBytes::new(folder)));
    all.push(Box::new(ours::idle::Idle::new(folder)));
    all.push(Box::new(ours::recovery::Recovery::new(folder)));
    all
}
