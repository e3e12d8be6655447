//! Words that mean "not finished", "not run" or "hope it is ready by now" do not stand in the shipped source.
//! Exceptions live in `xtask/tidy-allow.toml`, each with a reason.

use anyhow::Result;

use super::allow;
use super::tree::Tree;

/// The word, and whether tests outside `src` may use it.
const BANNED: [(&str, bool); 4] =
    [("TODO", false), ("FIXME", false), ("#[ignore", false), ("thread::sleep", true)];

pub(super) fn check(tree: &Tree) -> Result<Vec<String>> {
    let exceptions = allow::read(tree)?;
    let mut needed = vec![false; exceptions.len()];
    let mut complaints = Vec::new();
    for file in tree.rust().filter(|file| file.path.starts_with("crates/")) {
        let shipped = file.path.split('/').nth(2) == Some("src");
        for (word, fine_in_tests) in BANNED {
            if !shipped && fine_in_tests {
                continue;
            }
            for (index, line) in file.text.lines().enumerate().filter(|(_, line)| holds(line, word)) {
                let place = exceptions.iter().position(|one| one.file == file.path && one.word == word);
                match place {
                    Some(place) => needed[place] = true,
                    None => {
                        complaints.push(format!("{}:{}: `{word}` in `{}`", file.path, index + 1, line.trim()))
                    }
                }
            }
        }
    }
    for (exception, _) in exceptions.iter().zip(needed).filter(|(_, needed)| !needed) {
        complaints.push(format!(
            "{}: nobody needs `{}` in {} any more",
            allow::LIST,
            exception.word,
            exception.file
        ));
    }
    Ok(complaints)
}

/// The word on its own: `TODOS` is another word.
fn holds(line: &str, word: &str) -> bool {
    let letter = |found: Option<char>| found.is_some_and(|found| found.is_alphanumeric() || found == '_');
    line.match_indices(word).any(|(at, _)| {
        !letter(line[..at].chars().next_back()) && !letter(line[at + word.len()..].chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(path: &str, text: &str) -> usize {
        check(&Tree::of(&[(path, text)])).expect("no error").len()
    }

    #[test]
    fn each_word_is_found_in_the_source() {
        for (word, _) in BANNED {
            assert_eq!(
                complaints("crates/engine/src/a.rs", &format!("fn a() {{}} // {word}(1)\n")),
                1,
                "{word}"
            );
        }
        assert_eq!(complaints("crates/engine/src/a.rs", "const TODOS: u8 = 1;\n"), 0);
    }

    #[test]
    fn a_test_may_sleep_but_not_be_ignored() {
        assert_eq!(complaints("crates/onsale/tests/kill.rs", "thread::sleep(tick);\n"), 0);
        assert_eq!(complaints("crates/onsale/tests/kill.rs", "#[ignore = \"slow\"]\n"), 1);
    }

    #[test]
    fn an_exception_holds_for_its_file_and_must_be_needed() {
        let list = "[[allow]]\nfile = \"crates/engine/src/a.rs\"\nword = \"thread::sleep\"\nreason = \"paces the disk in a test\"\n";
        let with = |text: &str| {
            check(&Tree::of(&[(allow::LIST, list), ("crates/engine/src/a.rs", text)])).expect("no error")
        };
        assert!(with("thread::sleep(tick);\n").is_empty());
        assert!(with("fn quiet() {}\n")[0].contains("any more"));
    }
}
