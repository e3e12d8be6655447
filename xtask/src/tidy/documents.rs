//! Documents point at what exists, and every decision is numbered and in its list.

use anyhow::Result;

use super::tree::{File, Tree};

const DECISIONS: &str = "docs/decisions/";
const DECISION_LIST: &str = "docs/decisions/README.md";

pub(super) fn check(tree: &Tree) -> Result<Vec<String>> {
    let mut complaints = decisions(tree);
    for file in tree.markdown() {
        complaints.extend(mentions(tree, file));
        complaints.extend(links(tree, file));
    }
    Ok(complaints)
}

fn decisions(tree: &Tree) -> Vec<String> {
    let list = tree.text(DECISION_LIST).unwrap_or_default();
    let mut complaints = Vec::new();
    for file in &tree.files {
        let Some(name) = file.path.strip_prefix(DECISIONS) else { continue };
        if name == "README.md" {
            continue;
        }
        if !is_decision(name) {
            complaints.push(format!("{} is not named NNNN-title.md", file.path));
        }
        if !list.contains(name) {
            complaints.push(format!("{} is not in {DECISION_LIST}", file.path));
        }
    }
    complaints
}

fn is_decision(name: &str) -> bool {
    let Some((number, title)) = name.strip_suffix(".md").and_then(|stem| stem.split_once('-')) else {
        return false;
    };
    let plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    number.len() == 4
        && number.chars().all(|digit| digit.is_ascii_digit())
        && !title.is_empty()
        && title.chars().all(plain)
}

/// `docs/…` anywhere in the text, in code marks or not.
fn mentions(tree: &Tree, file: &File) -> Vec<String> {
    let mut complaints = Vec::new();
    for (at, _) in file.text.match_indices("docs/") {
        let before = file.text[..at].chars().next_back();
        if before.is_some_and(|letter| letter.is_alphanumeric() || "/.-_".contains(letter)) {
            continue;
        }
        let rest = &file.text[at..];
        let end = rest.find(|letter: char| !is_path_letter(letter)).unwrap_or(rest.len());
        // A pattern such as docs/decisions/NNNN-*.md names no file.
        let pattern = rest[end..].starts_with(['*', '<', '{', '…']);
        let path = rest[..end].trim_end_matches('.');
        if !pattern && !path.contains("NNNN") && path != "docs/" && !tree.holds(path) {
            complaints.push(format!("{} mentions {path}, which does not exist", file.path));
        }
    }
    complaints
}

fn is_path_letter(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "/._-".contains(letter)
}

/// `[text](path)` with a path inside the workspace.
fn links(tree: &Tree, file: &File) -> Vec<String> {
    let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut complaints = Vec::new();
    for (at, mark) in file.text.match_indices("](") {
        let rest = &file.text[at + mark.len()..];
        let Some(target) = rest.split([')', '#', ' ', '\n']).next() else { continue };
        if target.is_empty() || target.contains("://") || target.starts_with("mailto:") {
            continue;
        }
        if !tree.holds(&joined(folder, target)) {
            complaints.push(format!("{} links to {target}, which does not exist", file.path));
        }
    }
    complaints
}

fn joined(folder: &str, target: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(files: &[(&str, &str)]) -> Vec<String> {
        check(&Tree::of(files)).expect("no error")
    }

    #[test]
    fn a_decision_is_numbered_and_listed() {
        let list = (DECISION_LIST, "- 0001-record-decisions.md");
        assert!(complaints(&[list, ("docs/decisions/0001-record-decisions.md", "")]).is_empty());
        assert!(complaints(&[list, ("docs/decisions/0002-other.md", "")])[0].contains("is not in"));
        assert!(complaints(&[list, ("docs/decisions/1-record.md", "")])[0].contains("is not named"));
    }

    #[test]
    fn a_mentioned_document_exists() {
        let there = ("docs/journal.md", "");
        assert!(
            complaints(&[("README.md", "See `docs/journal.md`. Or docs/decisions/NNNN-*.md."), there])
                .is_empty()
        );
        assert!(complaints(&[("README.md", "See https://example.org/docs/other.md")]).is_empty());
        assert_eq!(complaints(&[("README.md", "See docs/journey.md."), there]).len(), 1);
    }

    #[test]
    fn a_link_leads_somewhere() {
        let there = ("docs/journal.md", "");
        assert!(complaints(&[("bench/README.md", "[journal](../docs/journal.md#frames)"), there]).is_empty());
        assert_eq!(complaints(&[("bench/README.md", "[journal](journal.md)"), there]).len(), 1);
    }
}
