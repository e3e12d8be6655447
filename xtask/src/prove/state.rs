//! What has been proved of a commit, unit by unit: one file for each part.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::Part;
use crate::workspace;

#[derive(Debug)]
pub(super) struct State {
    pub part: Part,
    file: PathBuf,
    units: Vec<String>,
    /// Whether it passed, and its seconds.
    done: BTreeMap<String, (bool, f64)>,
}

impl State {
    pub(super) fn read(commit: &str, part: Part, units: Vec<String>) -> Result<Self> {
        Ok(Self::at(&folder().join(commit), part, units))
    }

    fn at(folder: &Path, part: Part, units: Vec<String>) -> Self {
        let file = folder.join(format!("{}.json", part.name()));
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let kept: Value = serde_json::from_str(&text).unwrap_or_default();
        let done = units.iter().filter_map(|unit| {
            let one = kept.get(unit)?;
            Some((unit.clone(), (one["passed"].as_bool()?, one["seconds"].as_f64()?)))
        });
        let done = done.collect();
        Self { part, file, units, done }
    }

    /// What has not passed yet, in its order.
    pub(super) fn open(&self) -> Vec<String> {
        let passed = |unit: &String| self.done.get(unit).is_some_and(|(passed, _)| *passed);
        self.units.iter().filter(|unit| !passed(unit)).cloned().collect()
    }

    pub(super) fn failed(&self) -> usize {
        self.done.values().filter(|(passed, _)| !passed).count()
    }

    /// Written after every unit: an interrupted run loses one at most.
    pub(super) fn note(&mut self, unit: String, passed: bool, took: Duration) -> Result<()> {
        self.done.insert(unit, (passed, took.as_secs_f64()));
        let entry = |(unit, (passed, seconds)): (&String, &(bool, f64))| {
            (unit.clone(), json!({ "passed": passed, "seconds": seconds }))
        };
        let all: serde_json::Map<String, Value> = self.done.iter().map(entry).collect();
        write(&self.file, &Value::Object(all).to_string())
    }

    pub(super) fn line(&self) -> String {
        let passed = self.done.len() - self.failed();
        let seconds: f64 = self.done.values().map(|(_, seconds)| seconds).sum();
        let (failed, all) = (self.failed(), self.units.len());
        format!("{}: {passed} of {all} units passed, {failed} failed, {seconds:.0} s", self.part.name())
    }
}

impl State {
    /// Only a part all of whose units have passed proves something.
    fn verdict(&self) -> String {
        let says = self.part.says();
        match (self.failed(), self.open().len()) {
            (0, 0) => format!("proved: {says}"),
            (0, open) => format!("open, {open} units are left: {says}"),
            (_, _) => format!("NOT TRUE: {says}"),
        }
    }
}

/// Says what was proved at which commit, and keeps it as `target/prove/report.md`.
pub(super) fn report(commit: &str, states: &[State]) -> Result<String> {
    let mut text = format!("# Proved at commit {commit}\n\n");
    for state in states {
        text += &format!("- {}: {}\n", state.line(), state.verdict());
        for (unit, _) in state.done.iter().filter(|(_, (passed, _))| !passed) {
            text += &format!("  - FAILED {unit}\n");
        }
    }
    write(&folder().join("report.md"), &text)?;
    Ok(text)
}

fn folder() -> PathBuf {
    workspace::target().join("prove")
}

fn write(file: &Path, text: &str) -> Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
    std::fs::write(file, text).with_context(|| format!("writing {}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_part_that_is_done_is_proved() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut state = State::at(folder.path(), Part::Kills, ["one", "two"].map(str::to_owned).to_vec());
        state.note("one".to_owned(), true, Duration::from_secs(2)).expect("written");
        assert!(state.verdict().starts_with("open, 1 units are left"), "{}", state.verdict());
        state.note("two".to_owned(), true, Duration::from_secs(2)).expect("written");
        assert!(state.verdict().starts_with("proved: nothing that was answered"), "{}", state.verdict());
    }

    #[test]
    fn an_interrupted_proof_goes_on_with_what_has_not_passed() {
        let folder = tempfile::tempdir().expect("a folder");
        let units = || ["one", "two", "three"].map(str::to_owned).to_vec();
        let mut state = State::at(folder.path(), Part::Kills, units());
        state.note("one".to_owned(), true, Duration::from_secs(2)).expect("written");
        state.note("two".to_owned(), false, Duration::from_secs(1)).expect("written");
        let again = State::at(folder.path(), Part::Kills, units());
        assert_eq!(again.open(), ["two", "three"]);
        assert_eq!(again.line(), "kills: 1 of 3 units passed, 1 failed, 3 s");
        assert!(again.verdict().starts_with("NOT TRUE"), "{}", again.verdict());
        assert_eq!(State::at(folder.path(), Part::Planted, units()).open().len(), 3, "another part");
    }
}
