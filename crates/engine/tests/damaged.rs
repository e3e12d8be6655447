//! Whatever the bytes of a journal or a snapshot have become, reading them ends in an answer or an error. Checksums stop most damage
//! far in front of what decodes; here every decoder is asked by itself, too, as if they had not. Alone in its program: memory is counted.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use onsale_domain::chart::ChartImage;
use onsale_domain::layout::{Layout, Row, Seat, Section};
use onsale_domain::listing::Key;
use onsale_domain::venue::VenueFact;
use onsale_domain::venue::fact::LayoutPublished;
use onsale_domain::{By, Fact, ListingId, ListingKind, Tenant};
use onsale_engine::disk::{Disk, FolderDisk, MemoryDisk};
use onsale_engine::embedded::clock::ManualClock;
use onsale_engine::embedded::entry::{self, Entry, StepHead};
use onsale_engine::embedded::{EmbeddedEngine, Options, recover};
use onsale_engine::journal::{FramePosition, Preparation, recovery, segment};
use onsale_engine::{journal, packed, snapshot};
use onsale_tables::damage::{Decoder, try_all};
use onsale_tables::facts;

const EVENT: ListingId = ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Event, number: 7 };

#[test]
fn whatever_the_bytes_are_reading_them_ends_in_an_answer_or_an_error() {
    let kept = kept();
    try_all(&[
        Decoder { name: "a fact", samples: all_facts().iter().map(cbor).collect(), read: is_fact },
        Decoder { name: "entries of a frame", samples: entries(), read: are_entries },
        Decoder { name: "a packed layout", samples: vec![packed::pack(cbor(&hall()))], read: is_layout },
        Decoder { name: "a segment of a journal", samples: vec![kept.segment.clone()], read: is_segment },
        Decoder { name: "a snapshot", samples: vec![kept.snapshot.clone()], read: is_snapshot },
        Decoder { name: "a part of a snapshot", samples: kept.parts.clone(), read: is_part },
    ]);
}

fn cbor<T: minicbor::Encode<()>>(value: &T) -> Vec<u8> {
    minicbor::to_vec(value).expect("memory takes it")
}

fn hall() -> Layout {
    let seat = |n: i32| Seat { id: format!("A-{n}"), label: n.to_string(), x: n, ..Seat::default() };
    let row = Row { label: "A".into(), seats: (1..=200).map(seat).collect() };
    Layout { sections: vec![Section { name: "Stalls".into(), rows: vec![row] }], areas: Vec::new() }
}

/// One of every kind, and one that is packed.
fn all_facts() -> Vec<Fact> {
    let mut all = facts::all();
    let published = LayoutPublished { version: 1, layout: hall().into() };
    all.push(Fact::Venue(VenueFact::LayoutPublished(Box::new(published))));
    all
}

fn is_fact(bytes: &[u8]) -> bool {
    minicbor::decode::<Fact>(bytes).is_ok()
}

fn entries() -> Vec<Vec<u8>> {
    let key = Some(Key { scope: u128::MAX - 5, fingerprint: 9 });
    let written = |fact: Fact| {
        let (number, epoch, first, at) = (3, 1, 7, 1_763_000_000_000);
        let head = StepHead { number, epoch, first, at, key, sealed: true, by: Some(&By::Clock) };
        let mut payload = Vec::new();
        entry::write_opened(&mut payload, 3, &EVENT);
        entry::write_step(&mut payload, head, &[fact.clone(), fact]);
        payload
    };
    all_facts().into_iter().map(written).collect()
}

fn are_entries(bytes: &[u8]) -> bool {
    entry::read(bytes).all(|entry| match entry {
        Ok(Entry::Opened { .. }) => true,
        // One that says to have millions of facts is asked for as many, and answers with an error each time.
        Ok(Entry::Step(step)) => step.by().is_ok() && step.decode(EVENT).is_ok(),
        Err(_) => false,
    })
}

