//! What the histories reached: a table of verb and outcome, a column each. A cell that can be reached must be.

use std::collections::{BTreeMap, BTreeSet};

use onsale_domain::{Command, Outcome};
use onsale_engine::Answer;

/// What every verb but the sweep may be answered: it is under a key, and its listing may not be one for it.
const ANY: &[&str] = &["again", "key_reused", "listing_unknown", "wrong_kind"];
/// A verb with every outcome that it can have, besides [`ANY`], and those of `ANY` that it cannot.
pub(crate) type Answers = (&'static str, &'static [&'static str], &'static [&'static str]);
pub(crate) type Reachable = &'static [Answers];

#[derive(Clone, Debug)]
pub(crate) struct Tally {
    cells: BTreeMap<(&'static str, &'static str), u64>,
    strange: Vec<String>,
    pub commands: u64,
    pub accepted: u64,
    /// Commands that failed on a spoiled key, and then did not.
    pub failed: u64,
    /// What every kind can be asked: described, refused a deletion, deleted.
    pub own: [u64; 3],
}

impl Tally {
    pub(crate) fn new(reachable: Reachable) -> Tally {
        let mut cells = BTreeMap::new();
        for (verb, own, never) in reachable {
            for outcome in own.iter().chain(ANY).filter(|outcome| !never.contains(*outcome)) {
                cells.insert((*verb, *outcome), 0);
            }
        }
        Tally { cells, strange: Vec::new(), commands: 0, accepted: 0, failed: 0, own: [0; 3] }
    }

    pub(crate) fn count(&mut self, command: &Command, answer: &Answer) {
        self.commands += 1;
        let label = label(answer);
        if let Command::Listing(_) = command {
            let all = [
                ("describe_listing", "done"),
                ("delete_listing", "listing_in_use"),
                ("delete_listing", "done"),
            ];
            for (count, _) in
                self.own.iter_mut().zip(all).filter(|(_, cell)| *cell == (command.verb().name, label))
            {
                *count += 1;
            }
            return;
        }
        self.accepted += u64::from(answer.outcome.refused().is_none());
        let key = self.cells.keys().find(|(verb, outcome)| *verb == command.verb().name && *outcome == label);
        match key.copied() {
            Some(key) => *self.cells.entry(key).or_default() += 1,
            // Any verb is told so of what was deleted.
            None if label == "listing_unknown" && answer.position.offset > 0 => {}
            // And what is said of a new listing may be wrong.
            None if label == "invalid" && matches!(command, Command::Create(_)) => {}
            None => self.strange.push(format!("{} {label}", command.verb().name)),
        }
    }

    pub(crate) fn add(&mut self, other: &Tally) {
        for (key, count) in &other.cells {
            *self.cells.entry(*key).or_default() += count;
        }
        self.strange.extend(other.strange.iter().cloned());
        self.commands += other.commands;
        self.accepted += other.accepted;
        self.failed += other.failed;
        self.own.iter_mut().zip(other.own).for_each(|(own, other)| *own += other);
    }

    /// How often a verb was answered so.
    #[allow(dead_code, reason = "one test of several asks for single cells")]
    pub(crate) fn reached(&self, verb: &str, outcome: &str) -> u64 {
        let found = self.cells.iter().find(|(cell, _)| **cell == (verb, outcome));
        found.map_or(0, |(_, count)| *count)
    }

    /// Cells that were reached fewer than `least` times, and those that were not thought possible.
    pub(crate) fn complaints(&self, least: u64) -> Vec<String> {
        let rare = self.cells.iter().filter(|(_, count)| **count < least);
        let rare = rare.map(|((verb, outcome), count)| format!("{verb} {outcome}: only {count}"));
        rare.chain(self.strange.iter().map(|strange| format!("{strange}: not thought possible"))).collect()
    }
}

/// The table.
pub(crate) fn print(columns: &[(&str, &Tally)]) {
    let names: Vec<String> = columns.iter().map(|(name, _)| format!("{name:>9}")).collect();
    println!("{:<18} {:<22} {}", "verb", "outcome", names.join(" "));
    for key in columns.iter().flat_map(|(_, tally)| tally.cells.keys()).collect::<BTreeSet<_>>() {
        let counts: Vec<String> =
            columns.iter().map(|(_, tally)| format!("{:>9}", tally.cells[key])).collect();
        println!("{:<18} {:<22} {}", key.0, key.1, counts.join(" "));
    }
    for (name, tally) in columns {
        let percent = 100 * tally.accepted / tally.commands.max(1);
        println!("{name}: {} commands, {percent} % accepted", tally.commands);
    }
}

fn label(answer: &Answer) -> &'static str {
    match &answer.outcome {
        _ if answer.replayed => "again",
        Outcome::Done => "done",
        Outcome::Unchanged => "unchanged",
        Outcome::AlreadyYours(_) => "already_yours",
        Outcome::StillQueued(_) => "still_queued",
        Outcome::AlreadyConfirmed(_) => "already_confirmed",
        Outcome::AlreadyPurchased(_) => "already_purchased",
        Outcome::AlreadyRegistered(_) => "already_registered",
        Outcome::Refused(refusal) if refusal.code.as_str() == "already_yours" => "no:already_yours",
        Outcome::Refused(refusal) => refusal.code.as_str(),
    }
}
