//! The few planted bugs that a daily run tries. Commit after commit all of them have their turn.

use std::process::Command;

use super::patch::{CaughtBy, Patch};
use crate::workspace;

/// Bugs in scripts that one run tries: about two seconds each.
const OF_SCRIPTS: usize = 8;
/// Bugs in Rust that one run tries: each is a build of the rooms above it, some fifteen seconds.
const OF_RUST: usize = 3;

/// How many commits there are; none is as good as the first.
pub(super) fn commits() -> usize {
    let counted =
        Command::new("git").args(["rev-list", "--count", "HEAD"]).current_dir(workspace::root()).output();
    counted.ok().and_then(|output| String::from_utf8(output.stdout).ok()?.trim().parse().ok()).unwrap_or(0)
}

/// The sample of this number, out of all bugs but those that take a large build.
pub(super) fn choose(patches: Vec<Patch>, number: usize) -> Vec<Patch> {
    let (scripts, rust): (Vec<_>, Vec<_>) = patches.into_iter().partition(|patch| patch.of_scripts);
    let small = rust.into_iter().filter(is_small).collect();
    let mut chosen = turn(scripts, OF_SCRIPTS, number);
    chosen.extend(turn(small, OF_RUST, number));
    chosen
}

/// The simulator and the domain's tests build within seconds, a server's tests within minutes.
fn is_small(patch: &Patch) -> bool {
    match &patch.caught_by {
        CaughtBy::Sim(_) => true,
        CaughtBy::Test(words) => words.iter().any(|word| word == "onsale-domain"),
    }
}

/// Neighbours are caught by one program, so that a sample is a stretch of neighbours.
fn turn<T>(mut all: Vec<T>, size: usize, number: usize) -> Vec<T> {
    if all.is_empty() {
        return all;
    }
    let first = (number % all.len()) * size % all.len();
    all.rotate_left(first);
    all.truncate(size);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commit_after_commit_everything_has_its_turn() {
        for (many, size) in [(77, 8), (74, 3), (2, 3), (1, 1), (9, 3)] {
            let seen: std::collections::BTreeSet<usize> =
                (100..100 + many).flat_map(|number| turn((0..many).collect(), size, number)).collect();
            assert_eq!(seen.len(), many, "{many} by {size}");
        }
        assert!(turn(Vec::<u8>::new(), 3, 5).is_empty());
    }
}
