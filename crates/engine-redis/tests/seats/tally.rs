//! What the histories reached: a table of verb and outcome by layout. A cell that can be reached must be.

use std::collections::BTreeMap;

use onsale_domain::{Command, Outcome};
use onsale_engine::Answer;

/// What every verb but the sweep may be answered: it is under a key, and its listing may not be one for it.
const ANY: &[&str] = &["again", "key_reused", "listing_unknown", "wrong_kind"];
const OF_A_HOLD: &[&str] =
    &["done", "hold_unknown", "expired", "released", "overridden", "hold_confirmed", "stale_fence"];

/// Every outcome that a verb can have, besides [`ANY`].
const REACHABLE: &[(&str, &[&str], &[&str])] = &[
    ("create_event", &["done", "listing_exists", "invalid"], &["wrong_kind"]),
    ("create_venue", &["done", "listing_exists", "invalid"], &["wrong_kind"]),
    ("publish_layout", &["done", "invalid"], &[]),
    ("change_event", &["done", "unchanged", "invalid", "status_conflict"], &[]),
    ("adopt_chart", &["done", "invalid", "status_conflict", "seat_in_use"], &[]),
    ("change_status", &["done", "unchanged", "status_conflict"], &[]),
    (
        "place_hold",
        &[
            "done",
            "already_yours",
            "invalid",
            "event_cancelled",
            "sale_not_started",
            "sale_closed",
            "seat_unknown",
            "area_unknown",
            "seat_sold",
            "seat_blocked",
            "seat_held",
            "no:already_yours",
            "area_full",
            "buyer_limit",
            "leaves_single_seat",
            "not_enough_seats",
            "id_taken",
        ],
        &[],
    ),
    ("extend_hold", &["invalid", "event_cancelled", "extensions_used", "extension_cap"], &[]),
    ("drop_seats", &["invalid", "event_cancelled", "seat_not_in_hold"], &[]),
    ("release_hold", &[], &[]),
    ("confirm_hold", &["event_cancelled", "id_taken"], &[]),
    ("override_hold", &["invalid", "event_cancelled"], &["stale_fence"]),
    ("refund_order", &["done", "invalid", "order_unknown", "not_refundable"], &[]),
    ("block_seats", &["done", "unchanged", "invalid", "seat_unknown", "area_unknown", "area_full"], &[]),
    ("unblock_seats", &["done", "unchanged", "invalid", "seat_unknown", "area_unknown"], &[]),
    (
        "join_queue",
        &[
            "done",
            "still_queued",
            "event_cancelled",
            "sale_not_started",
            "sale_closed",
            "seat_unknown",
            "seat_sold",
            "seat_blocked",
            "seat_available",
            "no:already_yours",
            "queue_full",
            "queue_limit",
            "id_taken",
        ],
        &[],
    ),
    ("leave_queue", &["done", "seat_unknown", "place_unknown"], &[]),
    ("expire_due", &["done", "unchanged"], &["again", "key_reused"]),
];

fn cells() -> BTreeMap<(&'static str, &'static str), u64> {
    let mut cells = BTreeMap::new();
    for (verb, own, never) in REACHABLE {
        let of_a_hold =
            matches!(*verb, "extend_hold" | "drop_seats" | "release_hold" | "confirm_hold" | "override_hold");
        let of_a_hold = OF_A_HOLD.iter().filter(|_| of_a_hold);
        for outcome in own.iter().chain(ANY).chain(of_a_hold).filter(|outcome| !never.contains(*outcome)) {
            cells.insert((*verb, *outcome), 0);
        }
    }
    cells
}

#[derive(Clone, Debug)]
pub struct Tally {
    cells: BTreeMap<(&'static str, &'static str), u64>,
    strange: Vec<String>,
    pub commands: u64,
    pub accepted: u64,
}

impl Default for Tally {
    fn default() -> Tally {
        Tally { cells: cells(), strange: Vec::new(), commands: 0, accepted: 0 }
    }
}

impl Tally {
    pub fn count(&mut self, command: &Command, answer: &Answer) {
        self.commands += 1;
        let label = label(answer);
        self.accepted += u64::from(answer.outcome.refused().is_none());
        let key = self.cells.keys().find(|(verb, outcome)| *verb == command.verb() && *outcome == label);
        match key.copied() {
            Some(key) => *self.cells.entry(key).or_default() += 1,
            None => self.strange.push(format!("{} {label}", command.verb())),
        }
    }

    pub fn add(&mut self, other: &Tally) {
        for (key, count) in &other.cells {
            *self.cells.entry(*key).or_default() += count;
        }
        self.strange.extend(other.strange.iter().cloned());
        self.commands += other.commands;
        self.accepted += other.accepted;
    }

    /// Cells that were reached fewer than `least` times, and those that were not thought possible.
    pub fn complaints(&self, least: u64) -> Vec<String> {
        let rare = self.cells.iter().filter(|(_, count)| **count < least);
        let rare = rare.map(|((verb, outcome), count)| format!("{verb} {outcome}: only {count}"));
        rare.chain(self.strange.iter().map(|strange| format!("{strange}: not thought possible"))).collect()
    }
}

/// The table, one column a layout.
pub fn print(columns: &[(&str, &Tally)]) {
    let names: Vec<String> = columns.iter().map(|(name, _)| format!("{name:>9}")).collect();
    println!("{:<15} {:<20} {}", "verb", "outcome", names.join(" "));
    for key in cells().keys() {
        let counts: Vec<String> =
            columns.iter().map(|(_, tally)| format!("{:>9}", tally.cells[key])).collect();
        println!("{:<15} {:<20} {}", key.0, key.1, counts.join(" "));
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
        Outcome::AlreadyPurchased(_) => "already_purchased",
        Outcome::AlreadyRegistered(_) => "already_registered",
        Outcome::Refused(refusal) if refusal.code.as_str() == "already_yours" => "no:already_yours",
        Outcome::Refused(refusal) => refusal.code.as_str(),
    }
}
