//! The command line: one file per subcommand.

pub mod config;
pub mod demo;
pub mod ledger;
pub mod look;
pub mod verify;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Reserved seats, held and sold exactly once.
#[derive(Debug, Parser)]
#[command(name = "onsale", version, about, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "Examples:
  onsale serve                             serve http://127.0.0.1:7070 from ./onsale-data
  onsale serve --data /srv/onsale --listen 127.0.0.1:8080
  ONSALE_LIMITS__BODY_BYTES=131072 onsale config
  curl http://127.0.0.1:7070/docs          every route, readable offline";

#[derive(Debug, Subcommand)]
enum Command {
    Config(config::Args),
    Verify(verify::Args),
}

/// Runs the command line; a failure is one sentence on standard error.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match cli.command {
        Command::Config(args) => config::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Verify(args) => verify::run(&args),
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            eprintln!("onsale: {error:#}");
            ExitCode::FAILURE
        }
    }
}
