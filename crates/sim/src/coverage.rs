//! What a run really met: verbs by outcome, faults by kind, checks made. A simulation that meets nothing proves nothing.

use std::collections::BTreeMap;
use std::fmt;

#[derive(Clone, Debug, Default)]
pub struct Coverage {
    pub outcomes: BTreeMap<(&'static str, &'static str), u64>,
    pub faults: BTreeMap<&'static str, u64>,
    pub facts: BTreeMap<&'static str, u64>,
    /// What became of orders for awards and places.
    pub courses: BTreeMap<&'static str, u64>,
    pub commands: u64,
    pub accepted: u64,
    pub restarts: u64,
}

impl Coverage {
    pub fn outcome(&mut self, verb: &'static str, outcome: &'static str) {
        *self.outcomes.entry((verb, outcome)).or_default() += 1;
        self.commands += 1;
        self.accepted += u64::from(is_yes(outcome));
    }

    pub fn fault(&mut self, kind: &'static str) {
        *self.faults.entry(kind).or_default() += 1;
    }

    pub fn fact(&mut self, kind: &'static str) {
        *self.facts.entry(kind).or_default() += 1;
    }

    pub fn add(&mut self, other: &Coverage) {
        for (cell, count) in &other.outcomes {
            *self.outcomes.entry(*cell).or_default() += count;
        }
        for (kind, count) in &other.faults {
            *self.faults.entry(kind).or_default() += count;
        }
        for (kind, count) in &other.facts {
            *self.facts.entry(kind).or_default() += count;
        }
        self.follow(&other.courses);
        self.commands += other.commands;
        self.accepted += other.accepted;
        self.restarts += other.restarts;
    }

    pub fn follow(&mut self, courses: &BTreeMap<&'static str, u64>) {
        for (course, count) in courses {
            *self.courses.entry(course).or_default() += count;
        }
    }

    /// How often a verb was answered with a yes.
    pub fn yes(&self, verb: &str) -> u64 {
        let cells = self.outcomes.iter().filter(|((of, outcome), _)| *of == verb && is_yes(outcome));
        cells.map(|(_, count)| count).sum()
    }

    /// How often a code was the answer, whatever the verb.
    pub fn code(&self, code: &str) -> u64 {
        self.outcomes.iter().filter(|((_, outcome), _)| *outcome == code).map(|(_, count)| count).sum()
    }
}

fn is_yes(outcome: &str) -> bool {
    matches!(outcome, "done" | "unchanged" | "yours_already" | "still_queued" | "replayed")
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut verb = "";
        for ((of, outcome), count) in &self.outcomes {
            if *of != verb {
                write!(f, "{}{of:<15}", if verb.is_empty() { "" } else { "\n" })?;
                verb = of;
            }
            write!(f, " {outcome} {count}")?;
        }
        write!(f, "\nfaults         ")?;
        self.faults.iter().try_for_each(|(kind, count)| write!(f, " {kind} {count}"))?;
        write!(f, "\nfacts          ")?;
        self.facts.iter().try_for_each(|(kind, count)| write!(f, " {kind} {count}"))?;
        write!(f, "\nkept goods     ")?;
        self.courses.iter().try_for_each(|(course, count)| write!(f, " {course} {count}"))
    }
}
