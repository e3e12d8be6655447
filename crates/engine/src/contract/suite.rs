//! Every table of the contract. A table's name is a sentence that it proves; files group them by verb.

pub use onsale_tables::Table;
use onsale_tables::cut;

use super::lines::play;
use super::table::{run, run_with_restarts};
use super::{Harness, auctions, awards, desks, orders, reads, registrations, sales, series};

const FILES: &[(&str, &str)] = &[
    ("hold", include_str!("tables/hold.txt")),
    ("best", include_str!("tables/best.txt")),
    ("extend", include_str!("tables/extend.txt")),
    ("release", include_str!("tables/release.txt")),
    ("confirm", include_str!("tables/confirm.txt")),
    ("override", include_str!("tables/override.txt")),
    ("block", include_str!("tables/block.txt")),
    ("queue", include_str!("tables/queue.txt")),
    ("expire", include_str!("tables/expire.txt")),
    ("life", include_str!("tables/life.txt")),
    ("chart", include_str!("tables/chart.txt")),
    ("keys", include_str!("tables/keys.txt")),
];

/// Plays one table on a fresh engine, with a restart after or before every line if it is `true`.
pub type Play = fn(&str, &mut dyn Harness, bool) -> Result<(), String>;

/// The tables of one kind of listing, or of what lives beside one, with how one is played.
type Kind = (fn() -> Vec<Table>, Play);

const KINDS: [Kind; 8] = [
    (seats, play_seats),
    (sales::all, play::<sales::OfSales>),
    (series::all, play::<series::OfSeries>),
    (registrations::all, play::<registrations::OfRegistrations>),
    (auctions::all, auctions::play),
    (orders::all, orders::play),
    (awards::all, play::<awards::OfAwards>),
    (desks::all, play::<desks::OfDesks>),
];

fn seats() -> Vec<Table> {
    cut(FILES)
}

fn play_seats(table: &str, harness: &mut dyn Harness, restarts: bool) -> Result<(), String> {
    if restarts { run_with_restarts(table, harness) } else { run(table, harness) }
}

/// Every table with how it is played.
pub fn tables() -> Vec<(Table, Play)> {
    let of_kind = |(all, play): Kind| all().into_iter().map(move |table| (table, play));
    KINDS.into_iter().flat_map(of_kind).collect()
}

/// Runs every table on a fresh engine each, twice: in one go, and with a restart after every line.
/// All that fail are printed, whole.
pub fn run_all(fresh: impl FnMut() -> Box<dyn Harness>) {
    run_rounds(&[false, true], fresh);
}

/// The same without restarts, for where they take long and mean nothing new.
pub fn run_in_one_go(fresh: impl FnMut() -> Box<dyn Harness>) {
    run_rounds(&[false], fresh);
}

/// With a restart after every line and nothing else, for where both rounds together take long.
pub fn run_restarted(fresh: impl FnMut() -> Box<dyn Harness>) {
    run_rounds(&[true], fresh);
}

/// One round for each entry, which says whether there is a restart after every line.
fn run_rounds(rounds: &[bool], mut fresh: impl FnMut() -> Box<dyn Harness>) {
    let mut failures = Vec::new();
    let wanted = std::env::var("ONSALE_TABLE").unwrap_or_default();
    for (table, play) in tables().into_iter().filter(|(table, _)| table.name.contains(&wanted)) {
        for &restarts in rounds {
            if let Err(report) = play(table.text, &mut *fresh(), restarts) {
                let restarted = if restarts { " (restarted after every line)" } else { "" };
                failures.push(format!("{}: {}{restarted}\n{report}", table.file, table.name));
                break;
            }
        }
    }
    for (name, read) in reads::ALL.iter().filter(|(name, _)| name.contains(&wanted)) {
        if let Err(why) = read(&mut *fresh()) {
            failures.push(format!("reads: {name}\n{why}\n"));
        }
    }
    assert!(failures.is_empty(), "{} tables fail\n\n{}", failures.len(), failures.join("\n"));
}
