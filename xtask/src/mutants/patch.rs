//! A planted bug: a unified diff with two lines above it that say what it breaks and who must notice.

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// Where the planted bugs live, inside the workspace: those of the embedded engine, and those of the scripts.
const FOLDERS: [&str; 2] = ["crates/sim/mutants", "crates/engine-redis/planted"];

#[derive(Debug)]
pub(crate) struct Patch {
    pub name: String,
    pub path: PathBuf,
    pub breaks: String,
    pub caught_by: CaughtBy,
    /// It changes scripts alone: the tests read them from a folder, and nothing has to be built.
    pub of_scripts: bool,
}

/// The test programs that read scripts from a folder (`crates/engine-redis/tests/support/lua.rs`).
const TAKE_SCRIPTS: [&str; 3] = ["seats", "kinds", "money"];

/// Where the scripts are.
pub(super) const SCRIPTS: &str = "crates/engine-redis/lua";

/// The command that must go red.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CaughtBy {
    /// Arguments of the simulator.
    Sim(Vec<String>),
    /// Arguments of `cargo test`.
    Test(Vec<String>),
}

pub(super) fn all(root: &Path) -> Result<Vec<Patch>> {
    let mut patches = Vec::new();
    for folder in FOLDERS {
        let mut found = inside(root, folder)?;
        found.sort_by(|one, other| one.name.cmp(&other.name));
        patches.extend(found);
    }
    Ok(patches)
}

fn inside(root: &Path, name: &str) -> Result<Vec<Patch>> {
    let folder = root.join(name);
    if !folder.is_dir() {
        bail!("there is no folder {name}");
    }
    let mut patches = Vec::new();
    for entry in std::fs::read_dir(&folder).with_context(|| format!("reading {name}"))? {
        let path = entry?.path();
        if path.extension().is_none_or(|extension| extension != "patch") {
            continue;
        }
        let text = std::fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        patches.push(parse(name, path, &text)?);
    }
    Ok(patches)
}

fn parse(name: String, path: PathBuf, text: &str) -> Result<Patch> {
    let comments = || text.lines().map_while(|line| line.strip_prefix('#')).map(str::trim);
    let caught_by = comments().find_map(|line| line.strip_prefix("caught-by:"));
    let caught_by = caught_by.with_context(|| format!("{name}: no line `# caught-by: …` at the top"))?;
    let breaks: Vec<&str> =
        comments().filter(|line| !line.starts_with("caught-by:") && !line.is_empty()).collect();
    if breaks.is_empty() {
        bail!("{name}: no line at the top says what it breaks");
    }
    let caught_by = caught(caught_by).with_context(|| name.clone())?;
    let mut changed = text.lines().filter_map(|line| line.strip_prefix("+++ b/"));
    let of_scripts = caught_by.takes_scripts()
        && changed.clone().count() > 0
        && changed.all(|file| file.starts_with(SCRIPTS));
    Ok(Patch { name, path, breaks: breaks.join(" "), caught_by, of_scripts })
}

fn caught(line: &str) -> Result<CaughtBy> {
    let mut words = line.split_whitespace().map(str::to_owned);
    match words.next().as_deref() {
        Some("sim") => Ok(CaughtBy::Sim(words.collect())),
        Some("test") => Ok(CaughtBy::Test(words.collect())),
        _ => bail!("caught-by begins with `sim` or `test`, not `{}`", line.trim()),
    }
}

impl CaughtBy {
    /// Whether what notices the bug reads its scripts from a folder: an engine that is started brings its own.
    fn takes_scripts(&self) -> bool {
        match self {
            Self::Sim(_) => false,
            Self::Test(words) => {
                words.windows(2).any(|pair| pair[0] == "--test" && TAKE_SCRIPTS.contains(&pair[1].as_str()))
            }
        }
    }
}

impl fmt::Display for CaughtBy {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sim(words) => write!(out, "sim {}", words.join(" ")),
            Self::Test(words) => write!(out, "test {}", words.join(" ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Patch> {
        parse("barging".into(), PathBuf::new(), text)
    }

    #[test]
    fn a_patch_says_what_it_breaks_and_who_notices() {
        let patch =
            read("# A newcomer takes an offered seat.\n# caught-by: sim --seeds 5\n--- a/x\n+++ b/x\n");
        let patch = patch.expect("a good header");
        assert_eq!(patch.breaks, "A newcomer takes an offered seat.");
        assert_eq!(patch.caught_by, CaughtBy::Sim(vec!["--seeds".into(), "5".into()]));
        assert_eq!(patch.caught_by.to_string(), "sim --seeds 5");
    }

    #[test]
    fn only_a_patch_of_nothing_but_scripts_needs_no_build() {
        let of_scripts = |by: &str, files: &[&str]| {
            let files: String = files.iter().map(|file| format!("--- a/{file}\n+++ b/{file}\n")).collect();
            read(&format!("# It breaks.\n# caught-by: {by}\n{files}")).expect("a good header").of_scripts
        };
        let (lua, rust) = ("crates/engine-redis/lua/lib/expire.lua", "crates/engine-redis/src/link.rs");
        let by = "test -p x --test seats lua";
        assert!(of_scripts(by, &[lua]) && of_scripts(by, &[lua, lua]));
        assert!(!of_scripts(by, &[lua, rust]) && !of_scripts(by, &[]));
        assert!(!of_scripts("test -p x --test live seats", &[lua]), "an engine brings its own");
        assert!(!of_scripts("sim --seeds 5", &[lua]), "the simulator knows no scripts");
    }

    #[test]
    fn half_a_header_is_refused() {
        assert!(read("# caught-by: sim\n--- a/x\n").is_err());
        assert!(read("# A newcomer takes an offered seat.\n--- a/x\n").is_err());
        assert!(read("# It breaks.\n# caught-by: luck\n--- a/x\n").is_err());
    }
}
