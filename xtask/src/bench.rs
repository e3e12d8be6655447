//! `cargo xtask bench`: builds what is measured the way it is shipped, then measures it beside its rivals.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::step::{Program, Steps};
use crate::{install, workspace};

#[derive(clap::Args, Debug)]
pub(crate) struct Options {
    /// Three short rounds instead of five.
    #[arg(long)]
    quick: bool,
    /// Write every figure as one flat JSON object.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Measure only contestants whose name contains this.
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
}

const TOOLS: Duration = Duration::from_secs(300);
/// An optimised build from nothing on two cores.
const BUILD: Duration = Duration::from_secs(1_800);
/// All rounds of all contestants take about an hour.
const MEASURE: Duration = Duration::from_secs(4 * 3_600);

pub(crate) fn run(options: &Options) -> Result<()> {
    let mut steps = Steps::new(3);
    steps.step("tools", TOOLS, "cargo xtask bench", install::missing)?;
    steps.run(
        "build",
        BUILD,
        &Program::new("cargo build --profile dist -p onsale-bench -p onsale --bins"),
    )?;
    let built = workspace::target().join("dist");
    let mut bench = Program::new("").arg(built.join("onsale-bench").display().to_string()).arg("run");
    if options.quick {
        bench = bench.arg("--quick");
    }
    if let Some(file) = &options.json {
        // The bench runs in the workspace's folder; the caller meant their own.
        let file = std::path::absolute(file).with_context(|| format!("the path {}", file.display()))?;
        bench = bench.arg("--json").arg(file.display().to_string());
    }
    if let Some(name) = &options.only {
        bench = bench.arg("--only").arg(name.clone());
    }
    steps.run("measure", MEASURE, &bench)
}
