//! A file one can hold in mind: at most 500 lines, tests aside.
//! Older, longer files are listed with their size in `xtask/tidy-ratchet.toml` and may only shrink.

use anyhow::{Context, Result};

use super::tree::Tree;

const CEILING: usize = 500;
const RATCHET: &str = "xtask/tidy-ratchet.toml";

pub(super) fn check(tree: &Tree) -> Result<Vec<String>> {
    let listed: toml::Table =
        tree.text(RATCHET).unwrap_or_default().parse().with_context(|| format!("reading {RATCHET}"))?;
    let mut complaints = Vec::new();
    for file in tree.rust() {
        let lines = lines_outside_tests(&file.path, &file.text);
        let limit = listed.get(&file.path).and_then(toml::Value::as_integer);
        match limit.and_then(|limit| usize::try_from(limit).ok()) {
            None if lines > CEILING => {
                complaints.push(format!("{} has {lines} lines, more than {CEILING}: split it", file.path));
            }
            Some(limit) if lines > limit => {
                complaints.push(format!("{} grew from {limit} to {lines} lines: split it", file.path));
            }
            Some(_) if lines <= CEILING => {
                complaints.push(format!("{} has only {lines} lines now: take it off {RATCHET}", file.path));
            }
            Some(limit) if lines < limit => {
                complaints.push(format!("{} shrank to {lines} lines: lower it in {RATCHET}", file.path));
            }
            None | Some(_) => {}
        }
    }
    for path in listed.keys().filter(|path| tree.text(path).is_none()) {
        complaints.push(format!("{RATCHET} lists {path}, which does not exist"));
    }
    Ok(complaints)
}

/// Counts up to the test module at the end; a file that is nothing but tests has no such lines.
fn lines_outside_tests(path: &str, text: &str) -> usize {
    if path.split('/').any(|part| part == "tests") || path.ends_with("/tests.rs") {
        return 0;
    }
    let lines: Vec<&str> = text.lines().collect();
    let tests = lines.windows(2).position(|pair| {
        pair[0].trim() == "#[cfg(test)]" && pair[1].trim_start().starts_with("mod ") && pair[1].ends_with('{')
    });
    tests.unwrap_or(lines.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(lines: usize, ratchet: &str) -> Vec<String> {
        let text = "//\n".repeat(lines);
        check(&Tree::of(&[("crates/engine/src/long.rs", &text), (RATCHET, ratchet)]))
            .expect("a readable list")
    }

    #[test]
    fn a_new_file_may_have_500_lines() {
        assert!(complaints(500, "").is_empty());
        assert_eq!(complaints(501, "").len(), 1);
    }

    #[test]
    fn a_listed_file_may_neither_grow_nor_shrink_unnoticed() {
        let ratchet = "\"crates/engine/src/long.rs\" = 600";
        assert!(complaints(600, ratchet).is_empty());
        assert!(complaints(601, ratchet)[0].contains("grew from 600 to 601"));
        assert!(complaints(599, ratchet)[0].contains("lower it"));
        assert!(complaints(400, ratchet)[0].contains("take it off"));
    }

    #[test]
    fn a_listed_file_must_exist() {
        assert!(complaints(1, "\"gone.rs\" = 600")[0].contains("does not exist"));
    }

    #[test]
    fn tests_do_not_count() {
        let text = format!("//! A file.\n#[cfg(test)]\nmod tests {{\n{}}}\n", "//\n".repeat(900));
        assert_eq!(lines_outside_tests("crates/engine/src/some.rs", &text), 1);
        assert_eq!(lines_outside_tests("crates/engine/tests/some.rs", &"//\n".repeat(900)), 0);
    }
}
