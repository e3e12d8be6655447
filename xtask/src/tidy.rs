//! `cargo xtask tidy`: our own rules about the source tree, one file per rule.
//! Also runs as tests, and every rule has a test that shows it complaining.

mod allow;
mod dependencies;
mod documents;
mod headers;
mod lock;
mod names;
mod paths;
mod size;
mod sources;
mod tree;
mod words;

use anyhow::{Result, bail};

use crate::workspace;
use tree::Tree;

/// A rule looks at the tree and says, one sentence each, what is wrong with it.
type Rule = fn(&Tree) -> Result<Vec<String>>;

const RULES: [(&str, Rule); 9] = [
    ("dependencies point one way", dependencies::check),
    ("files stay small", size::check),
    ("names say something", names::check),
    ("every file says what it is", headers::check),
    ("nothing is left for later", words::check),
    ("documents point at what exists", documents::check),
    ("documents name files that exist", sources::check),
    ("no path of one machine", paths::check),
    ("no banned library", lock::check),
];

pub(crate) fn run() -> Result<()> {
    let complaints = complaints()?;
    for complaint in &complaints {
        println!("  {complaint}");
    }
    if !complaints.is_empty() {
        bail!("{} things are untidy", complaints.len());
    }
    println!("  {} rules, nothing to complain about", RULES.len());
    Ok(())
}

fn complaints() -> Result<Vec<String>> {
    let tree = Tree::read(&workspace::root())?;
    let mut all = Vec::new();
    for (name, rule) in RULES {
        all.extend(rule(&tree)?.into_iter().map(|complaint| format!("{name}: {complaint}")));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_house_is_tidy() {
        let complaints = complaints().expect("the tree can be read");
        assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    }
}
