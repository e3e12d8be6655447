//! One limit as an operator writes it, and what is checked of it when the server starts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::gcra::{Micros, Rate};

/// The seeds' windows: a minute to an hour.
pub(super) const WINDOW_S_MIN: u32 = 60;
pub(super) const WINDOW_S_MAX: u32 = 3_600;
/// A token is a whole number of microseconds, rounded up: at this rate in a minute that is 2 % less than was asked for, and less than that
/// below it.
pub(super) const COUNT_MAX: u32 = 1_000_000;
/// One for short and one for long stretches of time.
pub(super) const POLICIES_MAX: usize = 2;

/// So many requests in a window; and so many at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// Requests in each window.
    #[schemars(range(min = 1, max = COUNT_MAX))]
    pub count: u32,
    /// The window in seconds.
    #[schemars(range(min = WINDOW_S_MIN, max = WINDOW_S_MAX))]
    pub window_s: u32,
    /// Requests at once, after a while of none; they are of the same count.
    #[schemars(range(min = 1, max = COUNT_MAX))]
    pub burst: u32,
}

#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum PolicyError {
    #[error("count must be 1 to {COUNT_MAX}, and is {0}")]
    Count(u32),
    #[error("window_s must be {WINDOW_S_MIN} to {WINDOW_S_MAX}, and is {0}")]
    Window(u32),
    #[error("burst must be 1 to count ({count}), and is {burst}")]
    Burst { count: u32, burst: u32 },
    #[error("at most {POLICIES_MAX} limits, and there are {0}")]
    Policies(usize),
    #[error("two limits have the same window of {0} s")]
    SameWindow(u32),
}

impl Policy {
    pub const fn new(count: u32, window_s: u32, burst: u32) -> Policy {
        Policy { count, window_s, burst }
    }

    pub fn check(&self) -> Result<(), PolicyError> {
        if !(1..=COUNT_MAX).contains(&self.count) {
            return Err(PolicyError::Count(self.count));
        }
        if !(WINDOW_S_MIN..=WINDOW_S_MAX).contains(&self.window_s) {
            return Err(PolicyError::Window(self.window_s));
        }
        if !(1..=self.count).contains(&self.burst) {
            return Err(PolicyError::Burst { count: self.count, burst: self.burst });
        }
        Ok(())
    }

    /// All limits of one subject in one class.
    pub fn check_all(all: &[Policy]) -> Result<(), PolicyError> {
        if all.len() > POLICIES_MAX {
            return Err(PolicyError::Policies(all.len()));
        }
        if let [one, other] = all
            && one.window_s == other.window_s
        {
            return Err(PolicyError::SameWindow(one.window_s));
        }
        all.iter().try_for_each(Policy::check)
    }

    pub fn rate(&self) -> Rate {
        Rate::new(self.count, Micros::from(self.window_s) * 1_000_000, self.burst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_that_makes_no_sense_is_named() {
        let good = Policy::new(60, 60, 20);
        let cases = [
            (vec![], Ok(())),
            (vec![good, Policy::new(300, 3_600, 300)], Ok(())),
            (vec![Policy::new(0, 60, 1)], Err(PolicyError::Count(0))),
            (vec![Policy::new(COUNT_MAX + 1, 60, 1)], Err(PolicyError::Count(COUNT_MAX + 1))),
            (vec![Policy::new(60, 59, 1)], Err(PolicyError::Window(59))),
            (vec![Policy::new(60, 3_601, 1)], Err(PolicyError::Window(3_601))),
            (vec![Policy::new(60, 60, 0)], Err(PolicyError::Burst { count: 60, burst: 0 })),
            (vec![Policy::new(60, 60, 61)], Err(PolicyError::Burst { count: 60, burst: 61 })),
            (vec![good, good], Err(PolicyError::SameWindow(60))),
            (vec![good; 3], Err(PolicyError::Policies(3))),
        ];
        for (policies, expected) in cases {
            assert_eq!(Policy::check_all(&policies), expected, "{policies:?}");
        }
    }
}
