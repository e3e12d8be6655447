//! Old journals open for ever: folders written by the first format, with every kind of fact in them. Beside each stands
//! what is in it. A folder is never written again: `ONSALE_WRITE_FIXTURE=1 cargo test -p onsale-engine --test
//! journal_fixture` writes the next one, with those tables of the contract that bring a kind of fact that is missing.

mod renumbered;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use onsale_domain::listing::Key;
use onsale_domain::{Command, Fact, ListingId, Millis, Step};
use onsale_engine::contract::direct::Direct;
use onsale_engine::contract::suite;
use onsale_engine::embedded::clock::ManualClock;
use onsale_engine::embedded::{EmbeddedEngine, Options};
use onsale_engine::journal::{self, Preparation};
use onsale_engine::log::Cursor;
use onsale_engine::{Engine, Request};

use renumbered::Renumbered;

/// Before every fact of every folder.
const START: Millis = 1_700_000_000_000;
/// What is in a journal, beside it.
const CONTENTS: &str = "contents.txt";

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/journal-v1")
}

/// The folders in the order in which they were written.
fn folders() -> Vec<PathBuf> {
    (1..).map(|number| fixtures().join(number.to_string())).take_while(|folder| folder.exists()).collect()
}

fn open(folder: &Path, clock: &Arc<ManualClock>) -> EmbeddedEngine {
    let journal = journal::Options { segment_bytes: 16 << 10, preparation: Preparation::OnRequest };
    // A sweep would write facts of its own.
    let options = Options { shards: 1, sweeps: false, journal, clock: clock.clone(), ..Options::default() };
    EmbeddedEngine::open(folder, options).expect("an old journal opens")
}

/// A copy, so that opening it changes nothing in the repository.
fn copied(from: &Path) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for file in std::fs::read_dir(from).expect("the fixture is in the repository").flatten() {
        if file.file_name() != CONTENTS {
            std::fs::copy(file.path(), folder.path().join(file.file_name())).expect("copied");
        }
    }
    folder
}

/// Those of every listing, deleted ones too, one listing after the other.
async fn steps(engine: &EmbeddedEngine) -> Vec<Arc<Step>> {
    let log = engine.log().expect("the embedded engine has a log");
    let (mut steps, mut cursor) = (Vec::new(), Cursor::default());
    loop {
        let page = log.after(cursor, 1_000).await.expect("the log is read");
        if page.steps.is_empty() {
            break;
        }
        cursor = page.next;
        steps.extend(page.steps);
    }
    steps.sort_by_key(|step| {
        let ListingId { tenant, kind, number } = step.listing;
        (tenant, kind, number, step.first)
    });
    steps
}

/// A line for every step: its listing, the number of its first fact, its facts.
fn contents(steps: &[Arc<Step>]) -> String {
    let line = |step: &Arc<Step>| {
        let facts: Vec<_> = step.facts.iter().map(Fact::kind).collect();
        let key = if step.key.is_some() { " under a key" } else { "" };
        format!("{} {} {}{key}\n", step.listing, step.first, facts.join(" "))
    };
    steps.iter().map(line).collect()
}

#[tokio::test]
async fn journals_of_the_first_format_open_and_have_every_kind_of_fact() {
    let mut kinds = BTreeSet::new();
    for fixture in folders() {
        let folder = copied(&fixture);
        let engine = open(folder.path(), &Arc::new(ManualClock::at(START)));
        assert_eq!(engine.report.snapshot, None, "the journal alone tells everything");
        let steps = steps(&engine).await;
        let expected = std::fs::read_to_string(fixture.join(CONTENTS)).unwrap_or_default();
        assert_eq!(contents(&steps), expected, "{} tells another story", fixture.display());
        kinds.extend(steps.iter().flat_map(|step| step.facts.iter().map(Fact::kind)));
        let keyed = steps.iter().find_map(|step| Some((step.listing, step.key?)));
        if let Some((listing, key)) = keyed {
            assert!(is_replayed(&engine, listing, key).await, "keys come back with their facts");
        }
    }
    let missing: Vec<_> = Fact::kinds().filter(|kind| !kinds.contains(kind)).collect();
    if std::env::var_os("ONSALE_WRITE_FIXTURE").is_some() {
        write(missing.into_iter().collect()).await;
        panic!("a fixture was written; run the test again without ONSALE_WRITE_FIXTURE");
    }
    assert!(missing.is_empty(), "in no fixture: {missing:?}; ONSALE_WRITE_FIXTURE=1 writes the next one");
}

/// Whoever asks under a key that is known gets its answer again, whatever is asked.
async fn is_replayed(engine: &EmbeddedEngine, listing: ListingId, key: Key) -> bool {
    let request = Request { listing, command: Command::ExpireDue { limit: 1 }, key: Some(key), by: None };
    engine.submit(request).await.expect("answers").replayed
}

/// Plays every table that brings a kind of fact which is still missing, each on listings of its own in one journal.
async fn write(mut missing: BTreeSet<&'static str>) {
    let folder = fixtures().join((folders().len() + 1).to_string());
    std::fs::create_dir_all(&folder).expect("a folder");
    let clock = Arc::new(ManualClock::at(START));
    let engine = Arc::new(open(&folder, &clock));
    for (number, (table, play)) in suite::tables().into_iter().enumerate() {
        let mut direct = Direct::default();
        let mut own = Renumbered { engine: engine.clone(), clock: clock.clone(), table: number as u64 };
        // The tables have runtimes of their own.
        let brings = tokio::task::spawn_blocking({
            let missing = missing.clone();
            move || {
                play(table.text, &mut direct, false).expect("the contract is kept");
                let kinds: BTreeSet<_> = direct.facts().iter().map(Fact::kind).collect();
                if kinds.is_disjoint(&missing) {
                    return BTreeSet::new();
                }
                // Another number makes other ids of what follows from a listing's; the facts are of the same kinds.
                let _ = play(table.text, &mut own, false);
                kinds
            }
        });
        let brings = brings.await.expect("no panic");
        missing.retain(|kind| !brings.contains(kind));
    }
    assert!(missing.is_empty(), "no table of the contract brings {missing:?}");
    let told = contents(&steps(&engine).await);
    engine.close();
    drop(engine);
    for file in std::fs::read_dir(&folder).expect("the folder").flatten() {
        if !file.file_name().to_string_lossy().ends_with(".log") {
            std::fs::remove_file(file.path()).expect("only the journal stays");
        }
    }
    std::fs::write(folder.join(CONTENTS), told).expect("the contents can be written");
}
