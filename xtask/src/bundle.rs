//! `cargo xtask package`: one self-contained binary in `dist/`, checked to start.

use std::time::Duration;

use anyhow::{Context, Result};

use crate::step::{Program, Steps};
use crate::workspace;

/// An optimised build from nothing on two cores.
const BUILD: Duration = Duration::from_secs(1_800);
const QUICK: Duration = Duration::from_secs(60);

pub(crate) fn run() -> Result<()> {
    let mut steps = Steps::new(3);
    steps.run("build", BUILD, &Program::new("cargo build --profile dist -p onsale --bin onsale"))?;
    let folder = workspace::root().join("dist");
    let binary = folder.join("onsale");
    let bytes = steps.step("copy", QUICK, "cargo xtask package", || {
        std::fs::create_dir_all(&folder).with_context(|| format!("creating {}", folder.display()))?;
        let built = workspace::target().join("dist").join("onsale");
        // A running copy cannot be overwritten, but it can be replaced.
        let fresh = folder.join("onsale.new");
        let bytes = std::fs::copy(&built, &fresh).with_context(|| format!("copying {}", built.display()))?;
        std::fs::rename(&fresh, &binary).with_context(|| format!("replacing {}", binary.display()))?;
        Ok(bytes)
    })?;
    let version = Program::new("dist/onsale --version").folder(&workspace::root());
    let version = steps.step("start", QUICK, "dist/onsale --version", || version.read())?;
    println!("\n{} · {:.1} MiB · dist/onsale", version.trim(), bytes as f64 / (1024.0 * 1024.0));
    println!(
        "It needs no service beside it. Start it with the demo listings:\n\n    dist/onsale demo --data data\n"
    );
    Ok(())
}
