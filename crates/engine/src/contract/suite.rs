//! Every table of the contract. A table's name is a sentence that it proves; files group them by verb.

pub use onsale_tables::Table;
use onsale_tables::cut;

use super::lines::play;
use super::table::{run, run_with_restarts};
use super::{Harness, auctions, awards, desks, orders, own, reads, registrations, sales, series};

const HOLDS: &[(&str, &str)] = &[
    ("hold", include_str!("tables/hold.txt")),
    ("best", include_str!("tables/best.txt")),
    ("extend", include_str!("tables/extend.txt")),
    ("release", include_str!("tables/release.txt")),
    ("confirm", include_str!("tables/confirm.txt")),
    ("override", include_str!("tables/override.txt")),
];

const EVENTS: &[(&str, &str)] = &[
    ("block", include_str!("tables/block.txt")),
    ("queue", include_str!("tables/queue.txt")),
    ("expire", include_str!("tables/expire.txt")),
    ("life", include_str!("tables/life.txt")),
    ("chart", include_str!("tables/chart.txt")),
    ("keys", include_str!("tables/keys.txt")),
];

/// Plays one table on a fresh engine, with a restart after or before every line if it is `true`.
pub type Play = fn(&str, &mut dyn Harness, bool) -> Result<(), String>;

/// Which tables, for where all of them in one test would take long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Holds of seats and places, with what readers are owed.
    Holds,
    /// Events and venues, queues and deadlines.
    Events,
    Auctions,
    /// Sales, series and registrations.
    Stock,
    /// Orders and desks, and what every kind of listing can do.
    Orders,
}

impl Part {
    pub const ALL: [Part; 5] = [Part::Holds, Part::Events, Part::Auctions, Part::Stock, Part::Orders];
}

/// The tables of one kind of listing, or of what lives beside one, with how one is played.
type Kind = (Part, fn() -> Vec<Table>, Play);

const KINDS: [Kind; 10] = [
    (Part::Holds, holds, play_seats),
    (Part::Events, events, play_seats),
    (Part::Stock, sales::all, play::<sales::OfSales>),
    (Part::Stock, series::all, play::<series::OfSeries>),
    (Part::Stock, registrations::all, play::<registrations::OfRegistrations>),
    (Part::Auctions, auctions::all, auctions::play),
    (Part::Orders, orders::all, orders::play),
    (Part::Auctions, awards::all, play::<awards::OfAwards>),
    (Part::Orders, desks::all, play::<desks::OfDesks>),
    (Part::Orders, own::all, own::play),
];

fn holds() -> Vec<Table> {
    cut(HOLDS)
}

fn events() -> Vec<Table> {
    cut(EVENTS)
}

fn play_seats(table: &str, harness: &mut dyn Harness, restarts: bool) -> Result<(), String> {
    if restarts { run_with_restarts(table, harness) } else { run(table, harness) }
}

/// Every table with how it is played.
pub fn tables() -> Vec<(Table, Play)> {
    Part::ALL.into_iter().flat_map(tables_of).collect()
}

fn tables_of(part: Part) -> Vec<(Table, Play)> {
    let kinds = KINDS.into_iter().filter(|(of, _, _)| *of == part);
    kinds.flat_map(|(_, all, play)| all().into_iter().map(move |table| (table, play))).collect()
}

/// Runs every table on a fresh engine each, twice: in one go, and with a restart after every line.
/// All that fail are printed, whole.
pub fn run_all(fresh: impl FnMut() -> Box<dyn Harness>) {
    run_rounds(&Part::ALL, &[false, true], fresh);
}

/// Some parts without restarts, for where they take long and mean nothing new.
pub fn run_in_one_go(parts: &[Part], fresh: impl FnMut() -> Box<dyn Harness>) {
    run_rounds(parts, &[false], fresh);
}

/// One part with a restart after every line and nothing else, for where both rounds together take long.
pub fn run_restarted(part: Part, fresh: impl FnMut() -> Box<dyn Harness>) {
    run_rounds(&[part], &[true], fresh);
}

/// One round for each entry, which says whether there is a restart after every line.
fn run_rounds(parts: &[Part], rounds: &[bool], mut fresh: impl FnMut() -> Box<dyn Harness>) {
    let mut failures = Vec::new();
    let wanted = std::env::var("ONSALE_TABLE").unwrap_or_default();
    let tables = parts.iter().flat_map(|part| tables_of(*part));
    for (table, play) in tables.filter(|(table, _)| table.name.contains(&wanted)) {
        for &restarts in rounds {
            if let Err(report) = play(table.text, &mut *fresh(), restarts) {
                let restarted = if restarts { " (restarted after every line)" } else { "" };
                failures.push(format!("{}: {}{restarted}\n{report}", table.file, table.name));
                break;
            }
        }
    }
    let reads = if parts.contains(&Part::Holds) { reads::ALL } else { &[] };
    for (name, read) in reads.iter().filter(|(name, _)| name.contains(&wanted)) {
        if let Err(why) = read(&mut *fresh()) {
            failures.push(format!("reads: {name}\n{why}\n"));
        }
    }
    assert!(failures.is_empty(), "{} tables fail\n\n{}", failures.len(), failures.join("\n"));
}
