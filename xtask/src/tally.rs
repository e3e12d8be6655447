//! Counts tests from what `cargo test` prints; nothing else is believed.

use std::fmt;

/// What the runner said, summed over all its test binaries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub passed: u64,
    pub failed: u64,
    /// Ignored and filtered-out tests: both did not run.
    pub skipped: u64,
}

impl Tally {
    pub(crate) fn of(output: &str) -> Self {
        let mut tally = Self::default();
        output.lines().for_each(|line| tally.see(line));
        tally
    }

    /// Takes one line of the runner's output; only its `test result:` lines count.
    pub(crate) fn see(&mut self, line: &str) {
        let Some((_, counts)) = line.split_once("test result: ") else { return };
        self.passed += before(counts, " passed");
        self.failed += before(counts, " failed");
        self.skipped += before(counts, " ignored") + before(counts, " filtered out");
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
    }
}

fn before(counts: &str, word: &str) -> u64 {
    let head = counts.split_once(word).map_or("", |(head, _)| head);
    head.rsplit(' ').next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_binary_counts() {
        let sum = Tally::of(
            "test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
             test seats::a_seat_is_free_again ... ok
             test result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.20s",
        );
        assert_eq!(sum, Tally { passed: 15, failed: 1, skipped: 0 });
        assert_eq!(sum.to_string(), "15 passed, 1 failed, 0 skipped");
    }

    #[test]
    fn ignored_and_filtered_tests_are_skipped_tests() {
        let sum = Tally::of(
            "test result: ok. 1 passed; 0 failed; 2 ignored; 0 measured; 40 filtered out; finished in 0s",
        );
        assert_eq!(sum, Tally { passed: 1, failed: 0, skipped: 42 });
    }

    #[test]
    fn other_lines_do_not_count() {
        assert_eq!(Tally::of("running 5 tests\n5 passed by the window"), Tally::default());
    }
}
