//! The promise of the journal, tried at every place where the power can fail.

use std::{convert::Infallible, sync::Arc};

use super::{FramePosition, JournalError, Options, Preparation, Report, Writer, recovery};
use crate::disk::{Fault, MemoryDisk};

pub(super) const GENERATION: u128 = 0x0123_4567_89ab_cdef_0f1e_2d3c_4b5a_6978;
pub(super) const SMALL: Options = Options { segment_bytes: 4096, preparation: Preparation::OnRequest };

pub(super) type Frames = Vec<(FramePosition, Vec<u8>)>;

/// Opens the journal and returns every frame in it.
pub(super) fn open(disk: &MemoryDisk, options: Options) -> Result<(Writer, Report, Frames), JournalError> {
    open_from(disk, options, None)
}

pub(super) fn open_from(
    disk: &MemoryDisk,
    options: Options,
    from: Option<FramePosition>,
) -> Result<(Writer, Report, Frames), JournalError> {
    let mut frames = Vec::new();
    let mut keep = |position, payload: &[u8]| {
        frames.push((position, payload.to_vec()));
        Ok::<(), Infallible>(())
    };
    match recovery::open(Arc::new(disk.clone()), options, GENERATION, &mut keep, from) {
        Ok((writer, report)) => Ok((writer, report, frames)),
        Err(recovery::OpenError::Journal(error)) => Err(error),
        Err(recovery::OpenError::Frame(never)) => match never {},
    }
}

/// A payload that no other frame has.
pub(super) fn payload(sequence: u64, bytes: usize) -> Vec<u8> {
    let mut random = Random(sequence ^ 0x5eed);
    (0..bytes).map(|_| random.next() as u8 | 1).collect()
}

pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mixed = (self.0 >> 32 ^ self.0).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ mixed >> 29
    }

    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

/// The seed of a random test: from `ONSALE_SEED`, else always the same.
pub(super) fn base_seed() -> u64 {
    let seed = std::env::var("ONSALE_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    eprintln!("ONSALE_SEED={seed}");
    seed
}

/// What the journal was told and what it promised.
#[derive(Clone, Default)]
struct Model {
    /// Every payload for which an append was tried, in order.
    tried: Vec<Vec<u8>>,
    synced: usize,
}

impl Model {
    /// Appends, syncs and prepares at random until done or until the disk fails.
    fn work(&mut self, writer: &mut Writer, random: &mut Random, steps: usize) -> Result<(), JournalError> {
        for _ in 0..steps {
            match random.below(8) {
                0..=3 => self.append(writer, random)?,
                4..=6 => {
                    writer.sync()?;
                    self.synced = self.tried.len();
                }
                _ => writer.prepare(),
            }
        }
        Ok(())
    }

    fn append(&mut self, writer: &mut Writer, random: &mut Random) -> Result<(), JournalError> {
        let bytes = match random.below(12) {
            0 => 3000 + random.below(4000),
            1..=3 => 1 + random.below(1500),
            // Equal lengths make what was in flight line up with what is written after a cut.
            _ => 100,
        };
        // Unlike what an earlier life may have tried under the same number.
        let payload = payload(random.next(), bytes as usize);
        self.tried.push(payload.clone());
        let position = writer.append(&payload)?;
        assert_eq!(position.sequence, self.tried.len() as u64);
        Ok(())
    }

    /// Recovers, checks the promise, and takes what was recovered as the new truth.
    fn recover(&mut self, disk: &MemoryDisk, why: &str) -> Result<Writer, JournalError> {
        let (writer, report, frames) = open(disk, SMALL)?;
        assert!(frames.len() >= self.synced, "{why}: lost {} of {}", self.synced - frames.len(), self.synced);
        assert!(frames.len() <= self.tried.len(), "{why}: invented frames");
        for (index, (position, payload)) in frames.iter().enumerate() {
            assert_eq!(position.sequence, index as u64 + 1, "{why}");
            assert!(*payload == self.tried[index], "{why}: frame {} changed", position.sequence);
        }
        assert_eq!(report.last_sequence, frames.len() as u64, "{why}");
        let (reader, mut cursor) = (writer.reader(), FramePosition::FIRST);
        while let Some(frame) = reader.read_frame(cursor, report.last_sequence)? {
            assert!(
                (frame.position, frame.payload) == frames[cursor.sequence as usize - 1],
                "{why}: read {cursor:?}"
            );
            cursor = frame.next;
        }
        assert_eq!(cursor.sequence, report.last_sequence + 1, "{why}");
        assert_eq!(writer.synced(), report.last_sequence, "{why}");
        self.tried.truncate(frames.len());
        self.synced = frames.len();
        Ok(writer)
    }
}

/// One life after another on the same disk. The first ends by `first` after `operations`, later ones by
/// any fault, often within the recovery; between two lives the machine crashes or only the process does.
fn lives(script: u64, first: Fault, operations: u64, seed: u64) {
    let why = format!("script {script}, {first:?} after {operations}, seed {seed}");
    let disk = MemoryDisk::new(seed);
    let mut model = Model::default();
    let mut random = Random(script);
    let mut chance = Random(seed ^ operations << 32);
    disk.fail_after(operations, first);
    for life in 0..7 {
        let outcome =
            model.recover(&disk, &why).and_then(|mut writer| model.work(&mut writer, &mut random, 24));
        if let Err(JournalError::Damaged(damage)) = outcome {
            panic!("{why}, life {life}: {damage}");
        }
        if disk.is_down() || chance.below(3) > 0 {
            disk.crash(chance.next());
        }
        disk.clear_faults();
        let fault =
            [Fault::Crash, Fault::Crash, Fault::SyncFails, Fault::WriteFails][chance.below(4) as usize];
        disk.fail_after(chance.below(if life % 2 == 0 { 8 } else { 50 }), fault);
    }
    disk.clear_faults();
    if disk.is_down() {
        disk.crash(seed);
    }
    let mut writer = model.recover(&disk, &why).expect("a sound journal opens");
    model.work(&mut writer, &mut random, 24).expect("no fault is left");
    disk.crash(seed);
    model.recover(&disk, &why).expect("a sound journal opens");
}

#[test]
fn whatever_was_synced_survives_a_fault_at_every_operation() {
    let base = base_seed();
    for script in base..base + 4 {
        for operations in 0..70 {
            for seed in 0..10 {
                lives(script, Fault::Crash, operations, seed);
                lives(script, Fault::SyncFails, operations / 2, seed);
                lives(script, Fault::WriteFails, operations / 2, seed);
            }
        }
    }
}