fn is_layout(bytes: &[u8]) -> bool {
    let plain = packed::unpack(bytes);
    plain.is_ok_and(|plain| {
        let chart = minicbor::decode::<ChartImage>(&plain).is_ok();
        minicbor::decode::<Layout>(&plain).is_ok() || chart
    })
}

/// What an engine has written, as it stands on the disk.
struct Kept {
    generation: u128,
    segment: Vec<u8>,
    name: String,
    snapshot: Vec<u8>,
    parts: Vec<Vec<u8>>,
}

/// Of journals with every kind of fact: the first segment, and the snapshot that a stop leaves.
fn kept() -> &'static Kept {
    static KEPT: OnceLock<Kept> = OnceLock::new();
    KEPT.get_or_init(|| {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/journal-v1");
        let mut kept: Option<Kept> = None;
        for from in (1..).map(|number| fixtures.join(number.to_string())).take_while(|it| it.exists()) {
            let next = stopped(&from);
            kept = Some(match kept {
                Some(first) => Kept { parts: [first.parts, next.parts].concat(), ..first },
                None => next,
            });
        }
        kept.expect("there are fixtures")
    })
}

fn stopped(from: &Path) -> Kept {
    let folder = tempfile::tempdir().expect("a folder");
    for file in std::fs::read_dir(from).expect("a fixture").flatten() {
        if file.path().extension().is_some_and(|kind| kind == "log") {
            std::fs::copy(file.path(), folder.path().join(file.file_name())).expect("copied");
        }
    }
    let segment = std::fs::read(folder.path().join(segment::name(1))).expect("the first segment");
    let journal = journal::Options { segment_bytes: 16 << 10, preparation: Preparation::OnRequest };
    let clock = Arc::new(ManualClock::at(1_700_000_000_000));
    let options = Options { shards: 1, sweeps: false, journal, clock, ..Options::default() };
    let engine = EmbeddedEngine::open(folder.path(), options).expect("an old journal opens");
    engine.close();
    drop(engine);
    let disk = FolderDisk::open(folder.path()).expect("nobody else has it");
    let generation = recovery::generation(&disk).expect("reads").expect("a journal");
    let latest = snapshot::latest(&disk, generation).expect("reads").snapshot.expect("a stop leaves one");
    let parts: Vec<Vec<u8>> = latest.parts().map(|part| part.expect("whole")).collect();
    let name = latest.name().to_owned();
    let snapshot = std::fs::read(folder.path().join(PathBuf::from(&name))).expect("the snapshot");
    Kept { generation, segment, name, snapshot, parts }
}

fn disk_with(name: &str, bytes: &[u8]) -> Arc<MemoryDisk> {
    let disk = MemoryDisk::new(1);
    disk.create(name).and_then(|file| file.write_at(bytes, 0)).expect("memory takes it");
    Arc::new(disk)
}

fn is_segment(bytes: &[u8]) -> bool {
    let disk = disk_with(&segment::name(1), bytes);
    let seen = recovery::inspect(&*disk, &mut |_, payload| _ = are_entries(payload));
    seen.is_ok_and(|seen| seen.damage.is_none() && seen.torn.is_none() && seen.report.frames > 0)
}

fn is_snapshot(bytes: &[u8]) -> bool {
    let disk = disk_with(&kept().name, bytes);
    let latest = snapshot::latest(&*disk, kept().generation);
    let Ok(Some(snapshot)) = latest.map(|latest| latest.snapshot) else { return false };
    recover::content(&snapshot).is_ok()
}

/// A part with a checksum that is right.
fn is_part(bytes: &[u8]) -> bool {
    let disk = Arc::new(MemoryDisk::new(1));
    let part = std::iter::once(Ok(bytes.to_vec()));
    snapshot::write(disk.clone(), 1, FramePosition::FIRST, part).expect("memory takes it");
    let latest = snapshot::latest(&*disk, 1).expect("reads").snapshot.expect("it was just written");
    recover::content(&latest).is_ok()
}
