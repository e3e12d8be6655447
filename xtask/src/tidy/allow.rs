//! `xtask/tidy-allow.toml`: the exceptions to `words`, each with its reason. An exception nobody needs is an error.

use anyhow::{Context, Result, bail};

use super::tree::Tree;

pub(super) const LIST: &str = "xtask/tidy-allow.toml";

/// One exception: this word may stand in this file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Exception {
    pub file: String,
    pub word: String,
}

pub(super) fn read(tree: &Tree) -> Result<Vec<Exception>> {
    let table: toml::Table =
        tree.text(LIST).unwrap_or_default().parse().with_context(|| format!("reading {LIST}"))?;
    let entries = table.get("allow").and_then(toml::Value::as_array).map_or(&[][..], Vec::as_slice);
    entries.iter().map(exception).collect()
}

fn exception(entry: &toml::Value) -> Result<Exception> {
    let field = |name: &str| {
        let value = entry.get(name).and_then(toml::Value::as_str).map(str::to_owned);
        value.with_context(|| format!("{LIST}: an entry has no `{name}`"))
    };
    let found = Exception { file: field("file")?, word: field("word")? };
    if field("reason")?.len() < 10 {
        bail!("{LIST}: {} needs a reason that says something", found.file);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exception_needs_a_reason() {
        let list = |reason: &str| {
            format!("[[allow]]\nfile = \"a.rs\"\nword = \"thread::sleep\"\nreason = \"{reason}\"\n")
        };
        assert!(read(&Tree::of(&[(LIST, &list("because"))])).is_err());
        assert_eq!(
            read(&Tree::of(&[(LIST, &list("paces the load generator"))])).expect("a good list").len(),
            1
        );
    }
}
