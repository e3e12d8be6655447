//! What `verify` found, for people and, with `--json`, for programs.

use std::collections::BTreeMap;

use onsale_engine::journal::segment;
use serde::Serialize;

use super::money::Sums;
use crate::cli::look;

#[derive(Debug, Default, Serialize)]
pub(super) struct Report {
    pub data: String,
    /// True if a start would find everything that was ever answered.
    pub sound: bool,
    /// True if the journal alone has all of it: a snapshot only saves reading.
    pub journal_sound: bool,
    /// A server seems to run on the folder; its last frames may be under way.
    pub in_use: bool,
    pub journal: Journal,
    pub steps: u64,
    pub facts: u64,
    pub facts_by_kind: BTreeMap<&'static str, u64>,
    pub events: u64,
    pub venues: u64,
    pub auctions: u64,
    pub bids: u64,
    pub places: u64,
    pub holds: u64,
    pub places_held: u64,
    pub orders: u64,
    pub places_sold: u64,
    pub queue_places: u64,
    pub sales: u64,
    pub units: u64,
    pub units_reserved: u64,
    pub units_sold: u64,
    pub registrations: u64,
    /// Places that somebody has, or that are kept for somebody.
    pub entries: u64,
    pub entries_waiting: u64,
    pub idempotency_keys: u64,
    /// By currency, in minor units: captured minus refunded is what confirmed orders come to.
    pub money: BTreeMap<String, Sums>,
    pub snapshots: Vec<SnapshotReport>,
    pub problems: Vec<String>,
    pub problems_count: u64,
}

#[derive(Debug, Default, Serialize)]
pub(super) struct Journal {
    pub segments: u64,
    pub frames: u64,
    pub bytes: u64,
    pub first_frame: u64,
    pub last_frame: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub torn_tail: Option<Spot>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damage: Option<Spot>,
    /// Half-made files, and segments prepared for later; the next start removes them.
    pub leftovers: Vec<String>,
}

/// A place in a file.
#[derive(Debug, Serialize)]
pub(super) struct Spot {
    pub file: String,
    pub byte: u64,
    pub what: String,
}

#[derive(Debug, Serialize)]
pub(super) struct SnapshotReport {
    pub file: String,
    pub sound: bool,
    pub listings: u64,
    pub idempotency_keys: u64,
    pub what: String,
}

impl Report {
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        let mut tell = |line: &str| {
            text.push_str(line);
            text.push('\n');
        };
        let mut table = look::plain();
        let journal = &self.journal;
        let mut row = |name: &str, text: String| {
            table.add_row(vec![name.to_owned(), text]);
        };
        row("data", self.data.clone());
        let frames = look::counted(journal.frames, "frame");
        let segments = look::counted(journal.segments, "segment");
        row("journal", format!("{frames} in {segments}, {}", look::bytes(journal.bytes)));
        for snapshot in &self.snapshots {
            row("snapshot", format!("{}: {}", snapshot.file, snapshot.what));
        }
        row("facts", format!("{} in {}", look::count(self.facts), look::counted(self.steps, "step")));
        let events = look::counted(self.events, "event");
        let auctions = look::counted(self.auctions, "auction");
        row("listings", format!("{events}, {}, {auctions}", look::counted(self.venues, "venue")));
        row("places", look::count(self.places));
        let held = look::counted(self.places_held, "place");
        row("held", format!("{held} in {}", look::counted(self.holds, "hold")));
        let sold = look::counted(self.places_sold, "place");
        row("sold", format!("{sold} in {}", look::counted(self.orders, "order")));
        row("waiting", format!("{} in line", look::counted(self.queue_places, "buyer")));
        if self.sales > 0 {
            let (sales, units) = (look::counted(self.sales, "sale"), look::counted(self.units, "unit"));
            let (reserved, sold) = (look::count(self.units_reserved), look::count(self.units_sold));
            row("stock", format!("{units} in {sales}, {reserved} reserved, {sold} sold"));
        }
        if self.registrations > 0 {
            let (all, places) =
                (look::counted(self.registrations, "registration"), look::counted(self.entries, "place"));
            let waiting = look::count(self.entries_waiting);
            row("entries", format!("{places} given in {all}, {waiting} waiting"));
        }
        row("bids", look::count(self.bids));
        for (currency, sums) in &self.money {
            let Sums { captured_minor, refunded_minor, confirmed_minor } = sums;
            let text = format!(
                "{currency} {captured_minor} captured - {refunded_minor} refunded, {confirmed_minor} confirmed \
                 (minor units)"
            );
            row("money", text);
        }
        row("keys", look::counted(self.idempotency_keys, "idempotency key"));
        tell(&look::text(&table));
        if !self.facts_by_kind.is_empty() {
            let mut kinds = look::ruled(&["fact", "count"]);
            for (kind, count) in self.in_order() {
                kinds.add_row(vec![comfy_table::Cell::new(kind), look::right(look::count(count))]);
            }
            tell(&look::text(&kinds));
        }
        if self.in_use {
            tell("note: a server seems to run on this folder; its last frames may be under way");
        }
        for leftover in journal.leftovers.iter().filter(|name| name.ends_with(segment::TEMPORARY)) {
            tell(&format!("note: {leftover} is half-made; the next start removes it"));
        }
        if let Some(torn) = &journal.torn_tail {
            tell(&format!("note: {} at byte {}: {}", torn.file, torn.byte, torn.what));
        }
        for problem in &self.problems {
            tell(&format!("problem: {problem}"));
        }
        let more = self.problems_count - self.problems.len() as u64;
        if more > 0 {
            tell(&format!("problem: and {} more", look::count(more)));
        }
        tell(&self.verdict());
        text
    }

    fn verdict(&self) -> String {
        if self.sound {
            return "sound".to_owned();
        }
        if !self.journal_sound {
            return "DAMAGED: restore the data folder from a backup".to_owned();
        }
        let bad: Vec<&str> =
            self.snapshots.iter().filter(|one| !one.sound).map(|one| one.file.as_str()).collect();
        format!(
            "DAMAGED snapshot, nothing is lost: the journal has everything; stop the server, remove {}, start it again",
            bad.join(" and ")
        )
    }

    /// Kinds in the order of their numbers, which tells a listing's life.
    fn in_order(&self) -> impl Iterator<Item = (&'static str, u64)> {
        onsale_domain::Fact::kinds().filter_map(|kind| Some((kind, *self.facts_by_kind.get(kind)?)))
    }
}
