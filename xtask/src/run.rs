//! `cargo xtask run`: builds the server and becomes it, so that Ctrl-C reaches the server itself.
//! With `--redis`, two servers on a private Redis: what one sells the other shows.

pub(crate) mod redis;

use std::os::unix::process::CommandExt;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::step::{Program, Steps};
use crate::workspace;

#[derive(clap::Args, Debug)]
pub(crate) struct Options {
    /// Two servers that share a private Redis, instead of one with the embedded engine.
    #[arg(long)]
    redis: bool,
    /// Passed on to `onsale demo`.
    #[arg(last = true)]
    arguments: Vec<String>,
}

/// An optimised build from nothing on two cores.
const BUILD: Duration = Duration::from_secs(1_800);

pub(crate) fn run(options: &Options) -> Result<()> {
    let mut steps = Steps::new(2);
    steps.run("build", BUILD, &Program::new("cargo build --release -p onsale --bin onsale"))?;
    let binary = workspace::release_binary();
    let server = Program::new("").arg(binary.display().to_string());
    if options.redis {
        return redis::run(&server, &options.arguments);
    }
    let server = server.args(["demo", "--data", "data"]).args(options.arguments.clone());
    println!("\n[2/2] start: {server}");
    let error = server.command().exec();
    Err(error).with_context(|| format!("`{server}` could not be started"))
}
