//! The command line: one file per subcommand.

pub mod access;
pub mod bidding;
pub mod client;
pub mod config;
pub mod demo;
pub mod doctor;
pub mod entry_book;
pub mod facts;
mod instant;
pub mod keys;
pub mod ledger;
pub mod load;
pub mod login;
pub mod look;
pub mod money_book;
pub mod openapi;
pub mod routes;
pub mod serve;
pub mod stock_book;
pub mod tenants;
pub mod users;
pub mod verify;

use std::io::Write;
use std::process::ExitCode;
use std::sync::LazyLock;

use clap::{Parser, Subcommand};
use onsale_edge::version;

/// The key of every demo, and what the other commands try if they are given none.
pub const DEMO_KEY: &str = "demo-key";

/// As `--version` tells it, and the metric `onsale_build_info`.
static VERSION: LazyLock<String> =
    LazyLock::new(|| format!("{} (commit {})", version::VERSION, version::COMMIT));

/// Reserved seats, held and sold exactly once.
#[derive(Debug, Parser)]
#[command(name = "onsale", version = VERSION.as_str(), about, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "Examples:
  onsale demo                              a theatre and an arena on sale at http://127.0.0.1:7070
  onsale load                              buyers for the demo, and a check that nothing was sold twice
  onsale load auction                      bidders, and a check of leader, price and end
  onsale load mixed                        all at once with orders and payments, and a check of every coin
  onsale serve --data /srv/onsale --listen 127.0.0.1:8080
  onsale keys create --name 'shop server'  a key for a program; `onsale users` and `onsale tenants` likewise
  onsale doctor --url redis://127.0.0.1    is this Redis fit for it, and what to change
  onsale verify /srv/onsale                every frame, fact and invariant, offline
  curl http://127.0.0.1:7070/docs          every route, readable offline";

#[derive(Debug, Subcommand)]
enum Command {
    Demo(demo::Args),
    Serve(serve::Args),
    Config(config::Args),
    Doctor(doctor::Args),
    Facts(facts::Args),
    Keys(keys::Args),
    Load(load::Args),
    Login(login::Args),
    Openapi(openapi::Args),
    Routes(routes::Args),
    Tenants(tenants::Args),
    Users(users::Args),
    Verify(verify::Args),
}

/// Runs the command line; a failure is one sentence on standard error.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match cli.command {
        Command::Demo(args) => demo::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Serve(args) => serve::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Config(args) => config::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Doctor(args) => doctor::run(&args),
        Command::Facts(args) => facts::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Keys(args) => keys::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Load(args) => load::run(&args),
        Command::Login(args) => login::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Openapi(args) => openapi::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Routes(args) => routes::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Tenants(args) => tenants::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Users(args) => users::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Verify(args) => verify::run(&args),
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            // Where nobody reads it the exit code says it still.
            let _ = writeln!(std::io::stderr(), "onsale: {error:#}");
            ExitCode::FAILURE
        }
    }
}
