//! A document that names a source file or a folder of a crate names one that exists.

use anyhow::Result;

use super::tree::{File, Tree};

/// It tells what was, so it may name what is gone.
const HISTORY: &str = "CHANGELOG.md";
/// A line of the table "Adding a verb" that tells which file has to be made.
const TO_BE_MADE: &str = "| new:";

pub(super) fn check(tree: &Tree) -> Result<Vec<String>> {
    let documents = tree.markdown().filter(|file| file.path != HISTORY);
    Ok(documents.flat_map(|file| mentions(tree, file)).collect())
}

fn mentions(tree: &Tree, file: &File) -> Vec<String> {
    let mut complaints = Vec::new();
    for line in file.text.lines().filter(|line| !line.contains(TO_BE_MADE)) {
        for path in paths(line) {
            let is_source = path.ends_with(".rs") || path.ends_with(".lua");
            let exists = match path.starts_with("crates/") {
                true => tree.holds(path),
                false => !is_source || names_one(tree, path),
            };
            if !exists {
                complaints.push(format!("{} names {path}, which does not exist", file.path));
            }
        }
    }
    complaints
}

/// Whatever looks like a path. A pattern such as `lua/<kind>/<verb>.lua` or `*.rs` names no file.
fn paths(line: &str) -> impl Iterator<Item = &str> {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "/._-".contains(letter);
    line.split(move |letter: char| !is_letter(letter)).filter_map(move |word| {
        let at = word.as_ptr() as usize - line.as_ptr() as usize;
        let (before, behind) = (line[..at].chars().next_back(), line[at + word.len()..].chars().next());
        let part_of_pattern = |letter: char| "*<>{}…".contains(letter);
        let whole = !before.is_some_and(part_of_pattern) && !behind.is_some_and(part_of_pattern);
        let path = word.trim_end_matches('.');
        (whole && !path.starts_with('/') && !path.starts_with('.') && !path.contains("NAME")).then_some(path)
    })
}

/// Whether some file's path ends like this; `src` may be left out, as in `payments/worker.rs`.
fn names_one(tree: &Tree, path: &str) -> bool {
    let ends_so = |whole: &str| {
        whole.strip_suffix(path).is_some_and(|before| before.is_empty() || before.ends_with('/'))
    };
    tree.files.iter().any(|file| ends_so(&file.path) || ends_so(&file.path.replace("/src/", "/")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(text: &str) -> Vec<String> {
        let there =
            [("crates/payments/src/machine/talk.rs", ""), ("crates/engine-redis/lua/event/hold.lua", "")];
        check(&Tree::of(&[&[("docs/rules.md", text)], &there[..]].concat())).expect("no error")
    }

    #[test]
    fn a_named_file_exists() {
        let right = "`talk.rs`, `machine/talk.rs`, payments/machine/talk.rs and `crates/payments/src`, or `event/hold.lua`.";
        assert_eq!(complaints(right), Vec::<String>::new());
        let wrong = [
            "`talks.rs`",
            "`worker/talk.rs`",
            "`alk.rs`",
            "see crates/server/src/listen.rs.",
            "crates/server",
            "`drop.lua`",
        ];
        for text in wrong {
            assert_eq!(complaints(text).len(), 1, "{text}");
        }
    }

    #[test]
    fn a_pattern_or_a_file_to_be_made_is_no_name() {
        for text in
            ["`lua/<kind>/<verb>.lua`", "`*.rs`", "`crates/sim/mutants/NAME.patch`", "crates/engine/src/…"]
        {
            assert_eq!(complaints(text), Vec::<String>::new(), "{text}");
        }
        assert_eq!(
            complaints("| | `grow.rs` in `crates/domain/src/seats` | new: the rule |"),
            Vec::<String>::new()
        );
        assert!(check(&Tree::of(&[("CHANGELOG.md", "`talks.rs` is gone")])).expect("no error").is_empty());
    }
}
