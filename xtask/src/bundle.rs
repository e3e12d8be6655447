//! `cargo xtask package`: one self-contained binary in `dist/`, checked to start.

use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::step::{Program, Steps};
use crate::{install, process, workspace};

/// An optimised build from nothing on two cores.
const BUILD: Duration = Duration::from_secs(1_800);
/// What is downloaded once and copied often: without names for debuggers it is far below.
const DIST_MB_MAX: f64 = 35.0;
const QUICK: Duration = Duration::from_secs(60);

pub(crate) fn run() -> Result<()> {
    let mut steps = Steps::new(3);
    let mut build = Program::new("cargo build --profile dist -p onsale --bin onsale");
    if let Some(commit) = commit()? {
        build = build.env("ONSALE_COMMIT", commit);
    }
    steps.run("build", BUILD, &build)?;
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
    let megabytes = bytes as f64 / 1e6;
    println!("\n{} · dist/onsale\ndist_mb: {megabytes:.1}", version.trim());
    if megabytes > DIST_MB_MAX {
        bail!("dist/onsale has {megabytes:.1} MB, at most {DIST_MB_MAX} are shipped");
    }
    println!(
        "It needs no service beside it. Start it with the demo listings:\n\n    dist/onsale demo --data data\n"
    );
    Ok(())
}

/// The commit that is packed, and whether something was changed since; nothing in a folder that git knows nothing of.
fn commit() -> Result<Option<String>> {
    if install::find("git").is_none() {
        return Ok(None);
    }
    let ask = |line: &str| process::heard(&Program::new(line));
    let head = ask("git rev-parse --short=12 HEAD")?;
    if !head.status.is_some_and(|status| status.success()) {
        return Ok(None);
    }
    let changes = ask("git status --porcelain --untracked-files=no")?.stdout;
    let commit = head.stdout.trim();
    Ok(Some(if changes.is_empty() { commit.to_owned() } else { format!("{commit}-changed") }))
}
