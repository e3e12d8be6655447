//! A copy of the workspace, or of a part of it, to plant bugs in; kept between runs so that builds stay incremental.
//! The real source is only ever read.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::step::Program;

#[derive(Debug)]
pub(super) struct Scratch {
    source: PathBuf,
    /// What is copied, below the source.
    part: &'static str,
    pub work: PathBuf,
    pub target: PathBuf,
}

impl Scratch {
    pub(super) fn new(source: &Path, folder: &Path) -> Self {
        Self::of_part(source, folder, ".")
    }

    /// Only what is below `part`, in the same place of the copy.
    pub(super) fn of_part(source: &Path, folder: &Path, part: &'static str) -> Self {
        let (work, target) = (folder.join("work"), folder.join("target"));
        Self { source: source.to_path_buf(), part, work, target }
    }

    /// Makes the copy equal to the source again, committed or not. Equal files are left alone: their age
    /// is what tells cargo not to build them again.
    pub(super) fn sync(&self) -> Result<()> {
        let listed = Program::new("git ls-files --cached --others --exclude-standard -z --")
            .arg(self.part)
            .folder(&self.source)
            .read()?;
        let wanted: BTreeSet<PathBuf> =
            listed.split('\0').filter(|name| !name.is_empty()).map(PathBuf::from).collect();
        for name in &wanted {
            let from = self.source.join(name);
            // Listed, but deleted and not committed yet.
            if !from.is_file() {
                continue;
            }
            let bytes = std::fs::read(&from).with_context(|| format!("reading {}", from.display()))?;
            let into = self.work.join(name);
            if std::fs::read(&into).is_ok_and(|present| present == bytes) {
                continue;
            }
            if let Some(folder) = into.parent() {
                std::fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
            }
            std::fs::write(&into, bytes).with_context(|| format!("writing {}", into.display()))?;
        }
        self.drop_others(&self.work, &wanted)
    }

    fn drop_others(&self, folder: &Path, wanted: &BTreeSet<PathBuf>) -> Result<()> {
        for entry in std::fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))? {
            let entry = entry?;
            let path = entry.path();
            if entry.file_type()?.is_dir() {
                self.drop_others(&path, wanted)?;
                continue;
            }
            let name = path.strip_prefix(&self.work)?;
            if !wanted.contains(name) || !self.source.join(name).is_file() {
                std::fs::remove_file(&path).with_context(|| format!("removing {}", path.display()))?;
            }
        }
        Ok(())
    }

    /// Applies a patch to the copy, all of it or nothing, without guessing at lines that have changed.
    pub(super) fn apply(&self, patch: &Path) -> Result<()> {
        // Without the ceiling git would find the real repository above and skip files outside of it.
        let ceiling = self.work.parent().unwrap_or(&self.work).display().to_string();
        let git = Program::new("git apply --whitespace=nowarn").arg(patch.display().to_string());
        let git = git.env("GIT_CEILING_DIRECTORIES", ceiling).folder(&self.work);
        let before = self.fingerprint(patch)?;
        if git.run().is_err() {
            bail!("the patch does not apply");
        }
        if self.fingerprint(patch)? == before {
            bail!("the patch changes nothing");
        }
        Ok(())
    }

    /// The present bytes of the files that a patch names.
    fn fingerprint(&self, patch: &Path) -> Result<Vec<Option<Vec<u8>>>> {
        let text = std::fs::read_to_string(patch).with_context(|| format!("reading {}", patch.display()))?;
        let names =
            text.lines().filter_map(|line| line.strip_prefix("+++ b/")).map(|name| name.trim().to_owned());
        Ok(names.map(|name| std::fs::read(self.work.join(name)).ok()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn git(folder: &Path, line: &str) {
        Program::new(line).folder(folder).read().expect("git works");
    }

    /// A small repository in a private folder; the folder goes when the test ends.
    fn sample() -> (tempfile::TempDir, Scratch) {
        let folder = tempfile::tempdir().expect("a private folder");
        let source = folder.path().join("source");
        std::fs::create_dir_all(&source).expect("a folder");
        git(&source, "git init -q");
        std::fs::write(source.join("rule.rs"), "at the deadline\nit is over\n").expect("written");
        let scratch = Scratch::new(&source, &source.join("target/mutants"));
        std::fs::write(source.join(".gitignore"), "/target\n*.patch\n").expect("written");
        (folder, scratch)
    }

    #[test]
    fn a_patch_changes_the_copy_only_and_the_next_sync_heals_it() {
        let (_folder, scratch) = sample();
        let patch = scratch.source.join("late.patch");
        let diff = "# late\n--- a/rule.rs\n+++ b/rule.rs\n@@ -1,2 +1,2 @@\n at the deadline\n-it is over\n+it lives\n";
        std::fs::write(&patch, diff).expect("written");
        let read = |folder: &Path| std::fs::read_to_string(folder.join("rule.rs")).expect("a file");
        scratch.sync().expect("copied");
        scratch.apply(&patch).expect("applied");
        assert!(read(&scratch.work).contains("it lives"));
        assert!(read(&scratch.source).contains("it is over"));
        scratch.sync().expect("healed");
        assert!(read(&scratch.work).contains("it is over"));
    }

    #[test]
    fn a_patch_against_other_lines_does_not_apply() {
        let (_folder, scratch) = sample();
        let patch = scratch.source.join("old.patch");
        let diff =
            "# old\n--- a/rule.rs\n+++ b/rule.rs\n@@ -1,2 +1,2 @@\n long ago\n-it was over\n+it lives\n";
        std::fs::write(&patch, diff).expect("written");
        scratch.sync().expect("copied");
        assert!(scratch.apply(&patch).is_err());
    }

    #[test]
    fn a_copy_of_a_part_has_nothing_else() {
        let (_folder, whole) = sample();
        std::fs::create_dir_all(whole.source.join("lua")).expect("a folder");
        std::fs::write(whole.source.join("lua/hold.lua"), "return 1\n").expect("written");
        let part = Scratch::of_part(&whole.source, &whole.source.join("target/lua"), "lua");
        part.sync().expect("copied");
        assert!(part.work.join("lua/hold.lua").exists() && !part.work.join("rule.rs").exists());
    }

    #[test]
    fn a_file_that_left_the_source_leaves_the_copy() {
        let (_folder, scratch) = sample();
        scratch.sync().expect("copied");
        std::fs::remove_file(scratch.source.join("rule.rs")).expect("removed");
        scratch.sync().expect("copied");
        assert!(!scratch.work.join("rule.rs").exists());
    }
}
