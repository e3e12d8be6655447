//! The text files of the workspace, read once; a rule's test makes up its own.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Folders that hold what programs made, not what people wrote.
const NOT_OURS: [&str; 8] =
    ["target", "data", "dist", "scratch", "node_modules", "generated", ".git", ".idea"];

#[derive(Debug)]
pub(super) struct Tree {
    /// Where it was read; `None` for a tree that a test made up.
    pub root: Option<PathBuf>,
    pub files: Vec<File>,
}

/// A file by its path inside the workspace, with `/` between the parts.
#[derive(Debug)]
pub(super) struct File {
    pub path: String,
    /// Empty for a file that is not text.
    pub text: String,
}

impl Tree {
    pub(super) fn read(root: &Path) -> Result<Self> {
        let mut files = Vec::new();
        collect(root, root, &mut files)?;
        files.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(Self { root: Some(root.to_path_buf()), files })
    }

    pub(super) fn text(&self, path: &str) -> Option<&str> {
        self.files.iter().find(|file| file.path == path).map(|file| file.text.as_str())
    }

    /// Whether there is such a file, or a folder with files in it.
    pub(super) fn holds(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        self.files.iter().any(|file| {
            file.path.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }

    pub(super) fn rust(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.path.ends_with(".rs"))
    }

    pub(super) fn markdown(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.path.ends_with(".md"))
    }
}

#[cfg(test)]
impl Tree {
    /// A tree for a test: pairs of path and text.
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|(path, text)| File { path: (*path).into(), text: (*text).into() });
        Self { root: None, files: files.collect() }
    }
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<File>) -> Result<()> {
    for entry in std::fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))? {
        let entry = entry?;
        let name = entry.file_name();
        let kind = entry.file_type()?;
        if NOT_OURS.iter().any(|other| name == *other) {
            continue;
        }
        if kind.is_dir() {
            collect(root, &entry.path(), files)?;
        } else if kind.is_file() {
            let path = entry.path();
            let inside = path.strip_prefix(root)?.to_string_lossy().replace('\\', "/");
            let bytes = std::fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
            files.push(File { path: inside, text: String::from_utf8(bytes).unwrap_or_default() });
        }
    }
    Ok(())
}
