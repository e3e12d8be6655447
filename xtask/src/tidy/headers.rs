//! Every Rust file opens with what it is, who calls it and what it never does, in at most five lines.

use anyhow::Result;

use super::tree::Tree;

const LINES_MAX: usize = 5;

pub(super) fn check(tree: &Tree) -> Result<Vec<String>> {
    let mut complaints = Vec::new();
    for file in tree.rust() {
        match file.text.lines().take_while(|line| line.starts_with("//!")).count() {
            0 => complaints.push(format!("{} does not open with a `//!` line", file.path)),
            lines if lines > LINES_MAX => {
                complaints
                    .push(format!("{} opens with {lines} `//!` lines, more than {LINES_MAX}", file.path));
            }
            _ => {}
        }
    }
    Ok(complaints)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(text: &str) -> usize {
        check(&Tree::of(&[("crates/domain/src/money.rs", text)])).expect("no error").len()
    }

    #[test]
    fn one_to_five_lines() {
        assert_eq!(complaints("use std::fmt;\n"), 1);
        assert_eq!(complaints("//! Money.\nuse std::fmt;\n"), 0);
        assert_eq!(complaints(&"//! Money.\n".repeat(5)), 0);
        assert_eq!(complaints(&"//! Money.\n".repeat(6)), 1);
    }
}
