//! A path that exists on one machine only does not belong into the project.

use anyhow::Result;

use super::tree::Tree;

/// Put together here so that this file does not complain about itself.
const HOMES: [&str; 4] =
    [concat!("/ho", "me/"), concat!("/ro", "ot/"), concat!("/Us", "ers/"), concat!(r"C:\Us", r"ers\")];

pub(super) fn check(tree: &Tree) -> Result<Vec<String>> {
    let mut complaints = Vec::new();
    for file in &tree.files {
        for (index, line) in file.text.lines().enumerate() {
            for home in HOMES.iter().filter(|home| starts_a_path(line, home)) {
                complaints.push(format!("{}:{}: `{home}` is somebody's own machine", file.path, index + 1));
            }
        }
    }
    Ok(complaints)
}

/// `src/root/` and `example.org/home/` are no home folders: the path must begin here.
fn starts_a_path(line: &str, home: &str) -> bool {
    line.match_indices(home).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|letter| letter.is_alphanumeric() || "._-}~".contains(letter))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_folder_is_found() {
        for home in HOMES {
            let text = format!("data = \"{home}ann/onsale\"\n");
            assert_eq!(check(&Tree::of(&[("onsale.toml", &text)])).expect("no error").len(), 1, "{home}");
        }
        let fine = format!("see example.org{}ann\n", HOMES[0]);
        assert!(check(&Tree::of(&[("README.md", &fine)])).expect("no error").is_empty());
    }
}
