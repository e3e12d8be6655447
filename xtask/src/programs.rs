//! The test programs of the workspace: built once, in one profile, and found by package and target afterwards.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::process;
use crate::step::Program;
use crate::workspace;

/// One test program as cargo has built it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TestProgram {
    pub package: String,
    pub target: Target,
    pub file: PathBuf,
    /// Where cargo would run it.
    pub folder: PathBuf,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Lib,
    Bin(String),
    Test(String),
}

impl TestProgram {
    /// As one reads it: `onsale-engine-redis/live`.
    pub(crate) fn title(&self) -> String {
        let package = &self.package;
        match &self.target {
            Target::Lib => format!("{package}/lib"),
            Target::Bin(name) => format!("{package}/bin {name}"),
            Target::Test(name) => format!("{package}/{name}"),
        }
    }

    /// What cargo calls it.
    pub(crate) fn command_line(&self) -> String {
        let package = &self.package;
        match &self.target {
            Target::Lib => format!("cargo test -p {package} --lib"),
            Target::Bin(name) => format!("cargo test -p {package} --bin {name}"),
            Target::Test(name) => format!("cargo test -p {package} --test {name}"),
        }
    }

    /// As cargo would run it.
    pub(crate) fn run(&self) -> Program {
        let program = Program::new("").arg(self.file.display().to_string()).folder(&self.folder);
        program.env("CARGO_MANIFEST_DIR", self.folder.display().to_string())
    }

    /// The names of its tests, and how many of them would be left out.
    pub(crate) fn list(&self) -> Result<(Vec<String>, usize)> {
        let all = names(&self.run().args(["--list", "--format", "terse"]).read()?);
        let ignored = names(&self.run().args(["--list", "--format", "terse", "--ignored"]).read()?);
        Ok((all, ignored.len()))
    }
}

/// Whoever names a package instead of the workspace gets its libraries with other features: everything would be
/// built once more.
pub(crate) const BUILD: &str = "cargo test --workspace --no-run";

/// Builds every test program of the workspace and the binaries they start.
pub(crate) fn build() -> Result<Vec<TestProgram>> {
    let line = format!("{BUILD} --message-format json-render-diagnostics");
    built(&Program::new(&line), &workspace::root())
}

/// Runs a build and reads from cargo's messages which programs it has made.
pub(crate) fn built(build: &Program, root: &Path) -> Result<Vec<TestProgram>> {
    let log = tempfile::NamedTempFile::new().context("a file for cargo's messages")?;
    let mut child = process::start(build, log.reopen()?.into(), std::process::Stdio::inherit())?;
    match process::wait(&mut child, build)? {
        Some(status) if status.success() => {}
        Some(status) => bail!("`{build}` ended with {status}"),
        None => bail!("`{build}` took too long and was ended"),
    }
    let told = std::fs::read_to_string(log.path()).context("reading cargo's messages")?;
    let found: Vec<TestProgram> = told.lines().filter_map(|line| of_message(line, root)).collect();
    if found.is_empty() {
        bail!("`{build}` has made no test program");
    }
    Ok(found)
}

/// Where a binary of the same build is.
pub(crate) fn binary(name: &str) -> PathBuf {
    workspace::target().join("debug").join(name)
}

fn of_message(line: &str, root: &Path) -> Option<TestProgram> {
    let message: Value = serde_json::from_str(line).ok()?;
    if message["reason"] != "compiler-artifact" || message["profile"]["test"] != true {
        return None;
    }
    let file = PathBuf::from(message["executable"].as_str()?);
    let manifest = Path::new(message["manifest_path"].as_str()?);
    let folder = manifest.parent().unwrap_or(root).to_path_buf();
    // `path+file:///…/crates/domain#onsale-domain@0.1.0`
    // A room whose folder has its name is `…/onsale#0.1.0`, every other `…/edge#onsale-edge@0.1.0`.
    let (source, id) = message["package_id"].as_str()?.rsplit_once('#')?;
    let package = match id.split_once('@') {
        Some((name, _)) => name.to_owned(),
        None => source.rsplit('/').next()?.to_owned(),
    };
    let name = message["target"]["name"].as_str()?.to_owned();
    let target = match message["target"]["kind"][0].as_str()? {
        "bin" => Target::Bin(name),
        "test" => Target::Test(name),
        _ => Target::Lib,
    };
    Some(TestProgram { package, target, file, folder })
}

fn names(listed: &str) -> Vec<String> {
    listed.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: &str, name: &str, test: bool) -> String {
        serde_json::json!({
            "reason": "compiler-artifact",
            "package_id": "path+file:///house/crates/onsale#0.1.0",
            "manifest_path": "/house/crates/onsale/Cargo.toml",
            "target": { "kind": [kind], "name": name },
            "profile": { "test": test },
            "executable": "/house/target/debug/deps/it-1",
        })
        .to_string()
    }

    #[test]
    fn cargo_says_which_test_programs_there_are() {
        let root = Path::new("/house");
        let it = of_message(&message("test", "it", true), root).expect("a test program");
        assert_eq!(
            (it.title().as_str(), it.folder.as_path()),
            ("onsale/it", Path::new("/house/crates/onsale"))
        );
        assert_eq!(it.command_line(), "cargo test -p onsale --test it");
        let unit = of_message(&message("lib", "onsale", true), root).expect("a test program");
        assert_eq!(unit.target, Target::Lib);
        assert_eq!(of_message(&message("bin", "onsale", false), root), None, "a binary is no test");
        assert_eq!(of_message("Compiling", root), None);
    }

    #[test]
    fn a_listed_test_is_a_name() {
        assert_eq!(names("a::b: test\nbench_it: benchmark\nc: test\n"), ["a::b", "c"]);
    }
}
