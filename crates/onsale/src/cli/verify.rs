//! `onsale verify`: reads a data folder offline, checks every frame, fact and snapshot, and changes nothing.

mod auctions;
mod books;
mod money;
mod registrations;
mod replay;
mod report;
mod seats;
mod stock;

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::Args as ClapArgs;
use onsale_domain::ListingKind;
use onsale_engine::disk::{Disk, FolderDisk};
use onsale_engine::embedded::recover;
use onsale_engine::journal::{self, segment};
use onsale_engine::snapshot::{self, NamedSnapshot, Snapshot};

use self::replay::Replay;
use self::report::{Journal, Report, SnapshotReport, Spot};
use super::look;

/// The folder cannot be verified because there is nothing to verify.
const USAGE: u8 = 2;
/// The bar moves once in so many bytes.
const BAR_STEP_BYTES: u64 = 1 << 20;

/// Check a data folder: every frame, fact, invariant and snapshot
#[derive(Debug, ClapArgs)]
#[command(after_help = "Exit code: 0 sound, 1 damaged, 2 nothing to verify.
Reads only; a server may run on the folder meanwhile.

Examples:
  onsale verify onsale-data
  onsale verify onsale-data --json | jq .facts_by_kind
  onsale verify backup/onsale-data && echo usable")]
pub struct Args {
    /// The data folder
    #[arg(value_name = "FOLDER")]
    data: PathBuf,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if !args.data.is_dir() {
        eprintln!("onsale: there is no folder {}; name the server's data folder", args.data.display());
        return Ok(ExitCode::from(USAGE));
    }
    let disk = FolderDisk::open_read_only(&args.data)?;
    let Some(generation) = journal::recovery::generation(&disk)? else {
        eprintln!(
            "onsale: {} holds no journal; name the folder that `onsale serve` was started with",
            args.data.display()
        );
        return Ok(ExitCode::from(USAGE));
    };
    let report = verify(&args.data, &disk, generation)?;
    if args.json {
        look::show(&serde_json::to_string_pretty(&report)?)?;
    } else {
        look::show(&report.text())?;
    }
    Ok(if report.sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn verify(data: &Path, disk: &FolderDisk, generation: u128) -> anyhow::Result<Report> {
    let mut replay = Replay::default();
    let in_use = in_use(data);
    let snapshots = snapshot::all(disk, generation)?;
    let contents = take_snapshots(&mut replay, &snapshots);
    if oldest_segment(disk)? > 1 {
        // What the removed segments held is in the oldest whole snapshot.
        let oldest = contents.iter().find_map(|content| content.as_ref().ok());
        let oldest = oldest.context("the journal's beginning is gone and no snapshot is whole")?;
        let content = recover::content(oldest.snapshot)?;
        content.listings.into_iter().for_each(|(number, listing)| replay.start_from(number, listing));
    }
    let bar = look::bar(segment_bytes(disk)?, " {bar:40} {percent}%  {binary_bytes_per_sec}  {eta} left");
    let mut pending = 0;
    // The listings assert; a finding must not look like a crash of ours.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let inspected = journal::recovery::inspect(disk, &mut |position, payload| {
        replay.frame(position, payload);
        pending += payload.len() as u64;
        if pending >= BAR_STEP_BYTES {
            bar.inc(std::mem::take(&mut pending));
        }
    });
    replay.finish();
    std::panic::set_hook(hook);
    bar.finish_and_clear();
    let inspection = inspected?;

    let mut report = Report { data: data.display().to_string(), in_use, ..Report::default() };
    report.journal = Journal {
        segments: inspection.report.segments,
        frames: inspection.report.frames,
        bytes: inspection.report.bytes,
        first_frame: inspection.first_sequence,
        last_frame: inspection.report.last_sequence,
        torn_tail: inspection.torn.map(|torn| Spot {
            file: segment::name(torn.segment),
            byte: torn.at,
            what: format!(
                "a torn tail of {}, which nobody was told of; the next start cuts it",
                look::counted(inspection.report.cut_bytes, "byte")
            ),
        }),
        damage: inspection.damage.as_ref().map(|damage| Spot {
            file: damage.file.clone(),
            byte: damage.at,
            what: damage.reason.clone(),
        }),
        leftovers: inspection.leftovers,
    };
    if let Some(damage) = &inspection.damage {
        let expected =
            damage.expected.map_or(String::new(), |frame| format!(", where frame {frame} belongs"));
        let (file, at, reason) = (&damage.file, damage.at, &damage.reason);
        replay.problems.add(format!("{file} is damaged at byte {at}{expected}: {reason}"));
    }
    report.journal_sound = replay.problems.count == 0;
    report.snapshots = judge(&mut replay, &snapshots, &contents, inspection.damage.is_some());
    fill(&mut report, replay);
    Ok(report)
}

