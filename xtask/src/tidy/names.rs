//! Names that say nothing about what is inside are not used for a file or a folder.

use anyhow::Result;

use super::tree::Tree;

const SAY_NOTHING: [&str; 6] = ["core", "common", "utils", "helpers", "misc", "manager"];

pub(super) fn check(tree: &Tree) -> Result<Vec<String>> {
    let mut complaints = Vec::new();
    for file in &tree.files {
        for part in file.path.split('/') {
            let stem = part.split('.').next().unwrap_or(part).to_lowercase();
            let banned = SAY_NOTHING.iter().any(|name| {
                stem == *name || stem.ends_with(&format!("_{name}")) || stem.ends_with(&format!("-{name}"))
            });
            if banned {
                complaints.push(format!("{}: `{part}` says nothing about what is inside", file.path));
            }
        }
    }
    Ok(complaints)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drawer_is_found_as_file_and_as_folder() {
        let bad = ["crates/core/src/lib.rs", "crates/engine/src/utils.rs", "crates/engine/src/seat_utils.rs"];
        for path in bad {
            assert_eq!(check(&Tree::of(&[(path, "")])).expect("no error").len(), 1, "{path}");
        }
    }

    #[test]
    fn a_word_inside_a_longer_one_is_fine() {
        assert!(check(&Tree::of(&[("crates/domain/src/score.rs", "")])).expect("no error").is_empty());
    }
}