/// What a snapshot holds, or why it cannot be read.
struct Content<'a> {
    snapshot: &'a Snapshot,
    listings: u64,
    records: u64,
}

fn take_snapshots<'a>(
    replay: &mut Replay,
    snapshots: &'a [NamedSnapshot],
) -> Vec<Result<Content<'a>, String>> {
    let mut contents = Vec::new();
    for (index, (_, snapshot)) in snapshots.iter().enumerate() {
        contents.push(match snapshot {
            Err(error) => Err(error.to_string()),
            Ok(snapshot) => match recover::content(snapshot) {
                Err(error) => Err(error.to_string()),
                Ok(content) => {
                    let listings = content.listings.len() as u64;
                    for (number, listing) in &content.listings {
                        replay.expect(index, *number, listing);
                    }
                    Ok(Content { snapshot, listings, records: content.records })
                }
            },
        });
    }
    contents
}

fn judge(
    replay: &mut Replay,
    snapshots: &[NamedSnapshot],
    contents: &[Result<Content<'_>, String>],
    damaged: bool,
) -> Vec<SnapshotReport> {
    let mut reports = Vec::new();
    for (index, ((file, _), content)) in snapshots.iter().zip(contents).enumerate() {
        let equal = replay.equal.get(&index).copied().unwrap_or(0);
        let (sound, listings, keys, what) = match content {
            Err(why) => (false, 0, 0, why.clone()),
            Ok(Content { listings, records, .. }) if equal == *listings => {
                let what = format!("{} as replayed", look::counted(*listings, "listing"));
                (true, *listings, *records, what)
            }
            // Behind damage there is nothing to compare with.
            Ok(Content { listings, records, .. }) if damaged => {
                (true, *listings, *records, format!("readable, {equal} of {listings} listings compared"))
            }
            Ok(Content { listings, records, .. }) => {
                let differ = listings - equal;
                (
                    false,
                    *listings,
                    *records,
                    format!("{differ} of {listings} listings differ from the journal"),
                )
            }
        };
        if !sound {
            replay.problems.add(format!("{file}: {what}"));
        }
        reports.push(SnapshotReport { file: file.clone(), sound, listings, idempotency_keys: keys, what });
    }
    reports
}

fn fill(report: &mut Report, replay: Replay) {
    report.events = replay.count(ListingKind::Event);
    report.venues = replay.count(ListingKind::Venue);
    report.sales = replay.count(ListingKind::Sale);
    auctions::fill(report, &replay);
    for (totals, stock) in replay.totals() {
        report.units += stock.units;
        report.units_reserved += stock.reserved;
        report.units_sold += stock.sold;
        report.places += totals.places;
        report.holds += totals.holds;
        report.places_held += totals.held;
        report.orders += totals.orders;
        report.places_sold += totals.sold;
        report.queue_places += totals.waiting;
    }
    for totals in replay.registrations() {
        report.registrations += 1;
        report.entries += totals.confirmed + totals.kept;
        report.entries_waiting += totals.waiting;
    }
    for (currency, sums) in replay.money() {
        let all = report.money.entry(currency.to_owned()).or_default();
        all.captured_minor += sums.captured_minor;
        all.refunded_minor += sums.refunded_minor;
        all.confirmed_minor += sums.confirmed_minor;
    }
    report.steps = replay.steps;
    report.facts = replay.facts;
    report.facts_by_kind = replay.by_kind.iter().map(|(kind, count)| (*kind, *count)).collect();
    report.idempotency_keys = replay.keys();
    report.sound = replay.problems.count == 0;
    report.problems_count = replay.problems.count;
    report.problems = replay.problems.told;
}

/// Whether somebody holds the folder's lock. Looks for an instant and lets go.
fn in_use(data: &Path) -> bool {
    let Ok(lock) = File::open(data.join("lock")) else { return false };
    matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock))
}

fn segments(disk: &dyn Disk) -> anyhow::Result<Vec<(u64, String)>> {
    let names = disk.list().context("the data folder cannot be listed")?;
    Ok(names.into_iter().filter_map(|name| Some((segment::number(&name)?, name))).collect())
}

fn oldest_segment(disk: &dyn Disk) -> anyhow::Result<u64> {
    Ok(segments(disk)?.into_iter().map(|(number, _)| number).min().unwrap_or(1))
}

/// How much there is to read at most; segments are made larger than what they hold so far.
fn segment_bytes(disk: &dyn Disk) -> anyhow::Result<u64> {
    let mut bytes = 0;
    for (_, name) in segments(disk)? {
        bytes += disk.open(&name).and_then(|file| file.len()).with_context(|| name)?;
    }
    Ok(bytes)
}
